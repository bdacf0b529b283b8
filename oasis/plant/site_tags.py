"""A site file's tables, examined: every fault is found, each with its line; a tag with a fault is no tag."""

import difflib
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from oasis.errors import OasisError
from oasis.plant.driver import Driver
from oasis.plant.limits import RANGES, TYPES, Kind, beyond_limits, canonical, kind_of, plain_type
from oasis.plant.site import Tag
from oasis.plant.site_lines import Path
from oasis.plant.values import Form, Point, Value, spelled

NAME = re.compile(r"[^\W\d][\w.-]{0,63}")
ORDERS = ("ABCD", "CDAB", "BADC", "DCBA")
_NUMBER = (int, float)
_KEYS: Mapping[str, tuple[type, ...]] = {
    "endpoint": (str,),
    "address": (str,),
    "type": (str,),
    "order": (str,),
    "scale": _NUMBER,
    "offset": _NUMBER,
    "unit": (str,),
    "write": (bool,),
    "min": _NUMBER,
    "max": _NUMBER,
    "max_step": _NUMBER,
    "rate": _NUMBER,
    "values": (list,),
    "safe": (bool, int, float, str),
    "unattended": (bool,),
}
_WRITING = ("min", "max", "max_step", "rate", "values", "safe", "unattended")
_WORDS = {str: "text in quotes", bool: "true or false", float: "a number", list: "a list in [ ]", dict: "a table"}
_HUGE = 1e300
_LEAST_SCALE, _MOST_SCALE = 1e-15, 1e15


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a line of a site file; line 0 is the file as a whole. What is no error is a hint."""

    line: int
    text: str
    is_error: bool = True


@dataclass
class Seen:
    """What has been found so far."""

    lines: Mapping[Path, int]
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def faults(self) -> int:
        return sum(finding.is_error for finding in self.findings)

    def say(self, path: Path, text: str, *, is_error: bool = True) -> None:
        """Note something about a key, on its line or on that of the nearest table around it."""
        while path and path not in self.lines:
            path = path[:-1]
        self.findings.append(Finding(self.lines.get(path, 1), text, is_error))

    def table(self, path: Path, value: object, keys: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
        """The table's keys that are known and of the right type."""
        named = ".".join(str(key) for key in path)
        if not isinstance(value, dict):
            self.say(path, f"`{named}` must be a table: [{named}]")
            return {}
        good: dict[str, Any] = {}
        for key, given in cast(dict[str, Any], value).items():
            if key not in keys:
                self.say((*path, key), f"`{key}` is no key of [{named}]. {near(key, keys)}")
            elif type(given) not in keys[key]:
                needed = " or ".join(dict.fromkeys(_WORDS[kind] for kind in keys[key] if kind is not int))
                self.say((*path, key), f"`{key}` must be {needed}, not {_word(given)}")
            elif isinstance(given, int | float) and not abs(given) <= _HUGE:
                self.say((*path, key), f"`{key}` must be a finite number")
            elif isinstance(given, str) and not given.isprintable():
                self.say((*path, key), f"`{key}` holds characters that cannot be shown; leave them out")
            else:
                good[key] = given
        return good

    def named(self, path: Path, value: object, what: str) -> dict[str, Any]:
        """A table of named tables, without those whose name cannot be used."""
        if not isinstance(value, dict):
            self.say(path, f"`{path[0]}` must hold a table for each {what}: [{path[0]}.NAME]")
            return {}
        good: dict[str, Any] = {}
        for name, given in cast(dict[str, Any], value).items():
            if not NAME.fullmatch(name):
                shown = spelled(name[:64])
                self.say(
                    (*path, name), f"{shown} is no name for {what}: a letter, then letters, digits, _ . - (at most 64)"
                )
            elif other := next((n for n in good if n.casefold() == name.casefold()), None):
                self.say((*path, name), f"{what} {name} and {what} {other} differ only in upper and lower case")
            else:
                good[name] = given
        return good


def near(name: str, known: Collection[str]) -> str:
    """What may have been meant by a name that is not known."""
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"Did you mean {' or '.join(f'`{n}`' for n in close)}?"
    shown = [f"`{n}`" for n in sorted(known)[:20]]
    return f"There are: {', '.join(shown)}{', …' if len(known) > len(shown) else ''}." if shown else "There are none."


