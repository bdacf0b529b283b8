"""What a device holds: a point says where and in which form, a reading what was there."""

from dataclasses import dataclass, field, replace
from typing import Self

from oasis.core.sound import sound

Value = bool | int | float | str | bytes
GOOD = "good"


@dataclass(frozen=True, slots=True)
class Form:
    """How the raw value is to be read: engineering value = raw * scale + offset, in `unit`.

    An empty `type` is not known: the driver asks the device or ranks guesses. `order` is the pack's word for the
    order of bytes and words (Modbus: ABCD, CDAB, BADC, DCBA).
    """

    type: str = ""
    order: str = ""
    scale: float = 1.0
    offset: float = 0.0
    unit: str = ""

    def engineering(self, raw: Value) -> Value:
        """The raw value in the form's unit; only numbers are scaled."""
        if isinstance(raw, bool) or not isinstance(raw, int | float) or (self.scale == 1.0 and self.offset == 0.0):
            return raw
        return float(f"{raw * self.scale + self.offset:.12g}")

    def raw(self, value: Value) -> Value:
        """The inverse of `engineering`; not rounded."""
        if isinstance(value, bool) or not isinstance(value, int | float) or (self.scale == 1.0 and self.offset == 0.0):
            return value
        return float(f"{(value - self.offset) / self.scale:.12g}")


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a device. `address` is canonical in the pack's own grammar (`holding 2`); `name` a tag's, or empty."""

    address: str
    form: Form = field(default_factory=Form)
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.address})" if self.name else self.address


@dataclass(frozen=True, slots=True)
class Reading:
    """One value of a point. `value` is the engineering value, None where there is none: `status` says why.

    `raw` is the value as it went over the wire, in hex. `where` names the place as protocol and documents do
    (function, wire address, document number). `at` is the device's own time stamp, ISO 8601, where it gives one.
    `more` are further lines: ranked guesses with their reasons, hints. Texts come from the device: they are data.
    """

    point: Point
    value: Value | None
    status: str = GOOD
    raw: str = ""
    where: str = ""
    at: str = ""
    more: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("status", "raw", "where", "at"):
            if not (text := getattr(self, name)).isascii():
                object.__setattr__(self, name, sound(text))
        if self.more:
            object.__setattr__(self, "more", tuple(sound(line) for line in self.more))

    @property
    def is_good(self) -> bool:
        return self.status == GOOD and self.value is not None

    def named(self, name: str) -> Self:
        """The same reading under a tag's name."""
        return replace(self, point=replace(self.point, name=name))


def spelled(value: Value | None) -> str:
    """A value as people write it; a text quoted, with what could be taken for anything else escaped."""
    match value:
        case None:
            return "-"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.7g}"
        case bytes():
            return value.hex(" ")
        case str():
            text = "".join(c if c.isprintable() and c not in '"\\' else _escaped(c) for c in sound(value))
            return f'"{text}"'
        case _:
            return str(value)


def _escaped(char: str) -> str:
    return f"\\{char}" if char in '"\\' else char.encode("unicode_escape").decode()
