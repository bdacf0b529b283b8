"""Writes and method calls: the request as it would be sent, and sending it once.

The wire bytes of a plan are the service's parameters (Part 4, 5.11.4 and 5.12.2) as OPC UA Binary. Request header,
sequence and security differ with each message and are added when it is sent.
"""

import json
from dataclasses import dataclass
from typing import Any, cast

from oasis.errors import ToolFault
from oasis.plant.driver import Effect, Sent
from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Point, Value, spelled
from oasis_opcua import calls, faults, items
from oasis_opcua.about import About, Atlas, value_of
from oasis_opcua.link import Link
from oasis_opcua.refusals import Refused
from oasis_opcua.untyped import status_name, to_binary, ua
from oasis_opcua.variants import BUILT_IN, typed

_SAME = {
    "bool": "Boolean",
    "int8": "SByte",
    "uint8": "Byte",
    "float32": "Float",
    "float64": "Double",
    "bytes": "ByteString",
}
_DONE = "it is carried out later; watch what it changes"
_ON_WIRE = "header and security are added when it is sent"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that could be sent. `method` is None for a write."""

    frame: Frame
    request: Any
    method: calls.Method | None = None


async def encode(link: Link, atlas: Atlas, point: Point, value: Value) -> Prepared:
    """The write or call as it would be sent. Raises ToolFault for what the node cannot take."""
    item = items.parse(point.address)
    await link.learn()
    if item.verb == "call":
        method = await calls.method(link, atlas, item)
        request = calls.request(method, value, link.where)
        words = f"Call of {method} with {spelled(value)}; {_ON_WIRE}"
        return Prepared(Frame(to_binary(request), words), request, method)
    if item.verb not in ("value", "array"):
        raise ToolFault(f"{point.address} cannot be written: only values and methods can. Nothing was sent.")
    wire = await link.wire(item.node)
    kind, about, count = await _type(link, atlas, wire, item)
    if item.verb == "value":
        _check_form(point, kind, item)
    if not about.is_writable:
        raise ToolFault(
            f"{link.where} does not let this session write {item.node} (its UserAccessLevel). Another user may: "
            "opc.tcp://USER@host. Nothing was sent."
        )
    index_range = str(item.elements[0]) if item.elements else None
    if item.verb == "array":
        variant = _whole(value, kind, item, count)
    else:
        variant = typed(_fitting(point.form.raw(value), kind), kind, str(item.node))
        if index_range is not None:
            variant = ua.Variant([variant.Value], variant.VariantType, is_array=True)
    data = ua.DataValue(Value=variant, StatusCode=None)  # servers turn down what comes with a status of its own
    written = ua.WriteValue(NodeId=wire, AttributeId=ua.AttributeIds.Value, IndexRange=index_range, Value=data)
    request = ua.WriteParameters(NodesToWrite=[written])
    part = f" (element {index_range} of {count}, by IndexRange)" if index_range is not None else ""
    words = (
        f"Write of {wire.to_string()}, now {item.node}{part}, as {kind} {spelled(value)}{_warning(about, value)}; "
        f"{_ON_WIRE}"
    )
    return Prepared(Frame(to_binary(request), words), request)


def _whole(value: Value, kind: str, item: items.Item, count: int) -> Any:
    """The array that a JSON list is. Raises ToolFault where it is none, or has more or fewer elements than now."""
    try:
        given: Any = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        given = None
    if not isinstance(given, list) or not all(
        isinstance(one, bool | int | float | str) for one in cast("list[Any]", given)
    ):
        raise ToolFault(f"{spelled(value)[:100]} is no JSON list of single values. Nothing was sent.")
    ones = cast("list[Value]", given)
    if len(ones) != count:
        raise ToolFault(f"{item.node} has {count} elements, and {len(ones)} were given. Nothing was sent.")
    typed_ones = [typed(_fitting(one, kind), kind, str(item.node)).Value for one in ones]
    return ua.Variant(typed_ones, getattr(ua.VariantType, kind), is_array=True)


async def send(link: Link, atlas: Atlas, approved: ApprovedWrite) -> Sent:
    """Send the plan's request once. Nothing is sent where it would no longer be the bytes that were approved."""
    plan = approved.plan
    try:
        prepared = await encode(link, atlas, plan.tag.point, plan.after)
    except ToolFault as fault:
        return Sent(Effect.NOT_SENT, str(fault))
    if prepared.frame.wire != plan.frame.wire:
        return Sent(
            Effect.NOT_SENT,
            "The request is another one now: the server numbers its namespaces otherwise, or the node's type changed. "
            "Plan the write again.",
        )
    try:
        if prepared.method is None:
            written: list[Any] = await link.ask(link.session.write(prepared.request))
            return _outcome(written[0])
        results: list[Any] = await link.ask(link.session.call([prepared.request]))
        return await _called(link, atlas, prepared.method, results[0])
    except Refused as refused:
        return _refused(refused)
    except ToolFault as broken:
        return Sent(Effect.UNKNOWN, str(broken))


