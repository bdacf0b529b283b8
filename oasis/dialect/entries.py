"""A conversation before it takes a template's form, and the sentinels that inference puts into one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from oasis.core.tool import ToolSpec

SYSTEM: Final = "ZqSysqZ"
USER: Final = "ZqUserqZ"
TWO: Final = "ZqTwoqZ"
OUT: Final = "ZqOutqZ"
REASON: Final = "ZqReaqZ"
END: Final = "ZqEndqZ"
NAME: Final = "zqname"
OTHER_NAME: Final = "zqother"
KEY: Final = "zqk"


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message. `call_id` and `name` belong to a tool output."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""


def call_id(number: int) -> str:
    """An id every template accepts: nine letters and digits (Mistral wants exactly that)."""
    return f"zqid{number:05d}"


ID: Final = call_id(1)


def call(arguments: Mapping[str, Any], name: str = NAME, number: int = 1) -> Call:
    return Call(call_id(number), name, arguments)


def model(text: str = "", reasoning: str = "", *calls: Call) -> Entry:
    """A message of the model."""
    return Entry("assistant", text, reasoning, calls)


def output(text: str = OUT, name: str = NAME, number: int = 1) -> Entry:
    return Entry("tool", text, call_id=call_id(number), name=name)


def user(text: str) -> Entry:
    return Entry("user", text)


BASE: Final = (Entry("system", SYSTEM), user(USER))


def _spec(name: str) -> ToolSpec:
    text = {"type": "string", "description": "text"}
    number = {"type": "integer", "description": "number"}
    return ToolSpec(
        name,
        f"Does {name}.",
        {"type": "object", "properties": {KEY: text, "zqa": text, "zqb": number}, "required": [KEY]},
    )


SPECS: Final = (_spec(NAME), _spec(OTHER_NAME))
