"""When a compaction is due: near the context's limit, or when what it saves pays for it. Pure."""

from dataclasses import dataclass, field
from math import ceil, inf

from oasis.core.usage import Usage

DEFAULT_FRACTION = 0.75
LEAST_GAIN = 0.1
"""A compaction must free this share of where it is due, or it would be due again at once."""
_LEAST_SAMPLES = 8
_LEAST_SPREAD = 1.5
_LEAST_COMPUTED = 32
_LEAST_DECODED = 8
_LEAST_SHARE = 0.5
_SAFETY = 2.0


@dataclass(frozen=True, slots=True)
class CompactAt:
    """Where a compaction is due: a number of prompt tokens, else a fraction of the context. Both 0: never by itself."""

    tokens: int = 0
    fraction: float = DEFAULT_FRACTION

    @classmethod
    def parse(cls, text: str) -> "CompactAt":
        """From what a user writes: `12000`, `0.7`, `70%`, or `0` for never. Raises ValueError in words for the user."""
        share, percent, rest = text.strip().partition("%")
        try:
            value = float(share) / (100 if percent else 1)
        except ValueError:
            value = -1.0
        if 0 <= value <= 1 and not rest:
            return cls(fraction=value)
        if percent or not 1 < value < inf or value != int(value):
            raise ValueError(f"{text!r} is no number of tokens (12000) and no fraction of the context (0.7, 70%)")
        return cls(int(value), 0.0)

    def threshold(self, limit_tokens: int | None) -> int | None:
        """The prompt tokens from which on a compaction is due; None where there is no such number."""
        if self.tokens:
            return min(self.tokens, limit_tokens) if limit_tokens else self.tokens
        return int(self.fraction * limit_tokens) if self.fraction and limit_tokens else None


@dataclass
class Rates:
    """What the server was measured to do in this session."""

    _computed: int = 0
    _prefill_ms: float = 0.0
    _decoded: int = 0
    _steps: int = 0
    _samples: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def add(self, usage: Usage) -> None:
        """Take in a step. Steps that computed or wrote next to nothing say nothing of a rate."""
        self._steps += 1
        self._decoded += usage.decoded_tokens
        if usage.is_cache_known and usage.computed_tokens >= _LEAST_COMPUTED and usage.prefill_ms > 0:
            self._computed += usage.computed_tokens
            self._prefill_ms += usage.prefill_ms
        if usage.decoded_tokens >= _LEAST_DECODED and usage.decode_ms > 0:
            middle = usage.prompt_tokens + usage.decoded_tokens / 2
            self._samples.append((middle, usage.decode_ms / usage.decoded_tokens))

    @property
    def prefill_ms_per_token(self) -> float | None:
        return self._prefill_ms / self._computed if self._computed else None

    @property
    def decoded_per_step(self) -> float:
        return self._decoded / self._steps if self._steps else 0.0

    @property
    def decode_slope(self) -> float | None:
        """Milliseconds that each generated token costs more for each token of context before it (least squares).

        None where too few steps, or steps of too similar a length, were seen.
        """
        if len(self._samples) < _LEAST_SAMPLES:
            return None
        lengths = [length for length, _ in self._samples]
        if max(lengths) < _LEAST_SPREAD * min(lengths):
            return None
        mean = sum(lengths) / len(lengths)
        mean_ms = sum(ms for _, ms in self._samples) / len(self._samples)
        spread = sum((length - mean) ** 2 for length in lengths)
        slope = sum((length - mean) * (ms - mean_ms) for length, ms in self._samples) / spread
        return max(0.0, slope)

    def decode_ms_per_token(self, length: float) -> float | None:
        """Milliseconds for a token generated behind `length` tokens of context."""
        if not self._samples:
            return None
        mean = sum(at for at, _ in self._samples) / len(self._samples)
        mean_ms = sum(ms for _, ms in self._samples) / len(self._samples)
        return max(0.0, mean_ms + (self.decode_slope or 0.0) * (length - mean))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compaction now would do.

    prompt_tokens   the prompt that would be sent without it
    after_tokens    the prompt that would be sent with it, about
    summary_tokens  to be generated for it, at most
    reread_tokens   of after_tokens, those that have to be prefilled: all but the head
    steps           taken in this epoch
    """

    prompt_tokens: int
    after_tokens: int
    summary_tokens: int
    reread_tokens: int
    steps: int


def due(outlook: Outlook, at: CompactAt, limit_tokens: int | None, rates: Rates) -> str:
    """`limit`, `cost`, or empty where no compaction is due.

    It never comes twice for one cause: it must free a tenth of where it is due, and for its cost alone the prompt
    must have doubled, and it must have paid for itself within half as many steps as this epoch has taken.
    """
    threshold = at.threshold(limit_tokens)
    if at.tokens == 0 and at.fraction == 0:
        return ""
    gain = outlook.prompt_tokens - outlook.after_tokens
    if threshold is not None and outlook.prompt_tokens >= threshold:
        return "limit" if gain >= LEAST_GAIN * threshold else ""
    if threshold is None or outlook.prompt_tokens < max(_LEAST_SHARE * threshold, 2 * outlook.after_tokens):
        return ""
    steps = pays_after(outlook, rates)
    return "cost" if steps is not None and _SAFETY * steps <= outlook.steps else ""


def pays_after(outlook: Outlook, rates: Rates) -> int | None:
    """Steps after which the cheaper steps have paid for the compaction; None where the rates are not known."""
    prefill, decode = rates.prefill_ms_per_token, rates.decode_ms_per_token(outlook.prompt_tokens)
    if prefill is None or decode is None:
        return None
    paid_ms = outlook.reread_tokens * prefill + outlook.summary_tokens * decode
    return steps_to_pay(paid_ms, outlook.prompt_tokens - outlook.after_tokens, rates)


def steps_to_pay(paid_ms: float, freed_tokens: int, rates: Rates) -> int | None:
    """Steps until a context shorter by `freed_tokens` has saved `paid_ms`; None where it is not known to save any."""
    slope = rates.decode_slope
    saved_ms = rates.decoded_per_step * (slope or 0.0) * freed_tokens
    return ceil(paid_ms / saved_ms) if saved_ms > 0 else None
