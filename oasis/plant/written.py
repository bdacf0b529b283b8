"""What became of a write, and what must be known before the next one, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from oasis.plant.audit_writes import KeptWrite
from oasis.plant.driver import Effect, Sent
from oasis.plant.limits import same, shown
from oasis.plant.plan import Plan
from oasis.plant.site import Tag
from oasis.plant.values import Reading, Value


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a plan, in `words` for a person or a model. `read_back` is None where nothing was read."""

    effect: Effect
    words: str
    before: Value | None
    after: Value
    read_back: Value | None
    plan: Plan


def notes_of(writes: Sequence[KeptWrite], tag: Tag, before: Reading) -> tuple[str, ...]:
    """What the audit says of the tag's last write that the next one must not pass over."""
    last = next((write for write in reversed(writes) if write.is_sent and write.is_of(tag)), None)
    if last is None or last.effect is not Effect.UNKNOWN:
        return ()
    return (
        f"the outcome of the last write of {tag.name}, {last.token} to {last.spelled(last.after)} at {last.sent_at}, "
        f"is UNKNOWN ({last.words}); it reads {last.spelled(before.value)} now",
    )


def words_of(plan: Plan, sent: Sent, reading: Reading) -> str:
    """What became of a write that was sent, for a person or a model."""
    tag, form = plan.tag, plan.tag.point.form
    unit = f" {form.unit}".rstrip()
    is_as_written = same(form, reading.value, plan.after)
    now = f"{shown(form, reading.value)}{unit}" if reading.is_good else f"nothing ({reading.status})"
    done = f"{tag.name}: {shown(form, plan.before.value)} → {shown(form, plan.after)}{unit}"
    match sent.effect:
        case Effect.WRITTEN if is_as_written:
            return f"Written and read back: {done}. It reads {now}."
        case Effect.WRITTEN:
            return (
                f"Written, but it READS BACK OTHERWISE: {done}, and it reads {now}. {sent.words} The device took the "
                "write and shows another value: it may limit or delay it, or something else writes it. "
                "Find out before going on."
            )
        case Effect.REJECTED:
            return f"Rejected by the device: {done}. {sent.words} It reads {now}."
        case _:
            seems = "as if it had been carried out" if is_as_written else "as if it had not, or not yet"
            return (
                f"The outcome is UNKNOWN: {done}. {sent.words} It reads {now}, {seems}. It was sent once and is "
                "not sent again by itself; look at the plant before planning another write."
            )
