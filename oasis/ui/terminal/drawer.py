"""What was shown in one line and can be opened: whole tool outputs, reasoning, pasted blocks."""

from collections import OrderedDict
from dataclasses import dataclass

MAX_CHARS = 8 << 20
MAX_CHARS_EACH = 1 << 20


@dataclass(frozen=True, slots=True)
class Folded:
    """Something that was shown in brief."""

    title: str
    text: str


class Drawer:
    """Keeps the newest, at most 8 MiB of characters in all, each under the number it was shown with."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Folded] = OrderedDict()
        self._chars = 0
        self.last = 0

    def put(self, title: str, text: str) -> int:
        """Keep it; its number."""
        self.last += 1
        text = text if len(text) <= MAX_CHARS_EACH else text[:MAX_CHARS_EACH] + "\n[cut here]"
        self._kept[self.last] = Folded(title, text)
        self._chars += len(text)
        while self._chars > MAX_CHARS:
            _, oldest = self._kept.popitem(last=False)
            self._chars -= len(oldest.text)
        return self.last

    def get(self, number: int) -> Folded | None:
        return self._kept.get(number)

    def numbers(self) -> list[tuple[int, str]]:
        """Numbers and titles, newest first."""
        return [(number, folded.title) for number, folded in reversed(self._kept.items())]
