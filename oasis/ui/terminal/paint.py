"""From what rich can draw to text with colour codes, for the width and the colours of this terminal."""

import io
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from oasis.ui.clean import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

MAX_WIDTH = 120
_TAB = 4
_BLANK_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STYLES = {"markdown.code": "cyan", "markdown.hr": "dim", "markdown.block_quote": "dim"}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Signs, in a form that the terminal's encoding has."""

    prompt: str = "›"
    ok: str = "✓"
    bad: str = "✗"
    run: str = "●"
    thought: str = "∴"
    dot: str = "·"
    full: str = "█"
    empty: str = "░"
    more: str = "…"
    queued: str = "↳"
    warn: str = "!"


ASCII = Glyphs(">", "+", "x", "*", "~", "-", "#", ".", "...", "+", "!")


def glyphs(encoding: str | None = None) -> Glyphs:
    """Those that `encoding` (this terminal's) can write."""
    name = (encoding or sys.stdout.encoding or "ascii").lower().replace("-", "")
    return Glyphs() if name.startswith("utf") else ASCII


def has_colour() -> bool:
    """NO_COLOR (https://no-color.org) set to anything, or a terminal that has none."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("dumb", "vt100", "vt220")


class Brush:
    """Draws renderables as text. `width`: the columns of the terminal now."""

    def __init__(self, width: Callable[[], int], *, colour: bool | None = None, signs: Glyphs | None = None) -> None:
        self._width = width
        self._colour = has_colour() if colour is None else colour
        self.signs = signs or glyphs()

    @property
    def width(self) -> int:
        return max(20, min(self._width() - 1, MAX_WIDTH))

    def console(self, file: io.StringIO | None = None) -> "Console":
        from rich.console import Console  # noqa: PLC0415
        from rich.theme import Theme  # noqa: PLC0415

        return Console(
            file=file or io.StringIO(),
            width=self.width,
            force_terminal=True,
            color_system="standard",
            no_color=not self._colour,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            theme=Theme(_STYLES),
        )

    def draw(self, *renderables: "RenderableType") -> str:
        """The renderables one below the other, without blanks at the ends of lines and empty lines around."""
        out = io.StringIO()
        console = self.console(out)
        for renderable in renderables:
            console.print(renderable)
        lines = [_BLANK_END.sub(_colours_of, line) for line in out.getvalue().split("\n")]
        full = [n for n, line in enumerate(lines) if bare(line).strip()]
        return "\n".join(lines[full[0] : full[-1] + 1]) + "\n" if full else ""


def _colours_of(blanks: re.Match[str]) -> str:
    return "".join(_COLOUR.findall(blanks[0]))


def bare(text: str) -> str:
    """Drawn text without its colours."""
    return _COLOUR.sub("", text)


def words(text: str, style: str = "") -> "Text":
    """Text from outside: without control characters, tabs as blanks."""
    from rich.text import Text  # noqa: PLC0415

    return Text(clean(text).expandtabs(_TAB), style=style)


def one_line(text: str, width: int) -> str:
    """The text on one line of at most `width` columns."""
    return _cut(" ".join(clean(text).split()), width)


def fitted(line: str, width: int) -> str:
    """The line cut to `width` columns, the blanks in it as they are."""
    return _cut(clean(line).rstrip(), width)


def wrapped(text: str, width: int, most: int) -> list[str]:
    """The text on at most `most` lines of at most `width` columns, broken between words where it can be."""
    rest, rows = clean(text).replace("\n", " ").rstrip(), list[str]()
    while cell_len(rest) > width and len(rows) < most - 1:
        row = set_cell_size(rest, width).rstrip()
        blank = row.rfind(" ")
        row = row[:blank] if blank > width // 2 and not rest[len(row) :].startswith(" ") else row
        rows.append(row)
        rest = rest[len(row) :].lstrip()
    return [*rows, _cut(rest, width)]


def _cut(text: str, width: int) -> str:
    width = max(1, width)
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
