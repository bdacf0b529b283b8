"""Structures that only the server knows: their fields are asked of it once, and their bytes decoded by them.

OPC UA Part 3, 8.48 to 8.51 (definitions), and Part 6, 5.2.6 and 5.2.7 (structures and unions in OPC UA Binary).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from asyncua.common.utils import Buffer

from oasis_opcua.about import Atlas, value_of
from oasis_opcua.link import Link
from oasis_opcua.texts import plain
from oasis_opcua.untyped import from_binary, ua, unpack
from oasis_opcua.variants import Structure

MOST_TYPES = 200
"""Data types that are asked for on one connection."""
MOST_ELEMENTS = 10_000
MOST_DEEP = 30
_STRUCTURE = 22


@dataclass(frozen=True, slots=True)
class Definition:
    """A data type. `fields` is None for what is no structure, or one that the server does not define; `built_in` is
    what its values are sent as, empty for structures and abstract types; `python` asyncua's class for it."""

    name: str
    built_in: str
    fields: tuple[Any, ...] | None = None
    kind: int = 0
    python: Any = None


async def opened(link: Link, atlas: Atlas, values: Sequence[Any]) -> list[Any]:
    """The DataValues with structures decoded where the server says what they consist of."""
    if not any(_is_closed(data) for data in values):
        return list(values)
    wires = {one.TypeId for data in values if _is_closed(data) for one in _ones(data.Value.Value) if _is_raw(one)}
    for wire in wires:
        if wire not in atlas.encodings:
            kind = atlas.encodings[wire] = await _data_type(link, wire)
            if kind is not None:
                await _learn(link, atlas, kind)
    return [_decoded(atlas, data) if _is_closed(data) else data for data in values]


def _is_closed(data: Any) -> bool:
    return data.Value is not None and data.Value.VariantType is ua.VariantType.ExtensionObject