def tag_of(seen: Seen, name: str, value: object, endpoints: Mapping[str, Driver | None]) -> Tag | None:
    """The tag of a table, None when there is a fault in it. `endpoints`: None for one that has a fault itself."""
    path, before = ("tags", name), seen.faults
    given = seen.table(path, value, _KEYS)
    point, url = _point(seen, path, given, endpoints)
    if point is None:
        return None
    tag = Tag(
        name,
        url,
        point,
        is_writable=given.get("write", False),
        min=given.get("min"),
        max=given.get("max"),
        max_step=given.get("max_step"),
        rate=given.get("rate"),
        is_unattended=given.get("unattended", False),
        line=seen.lines.get(path, 0),
    )
    tag = _with_values(seen, path, tag, given)
    _check_limits(seen, path, tag, given, cast(dict[str, Any], value).keys())
    return tag if seen.faults == before else None


def _point(
    seen: Seen, path: Path, given: Mapping[str, Any], endpoints: Mapping[str, Driver | None]
) -> tuple[Point | None, str]:
    missing = [key for key in ("endpoint", "address") if not given.get(key)]
    for key in missing:
        seen.say(path, f"`{key}` of the tag {path[-1]} is missing")
    if missing:
        return None, ""
    endpoint = given["endpoint"]
    if endpoint not in endpoints:
        seen.say((*path, "endpoint"), f"there is no endpoint {spelled(endpoint)}. {near(endpoint, endpoints)}")
    driver = endpoints.get(endpoint)
    if driver is None:
        return None, ""
    try:
        point = driver.point(given["address"])
    except OasisError as fault:
        seen.say((*path, "address"), f"the address {spelled(given['address'])} cannot be used: {fault}")
        return None, ""
    form = _form(seen, path, _typed(seen, path, driver, point, given), given)
    return replace(point, form=form, name=str(path[-1])), driver.url


def _typed(seen: Seen, path: Path, driver: Driver, point: Point, given: Mapping[str, Any]) -> Form:
    """The point's form with type and order, in the driver's own words where its items can say them.

    The items of some protocols have no types (a device says them): there the keys are taken as they are.
    """
    kind, order = given.get("type", point.form.type), given.get("order", point.form.order)
    if (kind, order) == (point.form.type, point.form.order):
        return point.form
    try:
        typed = driver.point(f"{point.address} {kind} {order}".rstrip())
        if typed.address == point.address and typed.form.type:
            return typed.form
    except OasisError as fault:
        if _has_types(driver, point):
            seen.say((*path, "type" if "type" in given else "order"), f"{point.address} as {kind} {order}: {fault}")
    return point.form


def _has_types(driver: Driver, point: Point) -> bool:
    """Can the driver's items say their type?"""
    try:
        typed = driver.point(f"{point.address} {point.form.type or 'uint16'}")
    except OasisError:
        return False
    return typed.address == point.address and bool(typed.form.type)


def _form(seen: Seen, path: Path, own: Form, given: Mapping[str, Any]) -> Form:
    """The form that address and keys give together; `own` is the driver's."""
    form = own
    for key, empty in (("type", ""), ("order", ""), ("scale", 1.0), ("offset", 0.0), ("unit", "")):
        if key not in given:
            continue
        was, value = getattr(own, key), given[key]
        if key == "type" and was and plain_type(was) == plain_type(value):
            continue
        if was not in (empty, value):
            seen.say((*path, key), f"`{key}` is {spelled(value)}, and the address says {spelled(was)}; give it once")
        form = replace(form, **{key: float(value) if isinstance(empty, float) else value})
    if form.type and kind_of(form.type) is None and (form.type != own.type or given.get("write")):
        seen.say((*path, "type"), f"there is no type {spelled(form.type)}. {near(form.type, TYPES)}")
    if "order" in given and form.order not in ORDERS:
        seen.say((*path, "order"), f"there is no order {spelled(form.order)}. {near(form.order, ORDERS)}")
    if not _LEAST_SCALE <= abs(form.scale) <= _MOST_SCALE:
        zero = "must not be 0: every value would read the same" if form.scale == 0 else "is no scale that devices use"
        seen.say((*path, "scale"), f"`scale` {zero}")
        form = replace(form, scale=1.0)
    is_number = kind_of(form.type) in (None, Kind.INTEGER, Kind.FLOAT)
    for key in ("scale", "offset"):
        if key in given and not is_number:
            seen.say((*path, key), f"`{key}` is for numbers, and the type is {form.type}")
    return form


