"""Values as JSON, and back."""

import json

import pytest

from oasis.plant.packed import packed, unpacked
from oasis.plant.values import Value


@pytest.mark.parametrize("value", [True, 5, -0.5, 2**63, "°C", b"\x00\xff", None, float("inf"), float("-inf")])
def test_every_value_comes_back_as_it_was(value: Value | None):
    assert unpacked(json.loads(json.dumps(packed(value)))) == value


@pytest.mark.parametrize("value", [{"hex": "xyz"}, {"float": "much"}, [1], {}])
def test_what_is_no_value_does_not_come_back(value: object):
    with pytest.raises(ValueError):
        unpacked(value)
