"""Values as JSON, and back: what JSON lacks becomes an object."""

import math
from typing import Any

from oasis.plant.values import Value


def packed(value: Value | None) -> Any:
    """A value as JSON: bytes as {"hex": "01ff"}, a number that JSON lacks as {"float": "nan"}."""
    match value:
        case bytes():
            return {"hex": value.hex()}
        case float() if not math.isfinite(value):
            return {"float": str(value)}
        case _:
            return value


def unpacked(value: Any) -> Value | None:
    """The inverse of `packed`. Raises ValueError for what is no value."""
    match value:
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"float": str(text)}:
            return float(text)
        case bool() | int() | float() | str() | None:
            return value
        case _:
            raise ValueError("no value")
