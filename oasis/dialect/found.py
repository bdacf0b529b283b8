"""What a call syntax finds in a message."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from oasis.core.items import ToolCall
from oasis.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Found:
    """One call in a text. `arguments` is None when they could not be read; `written` is what stands there.

    start, end   from the call's opening to just after its arguments
    id           as the model wrote it, empty where the syntax has none
    """

    name: str
    arguments: Mapping[str, Any] | None
    written: str
    start: int
    end: int
    id: str = ""
    fault: str = ""

    def as_call(self, new_id: str) -> ToolCall:
        """The call for the transcript, under the id the model wrote or else `new_id`."""
        if self.fault or self.arguments is None:
            return ToolCall(self.id or new_id, self.name, self.written, self.fault or "the arguments cannot be read")
        return ToolCall(self.id or new_id, self.name, json.dumps(self.arguments, ensure_ascii=False))


class Syntax(Protocol):
    """A way of writing calls.

    mode      its name, for printing
    section   what opens the calls of a message, white space left out; empty where nothing does
    close     the mark that ends a call, empty where nothing does
    """

    @property
    def mode(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def close(self) -> str: ...

    def find(self, text: str, at: int, tools: Sequence[ToolSpec]) -> list[Found]:
        """The calls in `text` from `at` on, in order."""
        ...


def properties(tools: Sequence[ToolSpec], name: str) -> Mapping[str, Any]:
    """The parameters of the tool of that name, by name; empty for an unknown tool."""
    for tool in tools:
        if tool.name == name:
            return cast("Mapping[str, Any]", tool.parameters.get("properties") or {})
    return {}
