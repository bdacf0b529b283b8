"""A site file's tables, examined: every fault is found, each with its line; a tag with a fault is no tag."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from oasis.errors import OasisError
from oasis.plant.driver import Driver
from oasis.plant.limits import RANGES, Kind, beyond_limits, canonical, kind_of, plain_type
from oasis.plant.site import Tag
from oasis.plant.site_findings import Seen
from oasis.plant.site_lines import Path
from oasis.plant.site_points import point_of
from oasis.plant.values import Form, Value, spelled

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


def tag_of(seen: Seen, name: str, value: object, endpoints: Mapping[str, Driver | None]) -> Tag | None:
    """The tag of a table, None when there is a fault in it. `endpoints`: None for one that has a fault itself."""
    path, before = ("tags", name), seen.faults
    given = seen.table(path, value, _KEYS)
    point, url = point_of(seen, path, given, endpoints)
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
    driver = endpoints[given["endpoint"]]
    if tag.is_writable and driver and seen.faults == before:
        try:
            driver.check_writable(point)
        except OasisError as fault:
            seen.say((*path, "address"), f"{point.address} cannot be written: {fault}")
    return tag if seen.faults == before else None


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
    elif not _has_value(tag):
        said = f"the point goes in steps of {spelled(tag.point.form.scale)}, and none is between `min` and `max`"
        seen.say((*path, "min"), f"{said}: nothing could be written")
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


def _has_value(tag: Tag) -> bool:
    """Is there a value of the point between its limits?"""
    if kind_of(tag.point.form.type) is not Kind.INTEGER or tag.min is None or tag.max is None:
        return True
    ends = [raw for raw in map(tag.point.form.raw, (tag.min, tag.max)) if isinstance(raw, int | float)]
    return math.ceil(min(ends) - 1e-9) <= math.floor(max(ends) + 1e-9)


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
