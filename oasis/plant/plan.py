"""A plan: one write, shown whole before anyone is asked. Only an approved plan becomes an ApprovedWrite."""

import hmac
import time
from dataclasses import dataclass, field

from oasis.errors import WriteRefused
from oasis.plant.limits import shown
from oasis.plant.site import Tag
from oasis.plant.values import Reading, Value

LIFE_S = 120.0
"""How long a plan can be approved and carried out: long enough to read, short enough that the plant is as shown."""
_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
_MADE_HERE = object()


def seconds() -> float:
    """Seconds that are never set back and go on while the machine sleeps, so that no plan outlives a closed lid.

    Linux counts sleep in CLOCK_BOOTTIME, macOS in CLOCK_MONOTONIC, Windows in Python's own monotonic clock.
    """
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Frame:
    """A write as the driver would send it: the bytes of the request, and in words (function, address, raw value)."""

    wire: bytes
    words: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written, from what, and how.

    `identity` is what the device said it is; `made_at` is in seconds of a monotonic clock; `why` is empty or says that
    this is a safe state or a reversal; `notes` are what else must be known before it is approved.
    """

    token: str
    tag: Tag
    before: Reading
    after: Value
    frame: Frame
    identity: str
    made_at: float
    why: str = ""
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        form = self.tag.point.form
        return (
            f"write {self.tag.name}: {shown(form, self.before.value)} → {shown(form, self.after)} {form.unit}".rstrip()
        )

    @property
    def body(self) -> str:
        """Tag, before, after, limits and wire bytes, one line each."""
        form = self.tag.point.form
        unit = f" {form.unit}".rstrip()
        raw = f" (raw {self.before.raw})" if self.before.raw else ""
        lines = [
            f"tag     {self.tag.name}: {self.tag.point.address} of {self.tag.url}",
            f"device  {self.identity or 'does not say what it is'}",
            f"before  {shown(form, self.before.value)}{unit}{raw}",
            f"after   {shown(form, self.after)}{unit}",
            f"limits  {self.tag.limits}",
            f"wire    {self.frame.wire.hex(' ')} ({self.frame.words})",
            f"token   {self.token}, good for {LIFE_S:g} s",
        ]
        why = [f"why     {self.why}"] if self.why else []
        return "\n".join([*lines, *why, *(f"note    {note}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class ApprovedWrite:
    """What `Driver.write` accepts: a plan that somebody answered for. `by` says who."""

    plan: Plan
    by: str
    made_by: object = field(repr=False)

    def __post_init__(self) -> None:
        if self.made_by is not _MADE_HERE:
            raise TypeError("an ApprovedWrite is made by plan.approve() only")


def approve(plan: Plan, token: str, by: str, now: float) -> ApprovedWrite:
    """The plan as approved by `by` with exactly its token, at `now` (same clock as `made_at`).

    Raises WriteRefused for another token and for a plan that is too old.
    """
    if not hmac.compare_digest(plan.token.encode(), token.encode()):
        raise WriteRefused(f"{token[:40]!r} is not the token of this plan; nothing was sent. Plan the write again.")
    if not 0 <= now - plan.made_at <= LIFE_S:
        raise WriteRefused(
            f"The plan for {plan.tag.name} is older than {LIFE_S:g} s, and the plant may have moved; nothing was sent. "
            "Plan the write again."
        )
    return ApprovedWrite(plan, by, _MADE_HERE)
