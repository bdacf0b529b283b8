"""What an audit says of each write: from what to what, by whom, and how it ended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from oasis.core.chain import Record
from oasis.errors import AuditFault
from oasis.plant.driver import Effect
from oasis.plant.limits import change, shown
from oasis.plant.packed import unpacked
from oasis.plant.site import Tag
from oasis.plant.values import Form, Value

_MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class KeptWrite:
    """A planned write as the audit has it. `sent_at` is empty for one that was not sent, ISO 8601 otherwise.

    A write that was sent and has no outcome ended with its process: it is unknown. `read_back` is None where nothing
    was read.
    """

    token: str
    tag: str
    url: str
    address: str
    form: Form
    session: str
    before: Value | None
    after: Value | None
    by: str = ""
    sent_at: str = ""
    effect: Effect = Effect.NOT_SENT
    words: str = ""
    read_back: Value | None = None

    @property
    def is_sent(self) -> bool:
        """May it have reached the device?"""
        return bool(self.sent_at) and self.effect is not Effect.NOT_SENT

    def spelled(self, value: Value | None) -> str:
        """A value of the tag as people write it, without unit."""
        return shown(self.form, value)

    @property
    def may_have_acted(self) -> bool:
        return self.is_sent and self.effect is not Effect.REJECTED

    def is_of(self, tag: Tag) -> bool:
        return (self.url, self.address) == (tag.url, tag.point.address)


def writes_of(records: Iterable[Record]) -> list[KeptWrite]:
    """The planned writes in order. Raises AuditFault for values that are none."""
    kept: dict[str, KeptWrite] = {}
    for record in records:
        token = str(record.get("token", ""))
        if record.get("kind") == "plan":
            kept[token] = _planned(token, record)
        elif write := kept.get(token):
            _follow(write, record)
    return list(kept.values())


def _planned(token: str, record: Record) -> KeptWrite:
    def text(name: str) -> str:
        return str(record.get(name, ""))

    def number(name: str, usual: float) -> float:
        value = record.get(name)
        return float(value) if isinstance(value, int | float) else usual

    form = Form(text("type"), text("order"), number("scale", 1.0), number("offset", 0.0), text("unit"))
    before, after = _value(record, "before"), _value(record, "after")
    return KeptWrite(token, text("tag"), text("url"), text("address"), form, text("session"), before, after)


def _follow(write: KeptWrite, record: Record) -> None:
    match record.get("kind"):
        case "approval":
            write.by = str(record.get("by", ""))
        case "sending":
            write.sent_at = str(record.get("at", "")) or "?"
            write.effect, write.words = Effect.UNKNOWN, "the process ended before an outcome was known"
        case "outcome":
            known = {str(effect): effect for effect in Effect}
            write.effect = known.get(str(record.get("effect")), Effect.UNKNOWN)
            write.words = str(record.get("words", ""))
        case "read back":
            write.read_back = _value(record, "value")
        case _:
            return


def sent_to(writes: Iterable[KeptWrite], tag: Tag) -> int:
    """How many writes to the tag may have reached the device."""
    return sum(write.is_sent and write.is_of(tag) for write in writes)


def changed_within_a_minute(writes: Sequence[KeptWrite], tag: Tag, now: datetime) -> tuple[float, datetime | None]:
    """By how much writes changed the tag in the last minute, and when the first of them was sent.

    A write whose outcome is unknown counts, as does one whose time lies ahead or cannot be read.
    """
    total, first = 0.0, None
    for write in writes:
        if not (write.may_have_acted and write.is_of(tag)):
            continue
        at = _time(write.sent_at)
        if at and at < now - _MINUTE:
            continue
        total += change(write.before, write.after) or 0.0
        first = min(at, first) if at and first else at or first
    return float(f"{total:.9g}"), first


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None


def _value(record: Record, name: str) -> Value | None:
    """A value that a line holds. Raises AuditFault for what is none."""
    try:
        return unpacked(record.get(name))
    except ValueError:
        found = f"{str(record.get(name))[:60]!r}"
        raise AuditFault(
            f"The audit holds {found} where a value is to be: it was edited. Verify it, and keep it."
        ) from None