def _with_values(seen: Seen, path: Path, tag: Tag, given: Mapping[str, Any]) -> Tag:
    """The tag with its choices and safe value, each as the device would hold it."""
    if kind_of(tag.point.form.type) is None:
        return tag

    def held(key: str, value: object) -> Value | None:
        try:
            return canonical(tag.point.form, value)
        except ValueError as fault:
            seen.say((*path, key), f"`{key}`: {fault}")
            return None

    listed = [held("values", value) for value in given.get("values", ())]
    choices = tuple(value for value in listed if value is not None)
    if "values" in given and not listed:
        seen.say((*path, "values"), "`values` is empty: nothing could be written")
    if len(set(choices)) < len(choices):
        seen.say((*path, "values"), "`values` has a value twice")
    return replace(tag, choices=choices, safe=held("safe", given["safe"]) if "safe" in given else None)


def _check_limits(seen: Seen, path: Path, tag: Tag, given: Mapping[str, Any], stands: Collection[str]) -> None:
    """Check what belongs to writing; `stands` are all keys of the table, those with a fault too."""
    if not tag.is_writable:
        for key in _WRITING:
            if given.get(key, False) is not False:
                seen.say(
                    (*path, key), f"`{key}` is for a tag that may be written, and {tag.name} may not: `write = true`"
                )
        return
    kind = kind_of(tag.point.form.type)
    match kind:
        case None if not tag.point.form.type and "type" not in stands:
            seen.say(path, f"`type` of {tag.name} is missing: what is to be written must have one")
        case None:
            return
        case Kind.INTEGER | Kind.FLOAT:
            _check_numbers(seen, path, tag, given, stands)
        case _:
            for key in ("min", "max", "max_step", "rate"):
                if key in given:
                    seen.say((*path, key), f"`{key}` is for numbers, and the type is {tag.point.form.type}")
            if kind is not Kind.BOOL and "values" not in stands:
                seen.say(
                    path, f"`values` of {tag.name} is missing: a {tag.point.form.type} is written from a list only"
                )
    if tag.safe is not None and (why := beyond_limits(tag, tag.safe)):
        seen.say((*path, "safe"), f"`safe` is {spelled(tag.safe)}, which may not be written: {why}")


def _check_numbers(seen: Seen, path: Path, tag: Tag, given: Mapping[str, Any], stands: Collection[str]) -> None:
    """The limits of a number: all there, possible, and within what its type holds."""
    if "values" not in stands:
        missing = [f"`{key}`" for key in ("min", "max", "max_step") if key not in stands]
        if missing:
            seen.say(path, f"{', '.join(missing)} of {tag.name} is missing: a number is written within limits only")
    if tag.min is not None and tag.max is not None and tag.min > tag.max:
        seen.say(
            (*path, "min"), f"`min` {spelled(tag.min)} is above `max` {spelled(tag.max)}: nothing could be written"
        )
    form = tag.point.form
    size = abs(form.scale) if kind_of(form.type) is Kind.INTEGER else 0.0
    for key in ("max_step", "rate"):
        limit = given.get(key)
        if limit is not None and not limit > 0:
            seen.say((*path, key), f"`{key}` must be above 0")
        elif limit is not None and limit < size * (1 - 1e-9):
            seen.say((*path, key), f"`{key}` {spelled(limit)} is less than the point's resolution of {spelled(size)}")
    for key in ("min", "max"):
        if key in given and (why := _outside(form, given[key])):
            seen.say((*path, key), f"`{key}` {spelled(given[key])} {why}")
    for choice in tag.choices:
        if why := beyond_limits(replace(tag, choices=()), choice):
            seen.say((*path, "values"), f"`values` holds {spelled(choice)}, which may not be written: {why}")


def _outside(form: Form, limit: int | float) -> str:
    """Why a limit is one that the type cannot hold, empty where it can."""
    if kind_of(form.type) is not Kind.INTEGER:
        try:
            canonical(form, limit)
        except ValueError as fault:
            return f"cannot be held: {fault}"
        return ""
    low, high = RANGES[plain_type(form.type)]
    raw = form.raw(limit)
    if isinstance(raw, int | float) and low <= raw <= high and not math.isnan(raw):
        return ""
    return f"is outside of what {form.type} holds at this scale"


def _word(value: object) -> str:
    """What a value is, in words."""
    for kind, word in ((bool, "true or false"), (int, "a number"), (float, "a number"), *_WORDS.items()):
        if isinstance(value, kind):
            return word
    return "a date or time"
