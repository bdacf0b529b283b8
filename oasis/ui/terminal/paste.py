"""Long pasted blocks stand in the input as `[pasted 42 lines #1]` and are whole again when it is sent."""

import re

from oasis.ui.clean import clean

MIN_LINES = 6
MIN_CHARS = 1_000
_MARK = re.compile(r"\[pasted [\d,]+ lines? #(\d+)\]")


class Pasted:
    """The blocks pasted in this process."""

    def __init__(self) -> None:
        self._blocks: list[str] = []

    def take(self, data: str) -> str:
        """What to put into the input for a paste: the text itself, or a mark for it."""
        text = clean(data.replace("\r\n", "\n").replace("\r", "\n"))
        count = text.count("\n") + 1
        if count < MIN_LINES and len(text) < MIN_CHARS:
            return text
        self._blocks.append(text)
        return f"[pasted {count:,} line{'s' * (count != 1)} #{len(self._blocks)}]"

    def expanded(self, text: str) -> str:
        """The input with every mark replaced by its block."""

        def block(match: re.Match[str]) -> str:
            number = int(match[1])
            return self._blocks[number - 1] if 0 < number <= len(self._blocks) else match[0]

        return _MARK.sub(block, text)
