"""The figures of a step in one line, and the bar while a prompt is computed. Pure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis.ui.terminal.paint import Glyphs

if TYPE_CHECKING:
    from oasis.core.events import Prefill, StepFinished, TurnFinished

BAR_CELLS = 24


@dataclass(frozen=True, slots=True)
class Pace:
    """A prefill's progress and when it was heard of first: seconds, and tokens done by then.

    `ms_per_token` is what an earlier prefill took, 0 where none is known.
    """

    began_s: float
    began_tokens: int
    now: "Prefill"
    ms_per_token: float = 0.0

    @property
    def is_done(self) -> bool:
        return self.now.done_tokens >= self.now.total_tokens

    def seconds_left(self, now_s: float) -> float | None:
        """At the rate measured so far, else at that of an earlier prefill; None while there is none."""
        done, spent = self.now.done_tokens - self.began_tokens, now_s - self.began_s
        left = self.now.total_tokens - self.now.done_tokens
        if done > 0 and spent > 0:
            return left * spent / done
        return max(0.0, left * self.ms_per_token / 1000 - spent) if self.ms_per_token else None


def prefill_bar(pace: Pace, now_s: float, signs: Glyphs) -> str:
    """`prefill ████░░░░ 1,204 done · 3,100 to do · 12 s left · 8,400 reused`.

    While no rate is known: how long it has taken so far.
    """
    at = pace.now
    new, done = max(1, at.total_tokens - at.cached_tokens), at.done_tokens - at.cached_tokens
    filled = min(BAR_CELLS, BAR_CELLS * done // new)
    left = pace.seconds_left(now_s)
    parts = [f"{done:,} done", f"{max(0, new - done):,} to do"]
    parts.append(f"{left:,.0f} s left" if left is not None else f"{duration(max(1.0, now_s - pace.began_s))} so far")
    parts += [f"{at.cached_tokens:,} reused"]
    return f"prefill {signs.full * filled}{signs.empty * (BAR_CELLS - filled)} " + f" {signs.dot} ".join(parts)


def step_line(event: "StepFinished", signs: Glyphs) -> str:
    """`reuse 99.8 % · 142 new · 310 ms · 85 written, 34/s`; what the server does not tell is left out."""
    usage = event.usage
    parts: list[str] = []
    if usage.is_cache_known and usage.prompt_tokens:
        parts.append(f"reuse {_percent(usage.cached_tokens, usage.prompt_tokens)}")
    if event.new_tokens is not None:
        parts.append(f"{event.new_tokens:,} new")
    elif usage.is_cache_known and usage.prompt_tokens:
        parts.append(f"{usage.computed_tokens:,} computed")
    if usage.prefill_ms:
        parts.append(f"{usage.prefill_ms:,.0f} ms")
    if usage.decoded_tokens:
        rate = usage.decoded_tokens / usage.decode_ms * 1000 if usage.decode_ms else 0.0
        parts.append(f"{usage.decoded_tokens:,} written" + (f", {rate:,.0f}/s" if rate else ""))
    return f" {signs.dot} ".join(parts)


def turn_line(event: "TurnFinished", seconds: float, signs: Glyphs) -> str:
    """What the turn took."""
    from oasis.core.usage import amplification  # noqa: PLC0415

    usage = event.usage
    parts = [f"turn {event.turn}", duration(seconds)]
    if usage.prompt_tokens and usage.is_cache_known:
        parts.append(f"{usage.computed_tokens:,} of {usage.prompt_tokens:,} tokens computed")
    if event.new_tokens and usage.is_cache_known:
        parts.append(f"amplification {amplification(usage.computed_tokens, event.new_tokens):.2f}")
    return f" {signs.dot} ".join(parts)


def duration(seconds: float) -> str:
    """`850 ms`, `12 s`, `3 min 05 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def _percent(part: int, whole: int) -> str:
    """One decimal; never rounded up to 100."""
    share = 100 * part / whole
    return f"{min(share, 99.9) if part < whole else share:.1f} %"
