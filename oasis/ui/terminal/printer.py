"""Finished lines on their way to the scrollback: what stands apart from what, and what waits for the end of a block."""

from collections.abc import Callable

from rich.console import RenderableType

from oasis.ui.terminal.paint import Brush, words


class Printer:
    """Prints for good. `write` takes whole lines. While it `holds`, a block is half printed, and the rest waits."""

    def __init__(self, brush: Brush, write: Callable[[str], None]) -> None:
        self.brush = brush
        self.holds = False
        self._write = write
        self._waiting: list[tuple[str, bool]] = []
        self._has_printed = False

    @property
    def gap(self) -> str:
        """What stands between the last line that was printed and something that stands apart from it."""
        return "\n" if self._has_printed else ""

    def say(self, *renderables: RenderableType, gap: bool = True, blank_lines: int = 0) -> None:
        """Print something; with `gap` after an empty line where something is printed above it."""
        drawn = self.brush.draw(*renderables)
        drawn = "\n" * blank_lines + drawn if drawn else ""
        if drawn and self.holds:
            self._waiting.append((drawn, gap))
        elif drawn:
            self._print(drawn, gap=gap)

    def note(self, text: str, style: str = "dim") -> None:
        """Print a line that is about the conversation and no part of it."""
        self.say(words(text, style), gap=False)

    def block(self, renderable: RenderableType, *, blank_lines: int) -> None:
        """Print a piece of the block that is being written, so many empty lines below the piece before it."""
        if drawn := self.brush.draw(renderable):
            self._print("\n" * blank_lines + drawn, gap=False)

    def let_go(self) -> None:
        """The block is printed to its end: print what waited for that."""
        self.holds = False
        waiting, self._waiting = self._waiting, []
        for drawn, gap in waiting:
            self._print(drawn, gap=gap)

    def _print(self, drawn: str, *, gap: bool) -> None:
        self._write((self.gap if gap else "") + drawn)
        self._has_printed = True
