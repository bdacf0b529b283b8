"""What an item's text means: a node, a node's history, an object's events, a method.

    nsu=urn:x;s=Line1.Speed            value        nsu=urn:x;s=Weights [0-4]   elements of an array
    history nsu=urn:x;s=Line1.Speed last=10m max=100
    events nsu=urn:x;s=Line1 last=1h
    call nsu=urn:x;s=Line1.Start [on nsu=urn:x;s=Line1]
    array nsu=urn:x;s=Weights          all elements as one value, to write them at once

Namespaces are written by URI: an index is the server's own and changes when it restarts (Part 3, 8.2.2).
"""

import base64
import binascii
import re
import uuid
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from oasis.errors import ToolFault

BASE = "http://opcfoundation.org/UA/"
FORM = "Write nsu=NAMESPACE-URI;s=NAME (or i=NUMBER, g=GUID, b=BASE64), and i=NUMBER alone for OPC UA's own nodes."
_NODE = re.compile(r"(?:nsu=(?P<uri>[^;]+);|ns=(?P<index>\d+);)?(?P<kind>[igb]|sx?)=(?P<id>.+)", re.DOTALL)
_OPTION = re.compile(r"\s+(?P<name>last|max)=(?P<value>\S+)$")
_ELEMENTS = re.compile(r"(?P<node>.+?)\s+\[(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?\]", re.DOTALL)
_ESCAPED = re.compile(r"%(25|3[Bb]|[01][0-9A-Fa-f]|7[Ff])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
HISTORY_S = 600
MOST_PAST = 100
MOST_ASKED = 1000
KEPT = 4096
"""Items whose reading is remembered: a poll asks for the same ones each time."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node by namespace URI. `kind` is i, s, g or b; `id` its identifier in canonical spelling.

    A text identifier that cannot be shown is written `sx=` and the hex digits of its UTF-8.
    """

    uri: str
    kind: str
    id: str

    def __str__(self) -> str:
        namespace = "" if self.uri == BASE else f"nsu={spelled_uri(self.uri)};"
        if self.kind == "s" and not self.id.isprintable():
            return f"{namespace}sx={self.id.encode().hex()}"
        return f"{namespace}{self.kind}={self.id}"


@dataclass(frozen=True, slots=True)
class Item:
    """What is asked of a node. `verb` is value, history, events, call or array.

    `elements` are the first and last index of an array; `seconds` and `most` bound what is past; `owner` is the object
    that a method is called on, None for the one it belongs to.
    """

    verb: str
    node: Node
    elements: tuple[int, int] | None = None
    seconds: float = HISTORY_S
    most: int = MOST_PAST
    owner: Node | None = None

    def __str__(self) -> str:
        match self.verb:
            case "value" if self.elements:
                first, last = self.elements
                return f"{self.node} [{first}]" if first == last else f"{self.node} [{first}-{last}]"
            case "value":
                return str(self.node)
            case "array":
                return f"array {self.node}"
            case "call":
                return f"call {self.node}" + (f" on {self.owner}" if self.owner else "")
            case _:
                return f"{self.verb} {self.node} last={self.seconds:g}s max={self.most}"


@lru_cache(KEPT)
def parse(text: str) -> Item:
    """The item that `text` is. Raises ToolFault."""
    text = text.strip()
    verb, _, rest = text.partition(" ")
    match verb:
        case "history" | "events":
            return _past(verb, rest.strip())
        case "array":
            return Item("array", node(rest))
        case "call":
            method, on, owner = rest.strip().partition(" on ")
            return Item("call", node(method), owner=node(owner) if on else None)
        case _ if found := _ELEMENTS.fullmatch(text):
            first = int(found["first"])
            last = int(found["last"] or first)
            if last < first:
                raise ToolFault(f"[{first}-{last}] ends before it begins. Write [{last}-{first}].")
            return Item("value", node(found["node"]), (first, last))
        case _:
            return Item("value", node(text))


def node(text: str) -> Node:
    """The node that `text` names. Raises ToolFault for what is none, and for a namespace by index."""
    found = _NODE.fullmatch(text.strip())
    if not found:
        raise ToolFault(f"{text[:100]!r} is no node. {FORM} A scan without items lists namespaces and the first nodes.")
    if found["index"] and int(found["index"]):
        raise ToolFault(
            f"{text[:100]!r} names its namespace by index. Indexes change when a server restarts, and the same "
            f"name may be another node then. Scan without items: it lists which URI has index {found['index']} now; "
            f"then write nsu=URI;{found['kind']}={found['id'][:60]}."
        )
    uri = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), found["uri"] or BASE)
    return Node(uri, found["kind"].removesuffix("x"), _identifier(found["kind"], found["id"]))


@lru_cache(KEPT)
def spelled_uri(uri: str) -> str:
    """A namespace's URI as it stands in an item: `%`, `;` and what cannot be shown escaped (Part 6, 5.3.1.11)."""
    return "".join(c if c.isprintable() and c not in "%;" else quote(c, safe="") for c in uri)


def _identifier(kind: str, text: str) -> str:
    """The identifier in one spelling. Numbers are 32 bits without sign (Part 6, 5.2.2.9)."""
    try:
        match kind:
            case "i":
                number = int(text) if text.isascii() and text.isdigit() else -1
                if not 0 <= number < 2**32:
                    raise ValueError("not a number from 0 to 4294967295")
                return str(number)
            case "g":
                return str(uuid.UUID(text))
            case "sx":
                return bytes.fromhex(text).decode()
            case "b":
                return base64.b64encode(base64.b64decode(text, validate=True)).decode()
            case _:
                return text
    except (ValueError, binascii.Error) as fault:
        raise ToolFault(f"{text[:60]!r} is no identifier of kind {kind}: {fault}. {FORM}") from fault


def _past(verb: str, text: str) -> Item:
    seconds, most = float(HISTORY_S), MOST_PAST
    while option := _OPTION.search(text):
        text = text[: option.start()]
        if option["name"] == "last":
            seconds = _duration(option["value"])
        elif option["value"].isascii() and option["value"].isdigit() and 0 < int(option["value"]) <= MOST_ASKED:
            most = int(option["value"])
        else:
            raise ToolFault(f"max={option['value'][:20]} is not a number from 1 to {MOST_ASKED}.")
    return Item(verb, node(text), seconds=seconds, most=most)


def _duration(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])", text)
    if not found or not float(found[1]):
        raise ToolFault(f"last={text[:20]} is no duration. Write last=30s, last=10m, last=2h or last=1d.")
    return float(found[1]) * _UNITS[found[2]]
