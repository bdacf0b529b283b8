"""What a tool is: a specification for the model, a risk, a preview for the person, a run."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from oasis.core.closing import closed
from oasis.core.items import Status
from oasis.core.sound import sound

Arguments = Mapping[str, Any]


class Risk(StrEnum):
    """What a tool can do at worst. ACTUATE moves metal and is answered by an approved plan only."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    ACTUATE = "actuate"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def function(self) -> dict[str, Any]:
        """The specification in the form chat templates and chat servers take."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    @property
    def wire(self) -> bytes:
        return json.dumps(self.function(), ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do, shown before anyone is asked.

    `subject` is what rules match against (a path, a command line), `body` the whole of it: a diff, a
    command, before and after with wire bytes. With `guards`, a rule has to name this subject; a bare tool name
    does not cover it. `token` names the plan of what actuates: who approves it answers with this token.
    """

    title: str
    subject: str
    body: str = ""
    guards: bool = False
    token: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "subject", "body"):
            object.__setattr__(self, name, sound(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, as the model will read it: it always closes with a line in [ ]."""

    text: str
    status: Status = Status.OK

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", closed(self.text, self.status))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `run` and `preview` get arguments that fit `spec.parameters`; both may raise ToolFault.

    A cancelled `run` must leave nothing half-written. A tool that actuates is run by `actuate` in place of `run`, with
    the token of the plan its preview made and the name of who approved it.
    """

    spec: ToolSpec
    risk: Risk
    preview: Callable[[Arguments], Awaitable[Preview]]
    run: Callable[[Arguments], Awaitable[Outcome]]
    actuate: Callable[[str, str], Awaitable[Outcome]] | None = None
