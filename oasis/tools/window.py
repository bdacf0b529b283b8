"""The part of a text that one read shows, taken from blocks as they come."""

from dataclasses import dataclass, field

from oasis.tools.clip import MAX_CHARS

MAX_LINE_CHARS = 2_000


@dataclass(slots=True)
class Window:
    """Lines from `first` on, the first of them from `column` on, at most `max_lines` and 16,000 characters.

    shown        the lines; one that is too long is cut, and its number is in `clipped`
    go_on        the first line after the window, 0 when the window reaches the end
    total_lines  of the whole text, after `close`
    """

    first: int
    column: int
    max_lines: int
    shown: list[str] = field(default_factory=list[str])
    clipped: list[int] = field(default_factory=list[int])
    go_on: int = 0
    total_lines: int = 0
    ends_with_newline: bool = True
    _chars: int = 0
    _at: int = 0
    _is_open: bool = False
    _is_kept: bool = False

    def take(self, block: str) -> None:
        """Go through the next block of a text that has LF only."""
        if self.go_on:
            self.total_lines += block.count("\n")
            self._is_open = not block.endswith("\n") if block else self._is_open
            return
        count = block.count("\n")
        if count and self.total_lines + count < self.first - 1:
            self.total_lines += count
            self._is_open = False
            block = block[block.rfind("\n") + 1 :]
        for n, piece in enumerate(block.split("\n")):
            if n:
                self._end_line()
            if piece:
                self._add(piece)

    def close(self) -> None:
        """The text is at its end."""
        if self._is_open:
            self.ends_with_newline = False
            self.total_lines += 1

    def _begin_line(self) -> None:
        number = self.total_lines + 1
        self._is_open, self._at = True, 0
        self._is_kept = number >= self.first and not self.go_on
        if self._is_kept and (len(self.shown) >= self.max_lines or self._chars >= MAX_CHARS):
            self.go_on, self._is_kept = number, False
        if self._is_kept:
            self.shown.append("")

    def _end_line(self) -> None:
        if not self._is_open:
            self._begin_line()
        self._is_open = False
        self.total_lines += 1
        self._chars += self._is_kept

    def _add(self, piece: str) -> None:
        if not self._is_open:
            self._begin_line()
        skip = self.column - 1 if len(self.shown) == 1 else 0
        wanted = piece[max(0, skip - self._at) :]
        self._at += len(piece)
        if not self._is_kept or not wanted:
            return
        is_alone = self.max_lines == 1 or skip > 0
        room = (MAX_CHARS if is_alone else MAX_LINE_CHARS) - len(self.shown[-1])
        left = MAX_CHARS - self._chars
        if left < min(room, len(wanted)) and len(self.shown) > 1:
            self._leave_line()
            return
        room = min(room, left)
        self.shown[-1] += wanted[:room]
        self._chars += len(wanted[:room])
        if len(wanted) > room and self.total_lines + 1 not in self.clipped:
            self.clipped.append(self.total_lines + 1)

    def _leave_line(self) -> None:
        """The window is full within this line: it is shown whole by the next read."""
        self._chars -= len(self.shown.pop())
        self.go_on, self._is_kept = self.total_lines + 1, False
