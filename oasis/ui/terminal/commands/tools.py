"""/packs, /skills, /mcp: what was added to the built-in tools. All of it is frozen for the epoch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.about import rows
from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.paint import one_line

if TYPE_CHECKING:
    from oasis.ui.terminal.terminal import Terminal


async def _packs(terminal: "Terminal", argument: str) -> None:
    from oasis.packs import find_packs  # noqa: PLC0415

    talk = terminal.conversation
    chosen = talk.settings.packs if talk.settings else []
    if argument:
        await talk.choose_packs(argument.split())
        terminal.say(
            f"Packs: {', '.join(talk.packs) or 'none'}. They are in the head of the next session: /new begins one."
            if talk.session
            else f"Packs: {', '.join(talk.packs) or 'none'}."
        )
        return
    told = [
        (f"{'> ' if name in chosen else '  '}{name}", ", ".join(f"{scheme}://" for scheme in pack.drivers))
        for name, pack in find_packs().items()
    ]
    terminal.feed.say(rows(told or [("none", "no pack is installed")]))
    terminal.say("/packs NAME ... chooses packs; `packs` in oasis.toml, or --pack NAME, does for good.")


def _names(terminal: "Terminal") -> Sequence[str]:
    from importlib.metadata import entry_points  # noqa: PLC0415

    return [*sorted(entry.name for entry in entry_points(group="oasis.packs")), "none"]


async def _skills(terminal: "Terminal", argument: str) -> None:
    box = terminal.conversation.box
    if box is None:
        terminal.say("The settings are still being read.")
        return
    if argument:
        terminal.feed.message(box.skills.body(argument))
        return
    lines = [*box.skills.lines_bundled(), *box.skills.lines_project()]
    told = [(name, text) for name, _, text in (line.partition(": ") for line in lines)]
    terminal.feed.say(rows(told or [("none", "no skill is there")]))


def _skill_names(terminal: "Terminal") -> Sequence[str]:
    box = terminal.conversation.box
    lines = [*box.skills.lines_bundled(), *box.skills.lines_project()] if box else []
    return [line.partition(": ")[0] for line in lines]


async def _mcp(terminal: "Terminal", argument: str) -> None:
    box = terminal.conversation.box
    foreign = [tool for tool in box.registry.tools if "__" in tool.spec.name or "." in tool.spec.name] if box else []
    told = [(tool.spec.name, one_line(tool.spec.description, 80)) for tool in foreign]
    terminal.feed.say(rows(told or [("none", "no MCP server is configured (docs/configuration.md)")]))


COMMANDS = (
    Command("packs", "[NAME ...|none]", "packs for devices: installed, chosen", _packs, _names),
    Command("skills", "[NAME]", "skills the model can load; with a name, its text", _skills, _skill_names),
    Command("mcp", "", "MCP servers and their tools", _mcp),
)
