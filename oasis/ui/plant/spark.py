"""A row of numbers as a line of small bars."""

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-~=*#"
"""For terminals that cannot show the others."""


def sparkline(values: Sequence[float | None], width: int, bars: str = BARS) -> str:
    """The last `width` values between their lowest and highest; a gap for what is no number."""
    shown = [v if v is not None and math.isfinite(v) else None for v in values[-width:]]
    known = [v for v in shown if v is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)

    def bar(number: float) -> str:
        place = (number - low) / span if span else 0.5
        return bars[min(len(bars) - 1, int(place * len(bars)))]

    return "".join(" " if v is None else bar(v) for v in shown)


def bars_for(encoding: str | None) -> str:
    """The bars that an output of this encoding can show."""
    try:
        BARS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BARS
