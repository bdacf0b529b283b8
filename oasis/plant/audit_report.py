"""As found and as left: each tag before the first write and after the last, as a commissioning sheet has it."""

from dataclasses import dataclass, field
from pathlib import Path

from oasis.plant.audit import read_records
from oasis.plant.audit_writes import KeptWrite, writes_of
from oasis.plant.driver import Effect
from oasis.plant.limits import same, shown
from oasis.plant.values import Form, Value

HEADINGS = (
    "Tag", "Endpoint", "Address", "As found", "As left", "Unit", "Writes", "Last outcome", "By", "First", "Last",
)  # fmt: skip
WRITES = ("Write", "At", "Tag", "Before", "After", "Read back", "Unit", "Outcome", "By", "Session")
"""Headings of single writes; the first column is what a write is taken back by."""


@dataclass(slots=True)
class Row:
    """One tag. `as_left` is what was read back last, None where nothing was; `unknown` counts outcomes never known."""

    tag: str
    url: str
    address: str
    form: Form
    as_found: Value | None
    as_left: Value | None = None
    writes: int = 0
    unknown: int = 0
    outcome: Effect = Effect.UNKNOWN
    by: list[str] = field(default_factory=list[str])
    first: str = ""
    last: str = ""

    @property
    def unit(self) -> str:
        return self.form.unit

    @property
    def is_changed(self) -> bool:
        """Was it left otherwise than it was found, or is that not known?"""
        return self.outcome is Effect.UNKNOWN or not same(self.form, self.as_found, self.as_left)

    def add(self, write: KeptWrite) -> None:
        """Count one more write."""
        self.writes += 1
        self.unknown += write.effect is Effect.UNKNOWN
        self.as_left, self.outcome = write.read_back, write.effect
        self.by += [write.by] if write.by and write.by not in self.by else []
        self.first = self.first or write.sent_at
        self.last = write.sent_at

    @property
    def cells(self) -> tuple[str, ...]:
        """The row's texts, in the order of HEADINGS."""
        left = _value(self.form, self.as_left)
        more = f" ({self.unknown} unknown in all)" if self.unknown > (self.outcome is Effect.UNKNOWN) else ""
        outcome = f"{_outcome(self.outcome)}{more}"
        found = _value(self.form, self.as_found)
        people = ", ".join(self.by)
        place = (self.tag, self.url, self.address)
        return (*place, found, left, self.unit, str(self.writes), outcome, people, self.first, self.last)


def report(path: Path) -> list[Row]:
    """A row for each place that was written to, in the order of first writes. Raises AuditFault without an audit."""
    rows: dict[tuple[str, str], Row] = {}
    for write in writes_of(read_records(path)):
        if write.is_sent:
            place = (write.url, write.address)
            first = Row(write.tag, write.url, write.address, write.form, write.before)
            row = rows.setdefault(place, first)
            row.add(write)
    return list(rows.values())


def sent_writes(path: Path) -> list[KeptWrite]:
    """Each write that was sent, oldest first. Raises AuditFault without an audit."""
    return [write for write in writes_of(read_records(path)) if write.is_sent]


def single_writes(path: Path) -> list[tuple[str, ...]]:
    """The cells of each write that was sent, under the headings WRITES, oldest first."""
    return [cells_of(write) for write in sent_writes(path)]


def cells_of(write: KeptWrite) -> tuple[str, ...]:
    """The write's texts, in the order of WRITES."""
    values = [_value(write.form, value) for value in (write.before, write.after, write.read_back)]
    end = (write.form.unit, _outcome(write.effect), write.by, write.session)
    return (write.token, write.sent_at, write.tag, *values, *end)


def _outcome(effect: Effect) -> str:
    return "UNKNOWN" if effect is Effect.UNKNOWN else str(effect)


def _value(form: Form, value: Value | None) -> str:
    return "not read" if value is None else shown(form, value)
