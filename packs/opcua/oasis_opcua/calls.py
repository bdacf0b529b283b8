"""Methods: what they take and give, and a call as it would be sent.

A method's value is what it was last called with here: before that, `false` where it takes no argument, and an empty
text where it does. It is written `true`, or a JSON list of arguments.
"""

import contextlib
import json
from dataclasses import dataclass
from typing import Any, cast

from oasis.errors import ToolFault
from oasis.plant.values import Value, spelled
from oasis_opcua import faults, items
from oasis_opcua.about import Atlas, value_of
from oasis_opcua.link import Link
from oasis_opcua.refusals import Refused
from oasis_opcua.structures import opened
from oasis_opcua.texts import plain
from oasis_opcua.untyped import status_name, ua
from oasis_opcua.variants import held, typed


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `built_in` is the built-in type it is sent as, empty for one that Oasis cannot send."""

    name: str
    type: str
    built_in: str
    is_array: bool

    def __str__(self) -> str:
        return f"{self.name} {self.type}{'[]' if self.is_array else ''}"


@dataclass(frozen=True, slots=True)
class Method:
    """A method on an object, ids as on the wire."""

    name: str
    wire: Any
    owner: Any
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    is_executable: bool

    def __str__(self) -> str:
        takes = ", ".join(str(argument) for argument in self.inputs)
        gives = ", ".join(str(argument) for argument in self.outputs)
        return f"{self.name}({takes})" + (f" gives ({gives})" if gives else "")


async def method(link: Link, atlas: Atlas, item: items.Item) -> Method:
    """What the server says of a method. Raises ToolFault for a node that is none, or that several objects have."""
    wire = await link.wire(item.node)
    wanted = ("NodeClass", "BrowseName", "UserExecutable")
    answers = await link.read_attributes([(wire, ua.AttributeIds[name]) for name in wanted])
    node_class, name, executable = (value_of(answer) for answer in answers)
    if node_class != ua.NodeClass.Method:
        status = status_name(answers[0].StatusCode.value)
        why = "it is no method; read it without `call`" if status == "Good" else faults.status(status)
        raise Refused(f"{link.where}: {item.node}: {why}.", status)
    forward, inverse = await _around(link, wire)
    given = {str(r.BrowseName.Name): r.NodeId for r in forward}
    values = await link.read(
        [given[n] for n in ("InputArguments", "OutputArguments") if n in given], ua.AttributeIds.Value
    )
    read = iter(values)
    inputs = await _arguments(link, atlas, value_of(next(read)) if "InputArguments" in given else None)
    outputs = await _arguments(link, atlas, value_of(next(read)) if "OutputArguments" in given else None)
    owner = await link.wire(item.owner) if item.owner else _owner(link, item, inverse)
    return Method(plain(name.Name), wire, owner, inputs, outputs, executable is not False)


def request(method: Method, value: Value, where: str) -> Any:
    """The call as it would be sent. Raises ToolFault where the arguments do not fit."""
    given = _given(method, value)
    if len(given) != len(method.inputs):
        raise ToolFault(
            f"{method} takes {len(method.inputs)} arguments, and {len(given)} were given. Nothing was sent."
        )
    if not method.is_executable:
        raise ToolFault(f"{where} does not let this session call {method.name} now. Nothing was sent.")
    arguments = [_sent(argument, one) for argument, one in zip(method.inputs, given, strict=True)]
    return ua.CallMethodRequest(ObjectId=method.owner, MethodId=method.wire, InputArguments=arguments)


async def result_words(link: Link, atlas: Atlas, method: Method, result: Any) -> str:
    """What a call gave, in words. Raises nothing: the call is over, whatever can still be learnt about its answer."""
    name = status_name(result.StatusCode.value)
    if not result.StatusCode.is_good():
        bad = [
            f"{argument.name}: {faults.status(status_name(code.value))}"
            for argument, code in zip(method.inputs, result.InputArgumentResults or (), strict=False)
            if not code.is_good()
        ]
        return f"{method.name} answered {'; '.join([faults.status(name), *bad])}."
    outputs = [ua.DataValue(given) for given in result.OutputArguments or ()]
    with contextlib.suppress(ToolFault):
        outputs = await opened(link, atlas, outputs)
    values = [
        f"{argument.name} {spelled(held(data.Value.Value, link.namespaces))}"
        for argument, data in zip(method.outputs, outputs, strict=False)
    ]
    return f"{method.name} was carried out ({name})" + (f" and gave {', '.join(values)}." if values else ".")


def _given(method: Method, value: Value) -> list[Value]:
    """The arguments that a value stands for."""
    if not method.inputs:
        if value is True or value in ("", "[]"):
            return []
        raise ToolFault(f"{method} takes no argument: write true to call it. Nothing was sent.")
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            listed: Any = json.loads(value)
        except json.JSONDecodeError as fault:
            raise ToolFault(
                f"{spelled(value)[:100]} is no JSON list of arguments: {fault}. Nothing was sent."
            ) from fault
        if all(isinstance(entry, bool | int | float | str) for entry in listed):
            return cast("list[Value]", listed)
        raise ToolFault(f"{method} takes single values, in a JSON list. Nothing was sent.")
    return [value]


def _sent(argument: Argument, value: Value) -> Any:
    if argument.is_array or not argument.built_in:
        raise ToolFault(
            f"{argument} is no single value of a built-in type, and Oasis sends only those. Nothing was sent."
        )
    if argument.built_in in ("Float", "Double") and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    return typed(value, argument.built_in, f"the argument {argument.name}")


async def _arguments(link: Link, atlas: Atlas, given: Any) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    for argument in given or ():
        name, built_in = await atlas.type_of(argument.DataType)
        arguments.append(Argument(plain(argument.Name, 60), name, built_in, argument.ValueRank >= 0))
    return tuple(arguments)


async def _around(link: Link, wire: Any) -> tuple[list[Any], list[Any]]:
    """The properties of a method, and the objects it is a component of."""
    kinds = (
        (ua.BrowseDirection.Forward, ua.ObjectIds.HasProperty),
        (ua.BrowseDirection.Inverse, ua.ObjectIds.HasComponent),
    )
    asked = [
        ua.BrowseDescription(
            NodeId=wire, BrowseDirection=direction, ReferenceTypeId=ua.NodeId(kind), IncludeSubtypes=True, ResultMask=63
        )
        for direction, kind in kinds
    ]
    results: list[Any] = await link.ask(link.session.browse(ua.BrowseParameters(NodesToBrowse=asked)))
    return list(results[0].References or ()), list(results[1].References or ())


def _owner(link: Link, item: items.Item, objects: list[Any]) -> Any:
    if len(objects) == 1:
        return objects[0].NodeId
    names = ", ".join(str(link.node(o.NodeId)) for o in objects[:8])
    if not objects:
        raise ToolFault(f"{item.node} belongs to no object that can be browsed. Write: call {item.node} on OBJECT.")
    raise ToolFault(f"{item.node} belongs to {len(objects)} objects: {names}. Write: call {item.node} on OBJECT.")
