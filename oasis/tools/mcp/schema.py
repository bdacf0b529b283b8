"""A server's JSON schema, made into one that is small, closed and harmless.

What stays is what a model needs and the checks of the registry and the call grammar know. References are resolved
within the schema and never fetched; a cycle becomes any value. `pattern` is left out (a server's regular
expression would run here), as are `multipleOf` and all that is unknown: the server checks its arguments itself.
The same schema in another key order gives the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from oasis.tools.mcp.plain import plain, seen

MAX_NODES = 300
MAX_DEPTH = 6
MAX_PROPERTIES = 40
MAX_VALUES = 64
MAX_DESCRIPTION_CHARS = 300
MAX_VALUE_CHARS = 100
_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)
_SIZES = ("minLength", "maxLength", "minItems", "maxItems")
_TOO_LARGE = 2**63
_Node = dict[str, Any]


def cleaned(schema: object, *, is_terse: bool = False) -> _Node:
    """The schema of a tool's arguments: an object, closed unless the server says that it is open.

    `is_terse`: without the descriptions of arguments. Raises ValueError, in words, for a schema that is not of an
    object, or too large.
    """
    root = _as_node(schema)
    reader = _Reader(root, is_terse)
    node = reader.node(root, 0, frozenset(), is_nullable=False)
    if root.get("type", "object") != "object" or node.get("type", "object") != "object":
        raise ValueError("its arguments are not an object")
    made: _Node = {"type": "object", "properties": node.get("properties", {})}
    if node.get("required"):
        made["required"] = node["required"]
    return {**made, "additionalProperties": bool(root.get("additionalProperties", False))}


@dataclass(slots=True)
class _Reader:
    """Walks one schema; `left` counts down so that references cannot multiply without end."""

    root: _Node
    is_terse: bool
    left: int = MAX_NODES

    def node(self, raw: object, depth: int, refs: frozenset[str], *, is_nullable: bool) -> _Node:
        """One schema. `refs`: the references that led here. `is_nullable`: null is kept as a choice."""
        self.left -= 1
        if self.left < 0:
            raise ValueError(f"its schema has more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            return {}
        node, refs = self._resolved(_as_node(raw), refs)
        node = self._joined(node, refs)
        made = self._choice(node, depth, refs, is_nullable)
        made |= {} if self.is_terse else _description(node)
        made |= _kind(node, is_nullable) if "anyOf" not in made and "type" not in made else {}
        made |= _values(node)
        if made.get("type") == "object" and "properties" not in made:
            made |= self._properties(node, depth, refs)
        if made.get("type") == "array" and "items" not in made:
            made["items"] = self.node(node.get("items"), depth + 1, refs, is_nullable=False)
        return made

    def _resolved(self, node: _Node, refs: frozenset[str]) -> tuple[_Node, frozenset[str]]:
        """`node` with what its `$ref` stands for; nothing for a cycle and for what is not in this schema."""
        while isinstance(ref := node.get("$ref"), str):
            rest = {key: value for key, value in node.items() if key != "$ref"}
            target = _as_node(None if ref in refs else self._found(ref))
            node, refs = {**target, **rest}, refs | {ref}
        return node, refs

    def _found(self, ref: str) -> object:
        at: object = self.root
        if ref == "#":
            return at
        if not ref.startswith("#/"):
            return None
        for step in ref[2:].split("/"):
            at = _as_node(at).get(step.replace("~1", "/").replace("~0", "~"))
        return at

    def _joined(self, node: _Node, refs: frozenset[str]) -> _Node:
        """`node` with the schemas of its `allOf` laid over each other."""
        joined = dict(node)
        for raw in _as_list(node.get("allOf"))[:MAX_VALUES]:
            self.left -= 1
            part, _ = self._resolved(_as_node(raw), refs)
            for key, value in part.items():
                if key == "properties":
                    joined[key] = _as_node(joined.get(key)) | _as_node(value)
                elif key == "required":
                    joined[key] = [*_as_list(joined.get(key)), *_as_list(value)]
                else:
                    joined.setdefault(key, value)
        return joined

    def _choice(self, node: _Node, depth: int, refs: frozenset[str], is_nullable: bool) -> _Node:
        """`anyOf` and `oneOf`: the one choice there is, a list of types, or the choices.

        Beside a type or properties they only narrow: those stand, and the server checks the rest.
        """
        raw = _as_list(node.get("anyOf")) or _as_list(node.get("oneOf"))
        if not raw or "type" in node or "properties" in node:
            return {}
        made = [self.node(one, depth + 1, refs, is_nullable=True) for one in raw[:MAX_VALUES]]
        if not is_nullable:
            made = [one for one in made if one.get("type") != "null"] or made
        if len(made) == 1 or not all(made):
            return made[0] if all(made) else {}
        if all(set(one) == {"type"} and isinstance(one["type"], str) for one in made):
            return {"type": list(dict.fromkeys(one["type"] for one in made))}
        return {"anyOf": made}

    def _properties(self, node: _Node, depth: int, refs: frozenset[str]) -> _Node:
        """Named properties, the required ones first, each part in order of names."""
        known = _as_node(node.get("properties"))
        names = [name for name in known if name and seen(name) == name and len(name) <= MAX_VALUE_CHARS]
        needed = {name for name in _as_list(node.get("required")) if isinstance(name, str)}
        if len(names) > MAX_PROPERTIES:
            raise ValueError(f"its schema names more than {MAX_PROPERTIES} arguments in one place")
        if not names:
            return {}
        ordered = sorted(names, key=lambda name: (name not in needed, name))
        made: _Node = {
            "properties": {
                name: self.node(known[name], depth + 1, refs, is_nullable=name in needed) for name in ordered
            }
        }
        required = [name for name in ordered if name in needed]
        return made | ({"required": required} if required else {})


def _as_node(raw: object) -> _Node:
    return cast(_Node, raw) if isinstance(raw, dict) else {}


def _as_list(raw: object) -> list[Any]:
    return cast("list[Any]", raw) if isinstance(raw, list) else []


def _description(node: Mapping[str, Any]) -> _Node:
    text = node.get("description")
    said = plain(text, MAX_DESCRIPTION_CHARS) if isinstance(text, str) else ""
    return {"description": said} if said else {}


def _kind(node: Mapping[str, Any], is_nullable: bool) -> _Node:
    """`type`, one name where there is one choice; an object or an array where the keywords say so."""
    raw = node.get("type")
    kinds = [kind for kind in _TYPES if kind == raw or kind in _as_list(raw)]
    if not is_nullable and len(kinds) > 1:
        kinds = [kind for kind in kinds if kind != "null"]
    if not kinds:
        kinds = ["object"] if "properties" in node else ["array"] if "items" in node else []
    return {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}


def _values(node: Mapping[str, Any]) -> _Node:
    """`enum`, `const`, `default` of plain values, and bounds that are numbers."""
    made: _Node = {}
    choices = _as_list(node.get("enum"))
    if 0 < len(choices) <= MAX_VALUES and all(_is_plain(value) for value in choices):
        made["enum"] = choices
    for key in ("const", "default"):
        if key in node and node[key] is not None and _is_plain(node[key]):
            made[key] = node[key]
    for key in _BOUNDS:
        value = node.get(key)
        if _is_number(value) and (key not in _SIZES or (value == int(value) and value >= 0)):
            made[key] = value
    return made


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _TOO_LARGE


def _is_plain(value: object) -> bool:
    """A value that can stand in a schema as it is: short, seen, and JSON."""
    if isinstance(value, str):
        return len(value) <= MAX_VALUE_CHARS and seen(value) == value
    return value is None or isinstance(value, bool) or _is_number(value)
