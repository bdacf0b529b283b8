"""Reading values: in chunks, with status, time stamp, unit and range; arrays element by element."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from oasis.errors import ToolFault
from oasis.plant.values import GOOD, Point, Reading, spelled
from oasis_opcua import faults, items, quick
from oasis_opcua.about import About, Atlas
from oasis_opcua.link import Link
from oasis_opcua.refusals import Broken, Refused
from oasis_opcua.structures import opened
from oasis_opcua.untyped import status_name, ua
from oasis_opcua.variants import held, raw, stamp

MOST_DESCRIBED = 500
"""Points of one read whose unit, range and type are asked for when they are not known yet."""
_RENUMBERED = "the server changed its namespaces while it was read: read again"
MOST_ELEMENTS = 100
"""Elements of an array that are shown when no range is asked for."""


async def read(link: Link, atlas: Atlas, points: Sequence[tuple[Point, items.Item]]) -> list[Reading]:
    """The points' values in order. A node that does not exist is a reading that says so."""
    places = link.places
    found = [places.get(point.address) for point, _ in points]
    is_brief = len(points) > MOST_DESCRIBED
    unknown: dict[str, str] = {}
    if None in found or not is_brief:
        unknown = await _placed(link, atlas, points)
        found = [places.get(point.address) for point, _ in points]
    asked = [place[0] for place in found if place is not None]
    if is_brief:
        answers = iter(await link.read_values(asked))
    else:
        answers = iter(await opened(link, atlas, await link.read_ids(asked)))
    readings: list[Reading] = []
    for (point, item), place in zip(points, found, strict=True):
        if place is None:
            readings.append(Reading(point, None, unknown.get(point.address, _RENUMBERED)))
            continue
        data = next(answers)
        if type(data) is tuple:
            plain = cast("quick.Plain", data)
            if (brief := _brief(point, item, plain, place[1])) is not None:
                readings.append(brief)
                continue
            data = quick.whole(plain)
        elif is_brief:
            (data,) = await opened(link, atlas, [data])
        readings += of_value(link, point, item, data, place[1])
    return readings


async def _placed(link: Link, atlas: Atlas, points: Sequence[tuple[Point, items.Item]]) -> dict[str, str]:
    """Fill in the link's places of the points; gives why there is none, by address."""
    unknown: dict[str, str] = {}
    new: dict[str, Any] = {}
    places = link.places
    is_described = len(points) <= MOST_DESCRIBED
    for point, item in points:
        place = places.get(point.address)
        if place is not None and (place[1] is not None or not is_described):
            continue
        try:
            new[point.address] = await link.wire(item.node)
        except (Refused, Broken):
            raise
        except ToolFault as fault:
            unknown[point.address] = str(fault)
    if is_described:
        await atlas.learn(list(new.values()))
    for address, wire in new.items():
        places[address] = ua.ReadValueId(NodeId=wire, AttributeId=ua.AttributeIds.Value), atlas.known(wire)
    return unknown


def _brief(point: Point, item: items.Item, data: quick.Plain, about: About | None) -> Reading | None:
    """One of very many values: without wire bytes. None where there is more to say of it than a number."""
    if item.elements or (about is not None and (about.names or (about.unit and not point.form.unit))):
        return None
    where = about.words if about is not None else ""
    at = quick.stamp(data[2]) if len(data) == 3 else ""
    return Reading(point, point.form.engineering(data[1]), GOOD, "", where, at)


def of_value(link: Link, point: Point, item: items.Item, data: Any, about: About | None) -> list[Reading]:
    """The readings that one DataValue is: one, or one for each element of an array."""
    code = data.StatusCode.value if data.StatusCode is not None else 0
    status = GOOD if code == 0 else faults.status(status_name(code))
    variant = data.Value
    value = variant.Value if variant is not None else None
    at = stamp(data.SourceTimestamp or data.ServerTimestamp)
    where = ""
    if about:
        where = str(about)
        if about.unit and not point.form.unit:
            point = replace(point, form=replace(point.form, unit=about.unit))
    if item.elements and not isinstance(value, list) and status == GOOD:
        return [Reading(point, None, "this value is no array; read it without [ ]", "", where, at)]
    if isinstance(value, list):
        whole = Reading(point, None, status, "", where, at)
        return _elements(link, item, cast("list[Any]", value), whole)
    if value is None and status == GOOD:
        status = "no value: the server gives null"
    inner = held(value, link.namespaces)
    engineering = point.form.engineering(inner) if inner is not None else None
    wire_bytes = raw(variant) if about and value is not None else ""
    return [Reading(point, engineering, status, wire_bytes, where, at, _named(about, value))]


async def array(link: Link, atlas: Atlas, point: Point, item: items.Item) -> Reading:
    """An array as one value: a JSON list, as it is written. Raises ToolFault for a node that is none."""
    wire = await link.wire(item.node)
    about = (await atlas.learn([wire])).get(wire)
    (data,) = await link.read([wire], ua.AttributeIds.Value)
    (whole,) = of_value(link, point, replace(item, elements=(0, 0)), replace(data, Value=None), about)
    value = data.Value.Value if data.Value is not None else None
    if data.StatusCode is not None and not data.StatusCode.is_good():
        return whole
    if not isinstance(value, list):
        return replace(whole, status="this value is no array; read it without `array`")
    inner = [held(one, link.namespaces) for one in cast("list[Any]", value)]
    return replace(whole, value=json.dumps([listed(one) for one in inner], ensure_ascii=False), status=GOOD)


def listed(value: Any) -> Any:
    """A value as it stands in a JSON list: a whole number without a fraction, bytes as hex digits."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value.hex() if isinstance(value, bytes) else value


def _elements(link: Link, item: items.Item, values: list[Any], whole: Reading) -> list[Reading]:
    """One reading for each element, like `whole`; how many more there are stands with the last.

    The array is always read whole: servers that ignore an index range send other elements than were asked for.
    """
    first, last = item.elements or (0, MOST_ELEMENTS - 1)
    shown = values[first : last + 1]
    if not shown:
        why = f"no such element: the array has {len(values)}" if whole.status == GOOD else whole.status
        return [replace(whole, status=why)]
    readings: list[Reading] = []
    for number, value in enumerate(shown, first):
        inner = held(value, link.namespaces)
        element = replace(whole.point, address=f"{item.node} [{number}]")
        engineering = element.form.engineering(inner) if inner is not None else None
        readings.append(replace(whole, point=element, value=engineering))
    if item.elements is None and len(values) > len(shown):
        note = f"truncated: the array has {len(values)} elements; ask for {item.node} [{len(shown)}-{len(values) - 1}]"
        readings[-1] = replace(readings[-1], more=(note,))
    return readings


def _named(about: About | None, value: Any) -> tuple[str, ...]:
    """What a number stands for, where the node names its numbers."""
    if about and about.names and isinstance(value, int) and int(value) in about.names:
        return (f"stands for {spelled(about.names[int(value)])}",)
    return ()
