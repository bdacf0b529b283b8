"""Line ends: a text as the model sees it, with LF only, and the way back to the text as it is."""

import bisect
import re
from collections import Counter
from dataclasses import dataclass

_END = re.compile(r"\r\n|\r|\n")
_CRLF = re.compile(r"\r\n")


def to_lf(text: str) -> str:
    """`text` with every CRLF and lone CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def style(text: str, default: str = "\n") -> str:
    """The line end that `text` uses most, `default` when it has none."""
    counts = Counter(_END.findall(text))
    return counts.most_common(1)[0][0] if counts else default


def style_name(text: str) -> str:
    """LF, CRLF, CR or mixed, for a person; empty when the text is one line."""
    kinds = set(_END.findall(text))
    names = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
    return "mixed line ends" if len(kinds) > 1 else names[kinds.pop()] if kinds else ""


@dataclass(frozen=True, slots=True)
class Lines:
    """`lf` is `raw` with LF only; `raw_at` leads from a position in `lf` to the one in `raw`."""

    raw: str
    lf: str
    crlf: list[int]

    @classmethod
    def of(cls, raw: str) -> "Lines":
        crlf = [m.start() - n for n, m in enumerate(_CRLF.finditer(raw))] if "\r" in raw else []
        return cls(raw, to_lf(raw), crlf)

    def raw_at(self, position: int) -> int:
        return position + bisect.bisect_left(self.crlf, position)

    def number(self, position: int) -> int:
        """The line, from 1, that a position in `lf` is on."""
        return self.lf.count("\n", 0, position) + 1
