"""The one moment a template ever sees: the head is the same on every day, in every zone and locale."""

import re

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_FIELDS = {
    "Y": "2025", "y": "25", "m": "01", "d": "01", "e": " 1", "j": "001", "H": "12", "I": "12", "M": "00", "S": "00",
    "f": "000000", "p": "PM", "A": DAYS[3], "a": DAYS[3][:3], "B": MONTHS[0], "b": MONTHS[0][:3], "h": MONTHS[0][:3],
    "u": "3", "w": "3", "U": "00", "W": "00", "V": "01", "G": "2025", "Z": "UTC", "z": "+0000", "s": "1735732800",
    "F": "2025-01-01", "T": "12:00:00", "R": "12:00", "D": "01/01/25", "x": "01/01/25", "X": "12:00:00",
    "c": "Wed Jan  1 12:00:00 2025", "C": "20", "n": "\n", "t": "\t", "%": "%",
}  # fmt: skip


def strftime(form: str) -> str:
    """2025-01-01 12:00:00 UTC, a Wednesday, by the C rules in English whatever the locale; `%-d` leaves zeros out."""

    def field(match: re.Match[str]) -> str:
        value = _FIELDS.get(match["name"], match.group())
        return (value.lstrip("0 ") or "0") if match["bare"] else value

    return re.sub(r"%(?P<bare>[-#]?)[EO]?(?P<name>[A-Za-z%])", field, form)


class Moment(str):
    """The frozen moment under the names templates know it by: text, callable, or an object like datetime."""

    __slots__ = ()
    year, month, day, hour, minute, second = 2025, 1, 1, 12, 0, 0

    def __new__(cls) -> "Moment":
        return super().__new__(cls, "2025-01-01")

    def __call__(self, *_: object) -> "Moment":
        return self

    def now(self, *_: object) -> "Moment":
        return self

    today = utcnow = date = now

    def strftime(self, form: str) -> str:
        return strftime(form)

    def isoformat(self) -> str:
        return "2025-01-01T12:00:00"
