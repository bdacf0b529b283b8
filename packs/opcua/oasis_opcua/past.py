"""What a server remembers: values of a variable, events of an object, newest last.

Part 11 (historical access); event fields of Part 5, 6.4.2.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from oasis.plant.values import GOOD, Point, Reading
from oasis_opcua import faults, items
from oasis_opcua.about import Atlas
from oasis_opcua.link import Link
from oasis_opcua.refusals import Refused
from oasis_opcua.structures import opened
from oasis_opcua.texts import plain
from oasis_opcua.untyped import status_name, ua
from oasis_opcua.variants import held, stamp

FIELDS = ("Time", "Severity", "SourceName", "Message")
_FUTURE = timedelta(minutes=5)
"""Clocks of servers go wrong; what they stamped a little ahead is asked for as well."""


async def history(link: Link, atlas: Atlas, point: Point, item: items.Item) -> list[Reading]:
    """The last values of a variable, oldest first, with their own time stamps and statuses."""
    wire = await link.wire(item.node)
    about = (await atlas.learn([wire])).get(wire)
    if about and about.unit and not point.form.unit:
        point = replace(point, form=replace(point.form, unit=about.unit))
    end = datetime.now(UTC) + _FUTURE
    details = ua.ReadRawModifiedDetails(
        IsReadModified=False,
        StartTime=end,
        EndTime=end - _FUTURE - timedelta(seconds=item.seconds),
        NumValuesPerNode=item.most,
        ReturnBounds=False,
    )
    values, note = await _drained(link, wire, details, item.most, "DataValues")
    values = await opened(link, atlas, values)
    where = str(about) if about else ""
    address = replace(point, address=str(item.node))
    readings = [
        Reading(
            address,
            point.form.engineering(inner) if (inner := _inner(link, data)) is not None else None,
            _status(data),
            "",
            where,
            stamp(data.SourceTimestamp or data.ServerTimestamp),
        )
        for data in values
    ]
    if not readings:
        return [
            Reading(point, None, f"no values in the last {item.seconds:g} s; last= reaches further back", "", where)
        ]
    readings.sort(key=lambda reading: reading.at)
    if note:
        readings[-1] = replace(readings[-1], more=(note,))
    return readings


async def events(link: Link, point: Point, item: items.Item) -> list[Reading]:
    """The last events of an object, oldest first: severity as value, time, source and text beside it."""
    wire = await link.wire(item.node)
    end = datetime.now(UTC) + _FUTURE
    details = ua.ReadEventDetails(
        StartTime=end,
        EndTime=end - _FUTURE - timedelta(seconds=item.seconds),
        NumValuesPerNode=item.most,
        Filter=event_filter(),
    )
    found, note = await _drained(link, wire, details, item.most, "Events")
    address = replace(point, address=f"event of {item.node}")
    readings = [event(link, address, fields.EventFields) for fields in found]
    if not readings:
        return [Reading(point, None, f"no events in the last {item.seconds:g} s; last= reaches further back")]
    readings.sort(key=lambda reading: reading.at)
    if note:
        readings[-1] = replace(readings[-1], more=(*readings[-1].more, note))
    return readings


def event_filter() -> Any:
    """Asks for time, severity, source and text of every event."""
    base = ua.NodeId(ua.ObjectIds.BaseEventType)
    clauses = [
        ua.SimpleAttributeOperand(
            TypeDefinitionId=base, BrowsePath=[ua.QualifiedName(name, 0)], AttributeId=ua.AttributeIds.Value
        )
        for name in FIELDS
    ]
    return ua.EventFilter(SelectClauses=clauses)


def event(link: Link, point: Point, fields: Sequence[Any]) -> Reading:
    """One event as a reading: its text as value, severity and source beside it."""
    at, severity, source, message = (held(field.Value, link.namespaces) for field in fields)
    where = f"severity {severity}, source {plain(source, 60)}"
    return Reading(point, str(message or ""), GOOD, "", where, str(at or ""))


async def _drained(link: Link, wire: Any, details: Any, most: int, kind: str) -> tuple[list[Any], str]:
    """What the server remembers, at most `most`, over its continuation points; and a note when there is more."""
    values: list[Any] = []
    point: Any = None
    while True:
        node = ua.HistoryReadValueId(NodeId=wire, ContinuationPoint=point)
        results = await link.ask(link.session.history_read(_parameters(details, [node], release=False)))
        result = results[0]
        if not result.StatusCode.is_good():
            name = status_name(result.StatusCode.value)
            raise Refused(f"{link.where}: {link.node(wire)}: {faults.status(name)}.", name)
        portion = list(getattr(result.HistoryData, kind, None) or ())
        values += portion
        point = result.ContinuationPoint
        if not point or not portion or len(values) >= most:
            break
    if point:
        node = ua.HistoryReadValueId(NodeId=wire, ContinuationPoint=point)
        await link.ask(link.session.history_read(_parameters(details, [node], release=True)))
    is_cut = bool(point) or len(values) >= most
    return values[:most], f"truncated: the newest {most}; more may lie before (max=)" if is_cut else ""


def _parameters(details: Any, nodes: list[Any], *, release: bool) -> Any:
    return ua.HistoryReadParameters(
        HistoryReadDetails=details,
        TimestampsToReturn=ua.TimestampsToReturn.Both,
        ReleaseContinuationPoints=release,
        NodesToRead=nodes,
    )


def _inner(link: Link, data: Any) -> Any:
    return held(data.Value.Value, link.namespaces) if data.Value is not None else None


def _status(data: Any) -> str:
    code = data.StatusCode.value if data.StatusCode is not None else 0
    return GOOD if code == 0 else faults.status(status_name(code))
