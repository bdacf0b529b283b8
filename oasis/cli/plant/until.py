"""`--until "water > 85"`: what a person waits for while watching."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import typer

if TYPE_CHECKING:
    from oasis.plant.values import Point, Reading

_CONDITION = re.compile(r"(?P<point>.+?)\s*(?P<sign><=|>=|==|!=|<|>|=)\s*(?P<value>[^<>=!]+)")
_RANGE = re.compile(r"\d-\d")
"""Several values in one point, each with an address of its own."""
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Until:
    """A point, by its tag or address, and what its value is to be. `value` is a number, true, false or text."""

    point: str
    sign: str
    value: "bool | float | str"

    @classmethod
    def of(cls, text: str) -> Self:
        """The condition that was typed. Raises BadParameter for what is none."""
        found = _CONDITION.fullmatch(text.strip())
        if found is None:
            raise typer.BadParameter(f"{text!r} is no condition: write POINT > VALUE, or with <, <=, >=, =, !=")
        value = _value(found["value"].strip())
        if isinstance(value, str) and found["sign"] not in ("=", "==", "!="):
            raise typer.BadParameter(f"{text!r} compares with a text, which is neither more nor less: use = or !=")
        return cls(found["point"].strip(), found["sign"], value)

    def check_among(self, points: "Sequence[Point]") -> None:
        """Raise ToolFault where none of the points that are watched is the one that is waited for."""
        names = {name for point in points for name in (point.name, point.address) if name}
        if self.point in names or any(_RANGE.search(point.address) for point in points):
            return
        from oasis.errors import ToolFault
        from oasis.plant.site_findings import near

        raise ToolFault(f"{self.point[:60]!r} is not among what is watched. {near(self.point, names)}")

    def is_met(self, reading: "Reading") -> bool:
        """Whether this reading is of the point, good, and what is waited for."""
        now = reading.value
        if now is None or not reading.is_good or self.point not in (reading.point.name, reading.point.address):
            return False
        if isinstance(now, bool) and not isinstance(self.value, bool):
            now = int(now)
        is_alike = isinstance(now, int | float) if isinstance(self.value, int | float) else isinstance(now, str)
        return is_alike and _SIGNS[self.sign](now, self.value)


def _value(text: str) -> bool | float | str:
    from oasis.plant.limits import number

    switched = {"true": True, "on": True, "false": False, "off": False}
    if text.lower() in switched:
        return switched[text.lower()]
    read = number(text)
    return text if read is None else read
