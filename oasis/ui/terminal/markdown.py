"""Markdown drawn for a terminal: headings at the left, code in the terminal's own colours, tables that lose nothing."""

from collections.abc import Iterator
from typing import ClassVar

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from oasis.ui.terminal.columns import fitted_widths

_EDGES = 2


class _LeftHeading(Heading):
    """A heading at the left, bold; the first two levels underlined."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(self.text.plain, style="bold underline" if self.tag in ("h1", "h2") else "bold")
        yield text


class _PlainCode(CodeBlock):
    """Code in the terminal's own colours, without a background, indented."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        syntax = Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, background_color="default")
        yield Padding(syntax, (0, 0, 0, 2))


class _WholeTable(TableElement):
    """A table in which no cell is cut. Where the longest words do not fit side by side, its rows stand as lists."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        columns = [*zip(names, *rows, strict=False)]
        widest = [max(cell.cell_len for cell in column) for column in columns]
        widths = fitted_widths(widest, [_longest_word(column) for column in columns], options.max_width - _EDGES)
        if widths is None:
            yield from _as_lists(names, rows)
            return
        table = Table(box=box.SIMPLE, pad_edge=False, style="markdown.table.border", collapse_padding=True)
        for name, width in zip(names, widths, strict=True):
            heading = name.copy()
            heading.stylize("markdown.table.header")
            table.add_column(heading, width=width, overflow="fold")
        for row in rows:
            table.add_row(*row)
        yield table


def _longest_word(column: tuple[Text, ...]) -> int:
    """The columns that the longest word of these cells takes."""
    return max((cell_len(word) for cell in column for word in cell.plain.split()), default=1)


def _as_lists(names: list[Text], rows: list[list[Text]]) -> Iterator[Text]:
    """A line for each cell, an empty one between two rows."""
    for number, row in enumerate(rows):
        if number:
            yield Text("")
        for name, cell in zip(names, row, strict=False):
            yield Text.assemble(name, ": ", Text(cell.plain, spans=cell.spans))


class Page(Markdown):
    """Rich's markdown with Oasis' headings and code."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
        "table_open": _WholeTable,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source, hyperlinks=False)
