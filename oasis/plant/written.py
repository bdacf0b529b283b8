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
    done = f"{tag.name}: {shown(form, plan.before.value)} → {shown(form, plan.after)}{unit}"
    now = f"It reads {shown(form, reading.value)}{unit}"
    if not reading.is_good:
        now, is_as_written = f"It could NOT BE READ BACK ({reading.status.rstrip('.')})", False
    match sent.effect:
        case Effect.WRITTEN if is_as_written:
            return f"Written and read back: {done}. {now}."
        case Effect.WRITTEN if not reading.is_good:
            return (
                f"Written, and not proved: {done}. {sent.words} {now}. Read it, or look at the device, before going on."
            )
        case Effect.WRITTEN:
            return (
                f"Written, but it READS BACK OTHERWISE: {done}. {now}. {sent.words} The device took the "
                "write and shows another value: it may limit or delay it, or something else writes it. "
                "Find out before going on."
            )
        case Effect.REJECTED if is_as_written and not same(form, plan.before.value, plan.after):
            return (
                f"Rejected by the device, yet it READS AS WRITTEN: {done}. {sent.words} {now}. "
                "It may have been carried out; find out before going on."
            )
        case Effect.REJECTED:
            return f"Rejected by the device: {done}. {sent.words} {now}."
        case _:
            seems = "as if it had been carried out" if is_as_written else "as if it had not, or not yet"
            return (
                f"The outcome is UNKNOWN: {done}. {sent.words} {now}{f', {seems}' if reading.is_good else ''}. "
                "It was sent once and is not sent again by itself; look at the plant before planning another write."
            )
