"""Markdown as it comes: finished blocks to be printed for good, the unfinished rest to be shown below."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

MAX_OPEN_CHARS = 6_000
MAX_OPEN_LINES = 24
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Block:
    """Markdown of a finished block. `goes_on`: it is the next piece of the block before it."""

    source: str
    goes_on: bool = False


class Blocks:
    """Cuts markdown into finished blocks as it arrives. Only the last block of a text can still change."""

    def __init__(self) -> None:
        self.tail = ""
        self._opening = ""

    @property
    def is_cut(self) -> bool:
        """Is a part of the block that is being written finished already, and the rest to come?"""
        return bool(self._opening)

    def feed(self, text: str) -> list[Block]:
        """Take in more; the blocks that are finished now."""
        self.tail += text
        found: list[Block] = []
        if self._opening:
            found += self._rest_of_code()
        if not self._opening:
            found += self._finished()
        return found + self._overlong()

    def close(self) -> list[Block]:
        """The rest, whatever it is."""
        found = [Block(self._opened(self.tail), bool(self._opening))] if self.tail.strip() else []
        self.tail = self._opening = ""
        return found

    def shown_tail(self) -> str:
        """The unfinished rest as markdown of its own."""
        return self._opened(self.tail)

    def _opened(self, text: str) -> str:
        return f"{self._opening}\n{text}" if self._opening else text

    def _finished(self) -> list[Block]:
        lines = self.tail.splitlines(keepends=True)
        starts = [token.map[0] for token in Markdown(self.tail).parsed if _is_block(token) and token.map]
        if len(starts) < 2:
            return []
        borders = [0, *starts[1:]]
        found = [Block("".join(lines[a:b])) for a, b in pairwise(borders)]
        self.tail = "".join(lines[borders[-1] :])
        return [block for block in found if block.source.strip()]

    def _rest_of_code(self) -> list[Block]:
        """Inside a code block of which a part is printed: its end, where that has come."""
        fence = self._opening[: len(self._opening) - len(self._opening.lstrip(self._opening[0]))]
        lines = self.tail.splitlines(keepends=True)
        for number, line in enumerate(lines):
            bare = line.strip()
            if line.endswith("\n") and bare.startswith(fence) and not bare.strip(fence[0]):
                block = Block(self._opened("".join(lines[:number])) + fence, goes_on=True)
                self.tail, self._opening = "".join(lines[number + 1 :]), ""
                return [block] if number else []
        return []

    def _overlong(self) -> list[Block]:
        """A block that has grown long is printed as far as whole lines go."""
        lines = self.tail.splitlines(keepends=True)
        whole = len(lines) if self.tail.endswith("\n") else len(lines) - 1
        is_code = bool(self._opening) or self.tail.lstrip().startswith(_FENCES)
        if is_code and whole > MAX_OPEN_LINES:
            return self._piece_of_code(lines, whole)
        if not is_code and len(self.tail) > MAX_OPEN_CHARS:
            cut = self.tail.rfind("\n") + 1 or self.tail.rfind(" ") + 1 or len(self.tail)
            source, self.tail = self.tail[:cut], self.tail[cut:]
            return [Block(source)]
        return []

    def _piece_of_code(self, lines: list[str], whole: int) -> list[Block]:
        if self._opening:
            source = self._opened("".join(lines[:whole]))
            goes_on = True
        else:
            source, goes_on = "".join(lines[:whole]), False
            self._opening = lines[0].strip()
        self.tail = "".join(lines[whole:])
        return [Block(source, goes_on)]


def _is_block(token: object) -> bool:
    return getattr(token, "level", 1) == 0 and getattr(token, "nesting", -1) >= 0


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


class Page(Markdown):
    """Rich's markdown with Oasis' headings and code."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source, hyperlinks=False)
