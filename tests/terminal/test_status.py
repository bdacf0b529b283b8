"""What stands at the bottom and beside the conversation, however narrow the terminal is."""

from types import SimpleNamespace
from typing import Any

import pytest

from oasis.agent.filling import Filling, Part
from oasis.core.items import Notice
from oasis.ui.terminal.commands.cache import drawn
from oasis.ui.terminal.live import Live
from oasis.ui.terminal.paint import Brush, Glyphs
from oasis.ui.terminal.shell import RAN, drop
from oasis.ui.terminal.status import Status, fragments


@pytest.mark.parametrize("width", [39, 79])
@pytest.mark.parametrize("can_write", [False, True])
def test_the_permission_mode_is_seen_at_any_width(width: int, can_write: bool):
    status = Status(
        "a-model-with-a-name-of-forty-characters-",
        "token",
        1_190,
        8_192,
        0.06,
        "accept edits",
        ("modbus",),
        "Boiler house of the north wing",
        can_write,
    )
    line = "".join(text for _, text in fragments(status, width, Glyphs()))
    assert "accept edits" in line
    assert line.startswith("WRITING POSSIBLE: Boil") == can_write
    assert len(line) <= width


def test_the_first_line_of_the_context_keeps_to_the_width():
    parts = (Part("system and tools", 1_700), Part("tool outputs", 25_000))
    brush = Brush(lambda: 80, colour=False, signs=Glyphs())
    bar = drawn(brush, Filling(parts, 128_000, True))[0]
    assert bar.plain.endswith(" free")
    assert bar.cell_len <= brush.width


async def test_drop_leaves_out_outputs_and_no_notice():
    notice, output = Notice("The engineer wrote to the plant: x."), Notice(f"{RAN}\n$ ls\na.st")
    said: list[str] = []
    terminal: Any = SimpleNamespace(
        conversation=SimpleNamespace(attached=[output, notice]), live=Live(attached=["output of ls"]), say=said.append
    )
    await drop(terminal)
    assert terminal.conversation.attached == [notice]
    assert said == ["1 output left out."]
    assert terminal.live.attached == []
