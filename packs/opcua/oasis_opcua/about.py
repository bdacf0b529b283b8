"""What a server says about its nodes: data type, unit, range, access. Asked once for each node and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oasis.plant.driver import Budget
from oasis.plant.values import spelled
from oasis_opcua.link import Link
from oasis_opcua.texts import plain
from oasis_opcua.untyped import ua
from oasis_opcua.variants import BUILT_IN

_ASKED = ("DataType", "ValueRank", "AccessLevel", "UserAccessLevel")
PROPERTIES = ("EngineeringUnits", "EURange", "EnumStrings", "EnumValues")
_INT32 = ua.NodeId(6)
_READ, _WRITE, _HISTORY = 0x01, 0x02, 0x04
BASE_DATA_TYPE, ENUMERATION, STRUCTURE, UNION = 24, 29, 22, 12756
MOST_ABOVE = 12
"""Supertypes that are looked at."""


@dataclass(frozen=True, slots=True)
class About:
    """A variable. `type` is its DataType's name, `built_in` the built-in type it is sent as, empty for a structure or
    an abstract type; `rank` its ValueRank; `low` and `high` its EURange; `names` what its numbers stand for."""

    type: str = ""
    built_in: str = ""
    rank: int = -1
    unit: str = ""
    low: float | None = None
    high: float | None = None
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    is_readable: bool = True
    is_writable: bool = False
    has_history: bool = False
    words: str = field(default="", init=False)
    """All of it in one line."""

    def __post_init__(self) -> None:
        parts = [f"{self.type}{'[]' if self.rank >= 0 else ''}", self.range]
        parts += ["writable"] if self.is_writable else []
        parts += ["history"] if self.has_history else []
        object.__setattr__(self, "words", ", ".join(part for part in parts if part))

    @property
    def range(self) -> str:
        """The EURange in words, empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"EURange {spelled(self.low)} to {spelled(self.high)}"

    @property
    def says(self) -> frozenset[str]:
        """Browse names of the properties whose values are part of this."""
        there = (bool(self.unit), self.low is not None, bool(self.names), bool(self.names))
        return frozenset(name for name, is_there in zip(PROPERTIES, there, strict=True) if is_there)

    def __str__(self) -> str:
        return self.words