async def _called(link: Link, atlas: Atlas, method: calls.Method, result: Any) -> Sent:
    sent = _outcome(result.StatusCode)
    return Sent(sent.effect, await calls.result_words(link, atlas, method, result), sent.reply)


def _outcome(status: Any) -> Sent:
    name = status_name(status.value)
    reply = status.value.to_bytes(4, "little")
    if name == "GoodCompletesAsynchronously":
        return Sent(Effect.WRITTEN, f"{name}: {_DONE}.", reply)
    if status.is_good():
        return Sent(Effect.WRITTEN, f"The server answered {name}.", reply)
    if status.is_bad():
        return Sent(Effect.REJECTED, f"The server answered {faults.status(name)}.", reply)
    return Sent(Effect.UNKNOWN, f"The server answered {faults.status(name)}, which says neither yes nor no.", reply)


def _refused(refused: Refused) -> Sent:
    """The whole request was answered with a fault: turned away, or something that leaves it open."""
    if refused.code in faults.SERVER_DID_NOTHING:
        return Sent(Effect.REJECTED, str(refused))
    return Sent(Effect.UNKNOWN, f"{refused} It does not say whether the write was carried out.")


async def _type(link: Link, atlas: Atlas, wire: Any, item: items.Item) -> tuple[str, About, int]:
    """The built-in type that the node's values are sent as: from its DataType, or from its value where that is
    abstract; and how many elements its array has, 0 for none.

    Raises ToolFault for structures, for what is no variable, and where single value and array are mixed up.
    """
    about = (await atlas.learn([wire])).get(wire)
    (data,) = await link.read([wire], ua.AttributeIds.Value)
    if about is None:
        name = status_name(data.StatusCode.value)
        raise Refused(f"{link.where}: {item.node}: {faults.status(name)}.", name)
    value = value_of(data)
    is_array = about.rank >= 0 or isinstance(value, list)
    count = len(cast("list[Any]", value)) if isinstance(value, list) else 0
    if is_array and item.verb == "value" and not item.elements:
        raise ToolFault(
            f"{item.node} is an array of {about.type}. Its elements are tags of their own ({item.node} [0]), or all of "
            f"it is one (array {item.node}). Nothing was sent."
        )
    if not is_array and (item.verb == "array" or item.elements):
        raise ToolFault(f"{item.node} is no array but a single {about.type}. Nothing was sent.")
    if item.elements and item.elements[1] >= count:
        raise ToolFault(f"{item.node} has {count} elements, and none [{item.elements[1]}]. Nothing was sent.")
    if count and any(isinstance(one, list) for one in cast("list[Any]", value)):
        raise ToolFault(f"{item.node} is a matrix, which Oasis does not write. Nothing was sent.")
    kind = about.built_in
    if not kind and data.Value is not None:
        kind = BUILT_IN.get(data.Value.VariantType.value, "")
    if not kind or kind == "ExtensionObject":
        raise ToolFault(
            f"{item.node} is a {about.type or 'structure'}, a structure, which Oasis does not write: it would replace "
            "all of it at once. Write its parts where the server has them as nodes of their own (scan it), or call a "
            "method of the server. Nothing was sent."
        )
    return kind, about, count


def _check_form(point: Point, kind: str, item: items.Item) -> None:
    """The site file's type is the one its limits were checked against: it has to be the node's."""
    said = point.form.type
    if (
        said
        and _SAME.get(said.lower(), said).lower() != kind.lower()
        and not (said, kind) == ("string", "LocalizedText")
    ):
        raise ToolFault(
            f"The site file says {said} for {item.node}, and the server has it as {kind}. Correct the site file: "
            "its limits were checked for another type. Nothing was sent."
        )


def _fitting(value: Value, kind: str) -> Value:
    """A scaled value without the noise of binary fractions, where a whole number is wanted."""
    if kind not in ("Float", "Double") and isinstance(value, float) and abs(value - round(value)) < 1e-9:
        return round(value)
    return value


def _warning(about: About, value: Value) -> str:
    """What is to be said of a value outside the EURange: the standard lets a server take it, good ones do not."""
    if about.low is None or about.high is None or isinstance(value, bool | str | bytes):
        return ""
    return "" if about.low <= value <= about.high else f", which is OUTSIDE its {about.range}"
