"""What a command is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


def nothing(place: "Workplace") -> Sequence[str]:
    """Completion of a command without arguments."""
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `run` may raise OasisError.

    is_for_idle  no turn is at work while it runs
    bare_shows   without an argument it only shows something, and need not wait
    """

    name: str
    arguments: str
    summary: str
    run: "Callable[[Workplace, str], Awaitable[None]]"
    complete: "Callable[[Workplace], Sequence[str]]" = nothing
    is_for_idle: bool = False
    bare_shows: bool = False

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()