class Atlas:
    """What is known about a server's nodes, by their ids on this connection."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._known: dict[Any, About] = {}
        self._numbers: dict[Any, Mapping[int, str]] = {}
        self.encodings: dict[Any, Any] = {}
        """Data types by the ids of their encodings; None where the server does not say."""
        self.definitions: dict[Any, Any] = {}
        """What structures consist of, by data type (structures.Definition)."""
        self._types: dict[Any, tuple[str, str]] = {ua.NodeId(BASE_DATA_TYPE): ("BaseDataType", "")} | {
            ua.NodeId(number): (name, name) for number, name in BUILT_IN.items() if number < 22
        }

    def known(self, wire: Any) -> About | None:
        return self._known.get(wire)

    async def learn(self, wires: Sequence[Any], budget: Budget | None = None) -> Mapping[Any, About]:
        """What the server says about these variables. What the budget leaves out is missing."""
        new = [wire for wire in dict.fromkeys(wires) if wire not in self._known]
        asked = [(wire, ua.AttributeIds[name]) for wire in new for name in _ASKED]
        answers = await self._link.read_attributes(asked, budget)
        complete = len(answers) // len(_ASKED)
        rows = [answers[n * len(_ASKED) : (n + 1) * len(_ASKED)] for n in range(complete)]
        variables = [(wire, row) for wire, row in zip(new, rows, strict=False) if value_of(row[0]) is not None]
        properties = await self._properties([wire for wire, _ in variables], budget)
        types = [value_of(row[0]) for _, row in variables]
        await self._name_types(types, budget)
        await self._name_numbers(types, budget)
        for wire, row in variables:
            self._known[wire] = self._about(row, properties.get(wire, {}))
        return {wire: self._known[wire] for wire in wires if wire in self._known}

    def _about(self, row: Sequence[Any], properties: Mapping[str, Any]) -> About:
        data_type, rank, access, user = (value_of(data) for data in row)
        name, built_in = self._types.get(data_type, ("", ""))
        unit: Any = properties.get("EngineeringUnits")
        span: Any = properties.get("EURange")
        granted = int(access or 0) & int(access if user is None else user)
        return About(
            type=name,
            built_in=built_in,
            rank=int(rank if rank is not None else -1),
            unit=_text(unit.DisplayName) if isinstance(unit, ua.EUInformation) else "",
            low=float(span.Low) if isinstance(span, ua.Range) else None,
            high=float(span.High) if isinstance(span, ua.Range) else None,
            names=_names(properties.get("EnumStrings")) or self._numbers.get(data_type, {}),
            is_readable=bool(granted & _READ),
            is_writable=bool(granted & _WRITE),
            has_history=bool(granted & _HISTORY),
        )

    async def _name_numbers(self, data_types: Sequence[Any], budget: Budget | None) -> None:
        """Learn what the numbers of enumerations stand for: EnumStrings, EnumValues, or the type's definition.

        Part 3, 5.8.3 and 8.50.
        """
        new = [
            kind
            for kind in dict.fromkeys(data_types)
            if kind not in self._numbers and self._types.get(kind, ("", ""))[1] == "Int32" and kind != _INT32
        ]
        properties = await self._properties(new, budget)
        for kind in new:
            held = properties.get(kind, {})
            self._numbers[kind] = _names(held.get("EnumStrings") or held.get("EnumValues"))
        unnamed = [kind for kind in new if not self._numbers[kind]]
        definitions = await self._link.read(unnamed, ua.AttributeIds.DataTypeDefinition, budget)
        for kind, data in zip(unnamed, definitions, strict=False):
            if isinstance(given := value_of(data), ua.EnumDefinition):
                self._numbers[kind] = _names(given.Fields)

    async def type_of(self, kind: Any) -> tuple[str, str]:
        """A data type's name, and the built-in type its values are sent as."""
        await self._name_types([kind], None)
        return self._types.get(kind, (str(self._link.node(kind)), ""))

    async def supertypes(self, kind: Any) -> list[Any]:
        """The supertypes of a structure, nearest first, without Structure itself."""
        found: list[Any] = []
        while len(found) < MOST_ABOVE and (above := await self._supertype(kind, None)) is not None:
            if above in (ua.NodeId(STRUCTURE), ua.NodeId(UNION)) or above in found:
                break
            found.append(above)
            kind = above
        return found

    async def _properties(self, wires: Sequence[Any], budget: Budget | None) -> dict[Any, dict[str, Any]]:
        """Values of the properties that say unit, range and names, by variable."""
        if not wires:
            return {}
        link = self._link
        paths = [_path(wire, name) for wire in wires for name in PROPERTIES]

        async def send(part: Sequence[Any]) -> list[Any]:
            return await link.session.translate_browsepaths_to_nodeids(list(part))

        found = await link.in_parts("browse", paths, send, budget)
        places = [(wire, name) for wire in wires for name in PROPERTIES]
        targets = [
            (place, result.Targets[0].TargetId)
            for place, result in zip(places, found, strict=False)
            if result.StatusCode.is_good() and result.Targets
        ]
        values = await link.read([target for _, target in targets], ua.AttributeIds.Value, budget)
        held: dict[Any, dict[str, Any]] = {}
        for ((wire, name), _), data in zip(targets, values, strict=False):
            held.setdefault(wire, {})[name] = value_of(data)
        return held

    async def _name_types(self, data_types: Sequence[Any], budget: Budget | None) -> None:
        """Learn the names of data types, and which built-in type their values are sent as (Part 3, 5.8.3)."""
        new = [kind for kind in dict.fromkeys(data_types) if kind not in self._types]
        names = await self._link.read(new, ua.AttributeIds.BrowseName, budget)
        for kind, data in zip(new, names, strict=False):
            name = value_of(data)
            self._types[kind] = (
                plain(name.Name) if name else str(self._link.node(kind)),
                await self._built_in(kind, budget),
            )

    async def _built_in(self, kind: Any, budget: Budget | None) -> str:
        """The nearest supertype that is built in; empty for structures and abstract numbers."""
        for _ in range(MOST_ABOVE):
            if kind == ua.NodeId(ENUMERATION):
                return "Int32"
            if kind in self._types:
                return self._types[kind][1]
            above = await self._supertype(kind, budget)
            if above is None:
                return ""
            kind = above
        return ""

    async def _supertype(self, kind: Any, budget: Budget | None) -> Any:
        if budget is not None and not budget.spend():
            return None
        description = ua.BrowseDescription(
            NodeId=kind,
            BrowseDirection=ua.BrowseDirection.Inverse,
            ReferenceTypeId=ua.NodeId(ua.ObjectIds.HasSubtype),
            IncludeSubtypes=False,
        )
        parameters = ua.BrowseParameters(NodesToBrowse=[description])
        results: list[Any] = await self._link.ask(self._link.session.browse(parameters))
        return results[0].References[0].NodeId if results and results[0].References else None


def _path(wire: Any, name: str) -> Any:
    """The path from a variable to one of its properties in OPC UA's own namespace."""
    element = ua.RelativePathElement(
        ReferenceTypeId=ua.NodeId(ua.ObjectIds.HasProperty),
        IsInverse=False,
        IncludeSubtypes=True,
        TargetName=ua.QualifiedName(name, 0),
    )
    return ua.BrowsePath(StartingNode=wire, RelativePath=ua.RelativePath(Elements=[element]))


def value_of(data: Any) -> Any:
    return data.Value.Value if data.Value is not None and data.StatusCode.is_good() else None


def _text(text: Any) -> str:
    return plain(text.Text, 40)


def _names(given: Any) -> Mapping[int, str]:
    """Names by number, from a list of texts or of EnumValueType."""
    names: dict[int, str] = {}
    for place, entry in enumerate(given or ()):
        if isinstance(entry, ua.LocalizedText):
            names[place] = _text(entry)
        elif hasattr(entry, "DisplayName"):
            names[int(entry.Value)] = _text(entry.DisplayName) or plain(getattr(entry, "Name", ""), 40)
    return names
