"""What answers a call before it runs: an ordered list of rules, the first answer wins."""

from collections.abc import Callable
from dataclasses import dataclass

from oasis.core.items import ToolCall
from oasis.core.tool import Preview, Tool


@dataclass(frozen=True, slots=True)
class Allow:
    """Run it. What actuates is run only with the `token` of the plan that was shown; `by` says who answered."""

    token: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not run it; `reason` goes to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides, with the preview before their eyes."""

    preview: Preview


Decision = Allow | Deny | Ask
Rule = Callable[[Tool, ToolCall, Preview], Decision | None]
