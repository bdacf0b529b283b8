import pytest

from oasis.measure.frozen import freeze
from oasis.resources import shipped

HINT = "if this was meant, run `oasis prefix --update` and say in the commit what it costs"


@pytest.mark.engine
async def test_both_lanes_send_the_frozen_conversation_byte_for_byte():
    folder = shipped("fixtures/conversation")
    frozen = {path.name: path.read_bytes().decode() for path in sorted(folder.iterdir())}
    assert await freeze(shipped("fixtures/templates")) == frozen, HINT
