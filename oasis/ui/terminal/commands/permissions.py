"""/permissions and Shift-Tab: the mode, and what is allowed for this session. The prompt's prefix knows none of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import rows

if TYPE_CHECKING:
    from oasis.agent.permissions import Mode
    from oasis.ui.terminal.workplace import Workplace

MEANINGS = {
    "read-only": "nothing is written or run",
    "ask": "you are asked before anything is written or run",
    "accept-edits": "files of the project are changed without asking; commands are asked about",
}
_FORGET = "forget"


def switch(place: "Workplace", to: "Mode | None" = None) -> None:
    """Go to this mode, or to the next one. The model is told at the tail, with your next message."""
    from oasis.agent.permissions import Mode  # noqa: PLC0415

    permissions = place.conversation.equipped.permissions
    modes = list(Mode)
    permissions.mode = to or modes[(modes.index(permissions.mode) + 1) % len(modes)]
    place.redraw()


async def _permissions(place: "Workplace", argument: str) -> None:
    from oasis.agent.permissions import Mode  # noqa: PLC0415

    permissions = place.conversation.equipped.permissions
    wanted = argument.replace("-", "_").replace(" ", "_")
    if wanted in list(Mode):
        switch(place, Mode(wanted))
        place.say(f"Permissions: {argument}: {MEANINGS[wanted.replace('_', '-')]}.")
        return
    if argument == _FORGET:
        permissions.forget_for_session()
        place.say("What was allowed for this session is asked about again.")
        return
    if argument:
        place.say(f"There is no mode {argument!r}. There are: {', '.join(MEANINGS)}; {_FORGET}.")
        return
    now = permissions.mode.value.replace("_", "-")
    told = [(f"{'> ' if name == now else '  '}{name}", text) for name, text in MEANINGS.items()]
    told.append(("  allowed by you", ", ".join(permissions.allowed) or "nothing (setting `allow`)"))
    told.append(("  denied by you", ", ".join(permissions.denied) or "nothing (setting `deny`)"))
    told.append(("  this session", ", ".join(permissions.for_session) or "nothing"))
    told.append(("  devices", "each write is approved on its own, in every mode"))
    place.feed.say(rows(told))


def _modes(place: "Workplace") -> Sequence[str]:
    return [*MEANINGS, _FORGET]


COMMANDS = (
    Command("permissions", "[read-only|ask|accept-edits|forget]", "what runs without asking", _permissions, _modes),
)
