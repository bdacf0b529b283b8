"""Scenes as SVG by rich, the same bytes each time, without fonts that a reader would have to fetch."""

import html
import io
import re
from collections.abc import Iterator

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from oasis.ui.terminal.scenes import COLUMNS, drawn_scenes

_FONT_FACE = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
_THEME = TerminalTheme(
    (24, 26, 32),
    (214, 218, 224),
    [
        (58, 62, 72),
        (224, 108, 117),
        (126, 191, 110),
        (222, 178, 92),
        (97, 160, 230),
        (190, 130, 220),
        (86, 182, 194),
        (200, 204, 212),
    ],
    [
        (122, 130, 144),
        (240, 128, 136),
        (150, 214, 132),
        (240, 200, 120),
        (130, 184, 250),
        (212, 156, 240),
        (110, 208, 220),
        (240, 242, 246),
    ],
)


def pictures() -> Iterator[tuple[str, str]]:
    """Name and SVG of each scene."""
    for name, scene in drawn_scenes():
        console = Console(
            file=io.StringIO(),
            record=True,
            width=COLUMNS,
            force_terminal=True,
            color_system="truecolor",
            highlight=False,
        )
        console.print(scene)
        form = _FONT_FACE.sub("", CONSOLE_SVG_FORMAT)
        yield name, console.export_svg(title="oasis", theme=_THEME, code_format=form, unique_id=f"oasis-{name}")


def words_of(svg: str) -> list[str]:
    """The texts that a picture shows, in order: what must not go stale, whatever version of rich drew it."""
    return [html.unescape(text).replace("\xa0", " ").rstrip() for text in _TEXT.findall(svg)]
