"""Writing to the terminal."""

import io
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("a terminal of POSIX", allow_module_level=True)

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from oasis.ui.terminal.output import MAX_REDRAW_S, MIN_REDRAW_S, HeldOutput, redraw_interval_s


@pytest.mark.parametrize(("takes_s", "interval_s"), [(0.001, MIN_REDRAW_S), (0.2, 0.6), (9.0, MAX_REDRAW_S)])
def test_a_slow_line_is_drawn_on_less_often(monkeypatch: pytest.MonkeyPatch, takes_s: float, interval_s: float):
    now = [0.0]

    def flush(output: Vt100_Output) -> None:
        now[0] += takes_s

    monkeypatch.setattr(Vt100_Output, "flush", flush)
    monkeypatch.setattr(HeldOutput, "clock", lambda _: now[0])
    output = HeldOutput(io.StringIO(), lambda: Size(24, 80))
    output.flush()
    assert redraw_interval_s(output) == pytest.approx(interval_s)


def test_the_first_line_is_erased_on_its_own():
    """tmux would keep a copy in its history of what is erased from the first cell of the screen on."""
    written = io.StringIO()
    output = HeldOutput(written, lambda: Size(24, 80))
    output.erase_down()
    output.flush()
    assert written.getvalue() == "\x1b[K\x1b7\r\x1b[B\x1b[J\x1b8"
