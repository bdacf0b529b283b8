"""Where a tag of a site file is, and in which form: the pack's own words, with the file's keys beside them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from oasis.errors import OasisError
from oasis.plant.driver import Driver
from oasis.plant.limits import TYPES, Kind, kind_of, plain_type
from oasis.plant.site_findings import Seen, near
from oasis.plant.site_lines import Path
from oasis.plant.values import Form, Point, spelled

ORDERS = ("ABCD", "CDAB", "BADC", "DCBA")
_LEAST_SCALE, _MOST_SCALE = 1e-15, 1e15


def point_of(
    seen: Seen, path: Path, given: Mapping[str, Any], endpoints: Mapping[str, Driver | None]
) -> tuple[Point | None, str]:
    """The tag's point and its endpoint's URL; None where a fault keeps it from being known."""
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
    form = _form(seen, path, point.form, _typed(seen, path, driver, point, given), given)
    return replace(point, form=form, name=str(path[-1])), driver.url


def _typed(seen: Seen, path: Path, driver: Driver, point: Point, given: Mapping[str, Any]) -> Form:
    """The point's form with type and order, in the driver's own words where its items can say them.

    The items of some protocols have no types (a device says them): there the keys are taken as they are.
    """
    own = point.form
    kind, order = given.get("type", own.type), given.get("order", own.order)
    for key, was, value in (("type", own.type, kind), ("order", own.order, order)):
        if was and plain_type(was) != plain_type(value):
            seen.say((*path, key), f"`{key}` is {spelled(value)}, and {point.address} is {spelled(was)}: leave it out")
            return own
    if (kind, order) == (own.type, own.order):
        return own
    try:
        typed = driver.point(f"{point.address} {kind} {order}".rstrip())
        if typed.address == point.address and typed.form.type:
            return typed.form
    except OasisError as fault:
        if _has_types(driver, point):
            seen.say((*path, "type" if "type" in given else "order"), f"{point.address} cannot be that: {fault}")
            return own
    if kind_of(kind) is None and kind:
        seen.say((*path, "type"), f"there is no type {spelled(kind)}. {near(kind, TYPES)}")
    if order and order not in ORDERS:
        seen.say((*path, "order"), f"there is no order {spelled(order)}. {near(order, ORDERS)}")
    return replace(own, type=kind, order=order)


def _has_types(driver: Driver, point: Point) -> bool:
    """Can the driver's items say their type?"""
    try:
        typed = driver.point(f"{point.address} {point.form.type or 'uint16'}")
    except OasisError:
        return False
    return typed.address == point.address and bool(typed.form.type)


def _form(seen: Seen, path: Path, own: Form, typed: Form, given: Mapping[str, Any]) -> Form:
    """The form that address and keys give together; `own` is that of the address, `typed` with type and order."""
    form = replace(typed, scale=own.scale, offset=own.offset, unit=own.unit)
    for key, empty in (("scale", 1.0), ("offset", 0.0), ("unit", "")):
        if key not in given:
            continue
        was, value = getattr(own, key), given[key]
        if was not in (empty, value):
            seen.say((*path, key), f"`{key}` is {spelled(value)}, and the address says {spelled(was)}: give it once")
        form = replace(form, **{key: float(value) if isinstance(empty, float) else value})
    if given.get("write") and form.type and kind_of(form.type) is None:
        seen.say((*path, "type"), f"a {form.type} is not written. Types to write: {', '.join(TYPES)}")
    if not _LEAST_SCALE <= abs(form.scale) <= _MOST_SCALE:
        zero = "must not be 0: every value would read the same" if form.scale == 0 else "is no scale that devices use"
        seen.say((*path, "scale"), f"`scale` {zero}")
        form = replace(form, scale=1.0)
    is_number = kind_of(form.type) in (None, Kind.INTEGER, Kind.FLOAT)
    for key in ("scale", "offset"):
        if key in given and not is_number:
            seen.say((*path, key), f"`{key}` is for numbers, and the type is {form.type}")
    return form
