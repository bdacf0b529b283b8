"""What a value must be to be written: of the point's type, representable at its scale, within the tag's limits."""

import math
import re
import struct
from enum import StrEnum

from oasis.plant.site import Tag
from oasis.plant.values import Form, Value, spelled

_HUGE = 1e300
_MANY = 1e6
_SWITCHED = {"1": True, "on": True, "true": True, "0": False, "off": False, "false": False}
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", re.ASCII)
_COMMA = re.compile(r"\s*[+-]?\d+,\d")
_FLOAT32_ULP = 1.2e-7
_FLOAT64_NOISE = 1e-11
"""Form.engineering keeps twelve significant digits."""


class Kind(StrEnum):
    BOOL = "on or off"
    INTEGER = "whole number"
    FLOAT = "number"
    TEXT = "text"
    BYTES = "bytes, as hex digits"


_BITS = (8, 16, 32, 64)
RANGES = {
    **{f"int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in _BITS},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in _BITS},
    "bcd16": (0, 9999),
    "bcd32": (0, 99_999_999),
    "bitmask": (0, 0xFFFF),
}
"""Lowest and highest raw value of the integer types."""
_WORDS = {"boolean": "bool", "sbyte": "int8", "byte": "uint8", "float": "float32", "double": "float64"}
_KINDS = {
    "bool": Kind.BOOL,
    "float32": Kind.FLOAT,
    "float64": Kind.FLOAT,
    "string": Kind.TEXT,
    "bytes": Kind.BYTES,
    "bytestring": Kind.BYTES,
    **dict.fromkeys(RANGES, Kind.INTEGER),
}
TYPES = (*_KINDS, *_WORDS)
"""The types whose values can be checked, and so written; OPC UA's words for them count as well."""


def plain_type(name: str) -> str:
    """A type's name as in RANGES: lower case, OPC UA's own words replaced."""
    name = name.lower()
    return _WORDS.get(name, name)


def kind_of(name: str) -> Kind | None:
    """The kind of value of a type; None where it is not known."""
    return _KINDS.get(plain_type(name))


def canonical(form: Form, value: object) -> Value:
    """The value as a device of this form would hold it. Raises ValueError, in words, for one that it cannot hold."""
    match kind_of(form.type):
        case Kind.BOOL:
            if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
                return bool(value)
        case Kind.INTEGER:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return _whole(form, value)
        case Kind.FLOAT:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return _real(form, value)
        case Kind.TEXT:
            if isinstance(value, str):
                return value
        case Kind.BYTES:
            return _bytes(value)
        case None:
            raise ValueError(f"the type {form.type!r} is not one whose values can be checked")
    comma = ", written with a point" if isinstance(value, str) and _COMMA.match(value) else ""
    raise ValueError(f"{_short(value)} is no value of type {form.type}: {_needed(form)}{comma}")


def _needed(form: Form) -> str:
    """What a value of the form has to be; a scaled integer need not be whole."""
    kind = kind_of(form.type)
    if kind is Kind.INTEGER and form.scale != 1.0:
        kind = Kind.FLOAT
    unit = f", in {form.unit}" if form.unit and kind in (Kind.INTEGER, Kind.FLOAT) else ""
    return f"{kind} is needed{unit}"


def _whole(form: Form, value: int | float) -> Value:
    raw = form.raw(_finite(value))
    if not isinstance(raw, int | float):
        raise TypeError(form)
    low, high = RANGES[plain_type(form.type)]
    if math.isfinite(raw) and raw != round(raw):
        near = sorted(spelled(form.engineering(n)) for n in (math.floor(raw), math.ceil(raw)))
        step = f"steps of {spelled(abs(form.scale))}" if form.scale != 1.0 else "whole numbers"
        raise ValueError(f"{spelled(value)} cannot be held: the point goes in {step}. Nearest: {' and '.join(near)}")
    if not low <= raw <= high:
        ends = sorted((float(str(form.engineering(low))), float(str(form.engineering(high)))))
        raise ValueError(
            f"{spelled(value)} does not fit into {form.type}: it holds {spelled(ends[0])} to {spelled(ends[1])}"
        )
    held = form.engineering(round(raw))
    if isinstance(held, float) and abs(held - value) > abs(form.scale) / 2:
        raise ValueError(f"{spelled(value)} has more digits than are kept at this scale. Nearest: {held:.12g}")
    return held


def _real(form: Form, value: int | float) -> float:
    raw = form.raw(float(_finite(value)))
    if plain_type(form.type) == "float32":
        try:
            (held,) = struct.unpack(">f", struct.pack(">f", raw))
        except OverflowError:
            raise ValueError(f"{spelled(value)} does not fit into {form.type}") from None
        if raw and not held:
            raise ValueError(f"{spelled(value)} is too small for {form.type}: it would be held as 0")
    return float(value)


def _bytes(value: object) -> bytes:
    try:
        if isinstance(value, bytes | str):
            return value if isinstance(value, bytes) else bytes.fromhex(value)
        raise ValueError
    except ValueError:
        raise ValueError(f"{_short(value)} is no row of bytes: write hex digits") from None


def _finite(value: int | float) -> int | float:
    if not math.isfinite(value) if isinstance(value, float) else abs(value) > _HUGE:
        raise ValueError(f"{_short(value)} is no number that a device holds")
    return value


def _short(value: object) -> str:
    """A value that came from outside, short."""
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return "a number of more than 64 bits"
    text = spelled(value) if isinstance(value, bool | str | bytes) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def meant(form: Form, value: object) -> object:
    """What a person or a model wrote as text, as the form's kind of value: `75`, `0x1F`, `75 degC`, `on`.

    What is no such text comes back as it is, for `canonical` to say why.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    match kind_of(form.type):
        case Kind.BOOL:
            return _SWITCHED.get(text.lower(), value)
        case Kind.INTEGER | Kind.FLOAT:
            alone = text.removesuffix(form.unit).rstrip()
            return next((read for given in (text, alone) if (read := number(given)) is not None), value)
        case _:
            return value


def number(text: str) -> int | float | None:
    """A decimal or, after 0x, a hexadecimal number; None for what is none, as people write numbers."""
    if not _NUMBER.fullmatch(text):
        return None
    is_hex = text.lower().lstrip("+-").startswith("0x")
    try:
        return int(text, 16 if is_hex else 10)
    except ValueError:
        return float(text)


def shown(form: Form, value: Value | None) -> str:
    """A value as people write it, with all the digits that its type has."""
    if isinstance(value, float) and plain_type(form.type) != "float32":
        return f"{value:.12g}"
    return spelled(value)


def same(form: Form, one: Value | None, other: Value | None) -> bool:
    """Would a device of this form hold both as the same value? Floats may differ by their last bit."""
    a, b = _raw_number(form, one), _raw_number(form, other)
    if a is None or b is None:
        return one is not None and one == other
    if kind_of(form.type) is Kind.INTEGER:
        return one == other or (math.isfinite(a) and math.isfinite(b) and round(a) == round(b))
    near = _FLOAT32_ULP if plain_type(form.type) == "float32" else _FLOAT64_NOISE
    return a == b or math.isclose(a, b, rel_tol=near)


def _raw_number(form: Form, value: Value | None) -> float | int | None:
    """The raw value of a number, None for what is none."""
    if value is None or kind_of(form.type) not in (Kind.INTEGER, Kind.FLOAT):
        return None
    raw = form.raw(value)
    return None if isinstance(raw, bool | str | bytes) else raw


def change(before: Value | None, after: Value | None) -> float | None:
    """How far apart two values are, without the noise of binary fractions; None where they are no finite numbers."""
    if isinstance(before, bool | str | bytes | None) or isinstance(after, bool | str | bytes | None):
        return None
    try:
        apart = abs(after - before)
    except OverflowError:
        return None
    return float(f"{apart:.9g}") if math.isfinite(apart) else None


def beyond_limits(tag: Tag, value: Value) -> str:
    """Why the tag's limits do not allow the value, empty where they do."""
    if tag.choices and not any(same(tag.point.form, value, choice) for choice in tag.choices):
        return f"it may be {', '.join(spelled(choice) for choice in tag.choices)} only"
    if isinstance(value, bool | str | bytes):
        return ""
    unit = f" {tag.point.form.unit}".rstrip()
    if tag.min is not None and not value >= tag.min:
        return f"the least allowed is {spelled(tag.min)}{unit}"
    if tag.max is not None and not value <= tag.max:
        return f"the most allowed is {spelled(tag.max)}{unit}"
    return ""


def beyond_step(tag: Tag, before: Value | None, after: Value) -> str:
    """Why the change is larger than one write may make, and the steps to go instead; empty where it is not."""
    if tag.max_step is None:
        return ""
    unit = f" {tag.point.form.unit}".rstrip()
    apart = change(before, after)
    if apart is None:
        return (
            f"{spelled(before)} is no number to step from, and one write may change it by {spelled(tag.max_step)}{unit}"
        )
    if apart <= tag.max_step:
        return ""
    return (
        f"from {spelled(before)} it is a change of {spelled(apart)}{unit}, and one write may change it by "
        f"{spelled(tag.max_step)}{unit}{_in_steps(tag, before, after)}"
    )


def _in_steps(tag: Tag, before: Value | None, after: Value) -> str:
    """The first values to write on the way, each representable; empty where there are too many to name."""
    if isinstance(before, str | bytes | None) or isinstance(after, str | bytes):
        return ""
    step = _one_step(tag)
    ratio = (change(before, after) or 0.0) / step
    if not 1 < ratio < _MANY:
        return ""
    count = math.ceil(ratio - 1e-9)
    signed = step if after > before else -step
    form = tag.point.form
    steps = [shown(form, float(f"{before + signed * n:.9g}")) for n in range(1, min(count, 5))]
    rest = f"… ({count} writes in all)" if count > len(steps) + 1 else shown(form, after)
    return f". Go in steps, each planned and approved: {', '.join([*steps, rest])}"


def _one_step(tag: Tag) -> float:
    """The largest change of one write that the point can hold."""
    form, step = tag.point.form, float(tag.max_step or 0.0)
    if kind_of(form.type) is Kind.INTEGER:
        size = abs(form.scale)
        return math.floor(step / size + 1e-9) * size
    return step
