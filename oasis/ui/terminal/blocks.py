"""Markdown as it comes, cut into blocks: what is finished can be printed for good, the last one can still change."""

import re
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt

MAX_OPEN_CHARS = 6_000
MAX_OPEN_LINES = 24
_FENCES = ("```", "~~~")
_TABLE = re.compile(r"[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n")
_ITEM = re.compile(r"^(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """Markdown of a finished block. `goes_on`: it is the next piece of the block before it, `blank_lines` below it."""

    source: str
    goes_on: bool = False
    blank_lines: int = 0


class Blocks:
    """Cuts a text into finished blocks as it arrives.

    A block that grows long is cut as well: code behind whole lines, a table behind a row (its head is repeated),
    anything else behind an item of a list, a line or a word.
    """

    def __init__(self) -> None:
        self.tail = ""
        self._parser = MarkdownIt().enable(["strikethrough", "table"])
        self._head = ""
        self._fence = ""
        self._goes_on = False

    @property
    def is_cut(self) -> bool:
        """Is a part of the block that is being written finished already, and the rest to come?"""
        return self._goes_on

    @property
    def blank_lines(self) -> int:
        """Empty lines between what is printed of a block of code and the rest of it."""
        return _leading_blank(self.tail.splitlines()) if self._fence else 0

    def feed(self, text: str) -> list[Block]:
        """Take in more; the blocks that are finished now."""
        self.tail += text
        found = self._rest_of_code() if self._fence else []
        if not self._fence:
            found += self._finished()
        return found + self._overlong()

    def close(self) -> list[Block]:
        """The rest, whatever it is."""
        found = [self._block(self.tail)] if self.tail.strip() else []
        self._begin("")
        return found

    def shown_tail(self) -> str:
        """The unfinished rest as markdown of its own."""
        return self._head + self.tail if self.tail.strip() else ""

    def _begin(self, rest: str) -> None:
        """A new block begins with this."""
        self.tail, self._head, self._fence, self._goes_on = rest, "", "", False

    def _block(self, text: str) -> Block:
        lines = text.splitlines(keepends=True)
        blank = _leading_blank(lines) if self._fence else 0
        return Block(self._head + "".join(lines[blank:]), self._goes_on, blank)

    def _finished(self) -> list[Block]:
        """All but the last block. The first one may be the rest of one that is cut."""
        text = self._head + self.tail
        tokens = (token for token in self._parser.parse(text) if token.level == 0 and token.nesting >= 0)
        starts = [token.map[0] for token in tokens if token.map]
        if len(starts) < 2:
            return []
        lines = text.splitlines(keepends=True)
        sources = ["".join(lines[a:b]) for a, b in pairwise([0, *starts[1:]])]
        found = [Block(sources[0], self._goes_on)] if sources[0] != self._head else []
        self._begin("".join(lines[starts[-1] :]))
        return [block for block in [*found, *map(Block, sources[1:])] if block.source.strip()]

    def _rest_of_code(self) -> list[Block]:
        """Inside a block of code of which a part is printed: its end, where that has come."""
        lines = self.tail.splitlines(keepends=True)
        for number, line in enumerate(lines):
            bare = line.strip()
            if line.endswith("\n") and bare.startswith(self._fence) and not bare.strip(self._fence[0]):
                code = "".join(lines[:number])
                found = [self._block(code + self._fence)] if code.strip() else []
                self._begin("".join(lines[number + 1 :]))
                return found
        return []

    def _overlong(self) -> list[Block]:
        """A block that has grown long is printed as far as it goes."""
        lines = self.tail.splitlines(keepends=True)
        whole = len(lines) if self.tail.endswith("\n") else len(lines) - 1
        if self._fence or self.tail.lstrip().startswith(_FENCES):
            return self._piece_of_code(lines, whole) if whole > MAX_OPEN_LINES else []
        if len(self.tail) <= MAX_OPEN_CHARS:
            return []
        table = _TABLE.match(self.tail)
        cut = self.tail.rfind("\n") + 1 if self._head or table else _border(self.tail)
        return self._cut(cut, self._head or (table[0] if table else ""), "") if cut else []

    def _piece_of_code(self, lines: list[str], whole: int) -> list[Block]:
        """Whole lines; empty ones at the end belong to what comes."""
        while whole > 1 and not lines[whole - 1].strip():
            whole -= 1
        opening = self._head or lines[0].strip() + "\n"
        sign = opening[0]
        return self._cut(sum(map(len, lines[:whole])), opening, opening[: len(opening) - len(opening.lstrip(sign))])

    def _cut(self, at: int, head: str, fence: str) -> list[Block]:
        """Print the tail up to `at`; the rest is a piece that begins with `head`."""
        found = [self._block(self.tail[:at])] if self.tail[:at].strip() else []
        self.tail, self._head, self._fence, self._goes_on = self.tail[at:], head, fence, True
        return found


def _border(text: str) -> int:
    """Where a long text is cut: before the last item of a list, else behind a line or a word."""
    items = [match.start() for match in _ITEM.finditer(text) if match.start()]
    return (items[-1] if items else 0) or text.rfind("\n") + 1 or text.rfind(" ") + 1 or len(text)


def _leading_blank(lines: list[str]) -> int:
    return next((number for number, line in enumerate(lines) if line.strip()), 0)