def _ones(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _is_raw(value: Any) -> bool:
    return type(value) is ua.ExtensionObject and value.Body is not None


def _decoded(atlas: Atlas, data: Any) -> Any:
    value = data.Value.Value
    shown = [_one(atlas, one) for one in _ones(value)] if isinstance(value, list) else _one(atlas, value)
    return replace(data, Value=replace(data.Value, Value=shown))


def _one(atlas: Atlas, value: Any, deep: int = 0) -> Any:
    """The structure of a value's bytes; the value as it is where they are not what its type says."""
    kind = atlas.encodings.get(value.TypeId) if _is_raw(value) else None
    if kind is None or deep > MOST_DEEP:
        return value
    try:
        return _structure(atlas, kind, Buffer(value.Body), deep)
    except Exception:  # whatever a server sends as a body: asyncua's readers raise many things
        return value


def _structure(atlas: Atlas, kind: Any, data: Any, deep: int) -> Any:
    definition = atlas.definitions[kind]
    if definition.python is not None:
        return from_binary(definition.python, data)
    if definition.fields is None or deep > MOST_DEEP:
        raise ValueError(definition.name)
    types = ua.StructureType
    if definition.kind in (types.Union, types.UnionWithSubtypedValues):
        number = unpack(ua.VariantType.UInt32, data)
        fields = definition.fields[number - 1 : number] if number else ()
        return Structure(definition.name, tuple(_field(atlas, definition, one, data, deep) for one in fields))
    mask, bit = 0, 0
    if definition.kind == types.StructureWithOptionalFields:
        mask = unpack(ua.VariantType.UInt32, data)
    read: list[tuple[str, Any]] = []
    for field in definition.fields:
        if field.IsOptional and definition.kind == types.StructureWithOptionalFields:
            bit += 1
            if not mask >> (bit - 1) & 1:
                continue
        read.append(_field(atlas, definition, field, data, deep))
    return Structure(definition.name, tuple(read))


def _field(atlas: Atlas, definition: Definition, field: Any, data: Any, deep: int) -> tuple[str, Any]:
    types = ua.StructureType
    is_boxed = field.IsOptional and definition.kind in (
        types.StructureWithSubtypedValues,
        types.UnionWithSubtypedValues,
    )
    name = plain(field.Name, 60)
    if field.ValueRank < 0:
        return name, _value(atlas, field.DataType, data, deep + 1, is_boxed=is_boxed)
    count = unpack(ua.VariantType.Int32, data) if field.ValueRank < 2 else _sizes(data)
    if count > MOST_ELEMENTS:
        raise ValueError(f"{count} elements")
    return name, [_value(atlas, field.DataType, data, deep + 1, is_boxed=is_boxed) for _ in range(count)]


def _sizes(data: Any) -> int:
    count = 1
    for _ in range(unpack(ua.VariantType.Int32, data)):
        count *= unpack(ua.VariantType.Int32, data)
    return count


def _value(atlas: Atlas, kind: Any, data: Any, deep: int, *, is_boxed: bool) -> Any:
    definition = atlas.definitions[kind]
    if is_boxed or kind == ua.NodeId(_STRUCTURE):
        return _one(atlas, unpack(ua.VariantType.ExtensionObject, data), deep)
    if definition.fields is not None or definition.python is not None:
        return _structure(atlas, kind, data, deep)
    if definition.built_in:
        return unpack(getattr(ua.VariantType, definition.built_in), data)
    return unpack(ua.VariantType.Variant, data)


async def _data_type(link: Link, wire: Any) -> Any:
    """The data type whose encoding has this id; None where the server does not say."""
    description = ua.BrowseDescription(
        NodeId=wire,
        BrowseDirection=ua.BrowseDirection.Inverse,
        ReferenceTypeId=ua.NodeId(ua.ObjectIds.HasEncoding),
        IncludeSubtypes=True,
        ResultMask=0,
    )
    (result,) = await link.ask(link.session.browse(ua.BrowseParameters(NodesToBrowse=[description])))
    return result.References[0].NodeId if result.References else None


async def _learn(link: Link, atlas: Atlas, kind: Any) -> None:
    """Learn a data type, and those of its fields, as far as they are not known."""
    waiting = [kind]
    while waiting and len(atlas.definitions) < MOST_TYPES:
        kind = waiting.pop()
        if kind in atlas.definitions:
            continue
        name, built_in = await atlas.type_of(kind)
        (data,) = await link.read([kind], ua.AttributeIds.DataTypeDefinition)
        given = value_of(data)
        if isinstance(given, ua.StructureDefinition):
            fields = await _with_inherited(link, atlas, kind, tuple(given.Fields or ()))
            atlas.definitions[kind] = Definition(name, "", fields, int(given.StructureType))
            waiting += [field.DataType for field in fields]
        else:
            atlas.definitions[kind] = Definition(name, built_in, python=_python(kind) if not built_in else None)


async def _with_inherited(link: Link, atlas: Atlas, kind: Any, fields: tuple[Any, ...]) -> tuple[Any, ...]:
    """The fields with those of supertypes before them; some servers give a type's own ones only."""
    names = {field.Name for field in fields}
    for above in await atlas.supertypes(kind):
        (data,) = await link.read([above], ua.AttributeIds.DataTypeDefinition)
        given = value_of(data)
        inherited = tuple(given.Fields or ()) if isinstance(given, ua.StructureDefinition) else ()
        if any(field.Name in names for field in inherited):
            break
        fields = (*inherited, *fields)
        names |= {field.Name for field in inherited}
    return fields


def _python(kind: Any) -> Any:
    """asyncua's class for a structure of OPC UA's own, for servers that do not define those."""
    if kind.NamespaceIndex or not isinstance(kind.Identifier, int):
        return None
    found = getattr(ua, str(ua.ObjectIdNames.get(kind.Identifier)), None)
    return found if getattr(found, "data_type", None) == kind else None
