"""What the devices saw: counted where the bytes arrive, whatever became of the reply."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SeenWrite:
    """A write request as it arrived: `values` are registers, or bits as 0 and 1. `is_executed`: the device took it."""

    unit: int
    table: str
    address: int
    values: tuple[int, ...]
    is_executed: bool


@dataclass(slots=True)
class Witness:
    """Counts of requests and writes."""

    requests: int = 0
    writes: list[SeenWrite] = field(default_factory=list[SeenWrite])

    @property
    def counts(self) -> dict[tuple[int, str, int], int]:
        """Writes by unit, table and first address."""
        counted: dict[tuple[int, str, int], int] = {}
        for write in self.writes:
            place = write.unit, write.table, write.address
            counted[place] = counted.get(place, 0) + 1
        return counted

    @property
    def last(self) -> dict[tuple[int, str, int], tuple[int, ...]]:
        """The values written last by unit, table and first address."""
        return {(write.unit, write.table, write.address): write.values for write in self.writes}
