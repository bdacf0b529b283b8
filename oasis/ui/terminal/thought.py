"""The last rows of the reasoning that is just coming: a row that is full never changes again."""

from oasis.ui.terminal.paint import Brush, bare, words

ROWS = 3


class Thought:
    """Reasoning as it comes."""

    def __init__(self, began_s: float) -> None:
        self.began_s = began_s
        self._pieces: list[str] = []
        self._open = ""
        self._full: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._open += text

    def tail(self, brush: Brush) -> str:
        """The newest rows, drawn. What filled a row earlier is not broken into rows again."""
        while (end := self._open.rfind("\n")) >= 0:
            self._full += self._rows(self._open[:end], brush)
            self._open = self._open[end + 1 :]
        rows = self._rows(self._open, brush)
        if len(rows) > 1:
            last = bare(rows[-1])
            self._full += rows[:-1]
            self._open = self._open[max(0, self._open.rfind(last.strip())) :]
        self._full = self._full[-ROWS:]
        return "\n".join([*self._full, *rows[-1:]][-ROWS:])

    def _rows(self, text: str, brush: Brush) -> list[str]:
        drawn = brush.draw(words(text, "dim italic")).rstrip("\n")
        return drawn.split("\n") if drawn else []
