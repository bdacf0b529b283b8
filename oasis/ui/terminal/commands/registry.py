"""The commands of the interactive session, found by name; each family has a small file."""

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands import (
    about,
    cache,
    copied,
    files,
    model,
    opened,
    permissions,
    plant,
    session,
    tools,
)
from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.commands.help import help_on

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace

_ALL = (
    *about.COMMANDS,
    *model.COMMANDS,
    *tools.COMMANDS,
    *permissions.COMMANDS,
    *plant.COMMANDS,
    *files.COMMANDS,
    *cache.COMMANDS,
    *session.COMMANDS,
    *opened.COMMANDS,
    *copied.COMMANDS,
)
COMMANDS: Mapping[str, Command] = {command.name: command for command in (help_on(_ALL), *_ALL)}
ALIASES: Mapping[str, str] = {"exit": "quit", "clear": "new", "cost": "status"}
"""Other names, as they are elsewhere."""


def arguments_of(place: "Workplace", name: str) -> Sequence[str]:
    """What may follow the command `name`."""
    command = COMMANDS.get(name)
    return command.complete(place) if command else ()


async def run_command(place: "Workplace", text: str) -> None:
    """Run `/name argument`, or the one command that begins so; what is misspelt is told with the nearest name."""
    name, _, argument = text[1:].partition(" ")
    name, argument = ALIASES.get(name, name), argument.strip()
    begun = [command for known, command in COMMANDS.items() if name and known.startswith(name)]
    command = COMMANDS.get(name) or (begun[0] if len(begun) == 1 else None)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
        place.say(f"There is no command /{name}. {hint}")
        return
    if not command.is_for_idle or (command.bare_shows and not argument):
        await command.run(place, argument)
    elif place.conversation.is_working:
        place.say(f"/{name} has to wait until the turn ends; Esc interrupts it.")
    else:
        async with place.turns:
            await command.run(place, argument)
    place.redraw()
