"""/packs, /skills, /mcp: what was added to the built-in tools. All of it is frozen for the epoch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import rows
from oasis.ui.terminal.paint import one_line

if TYPE_CHECKING:
    from oasis.tools.mcp.toolset import Standing
    from oasis.ui.terminal.workplace import Workplace


async def _packs(place: "Workplace", argument: str) -> None:
    from oasis.packs import find_packs  # noqa: PLC0415

    talk = place.conversation
    if argument:
        talk.choose_packs(argument.replace(",", " ").split())
        named = ", ".join(talk.packs) or "none"
        if talk.session is None:
            await talk.begin()
            place.say(f"Packs: {named}.")
        else:
            place.say(f"Packs of the next session: {named}. The head of this one stays as it is; /new begins another.")
        return
    told = [
        (f"{'> ' if name in talk.packs else '  '}{name}", ", ".join(f"{scheme}://" for scheme in pack.drivers))
        for name, pack in find_packs().items()
    ]
    place.feed.say(rows(told or [("none", "no pack is installed")]))
    place.say("/packs NAME ... chooses packs; `packs` in oasis.toml, or --pack NAME, does for good.")


def _names(place: "Workplace") -> Sequence[str]:
    from importlib.metadata import entry_points  # noqa: PLC0415

    return [*sorted(entry.name for entry in entry_points(group="oasis.packs")), "none"]


async def _skills(place: "Workplace", argument: str) -> None:
    skills = place.conversation.equipped.box.skills
    if argument:
        place.feed.writing.message(skills.body(argument))
        return
    told = [(name, text) for name, _, text in (line.partition(": ") for line in _lines(place))]
    place.feed.say(rows(told or [("none", "no skill is there")]))


def _lines(place: "Workplace") -> list[str]:
    """A line for each skill: bundled, the chosen packs', the project's own."""
    from oasis.packs import chosen_packs, pack_words  # noqa: PLC0415

    equipment = place.conversation.equipped
    words = "\n".join(pack_words(chosen_packs(equipment.settings.packs))).split("\n")
    packs = [line.removeprefix("skill ") for line in words if line.startswith("skill ")]
    return [*equipment.box.skills.lines_bundled(), *packs, *equipment.box.skills.lines_project()]


def _skill_names(place: "Workplace") -> Sequence[str]:
    return [line.partition(": ")[0] for line in _lines(place)] if place.conversation.equipment else []


async def _mcp(place: "Workplace", argument: str) -> None:
    mcp = place.conversation.equipped.box.mcp
    if mcp is None and place.conversation.equipped.settings.mcp:
        place.say("The MCP servers are still being started.")
        return
    if mcp is None:
        place.say("No MCP server is set. A table [mcp.NAME] in your oasis.toml names one (docs/mcp.md).")
        return
    told = [(one.name, _standing(one)) for one in mcp.standing()]
    tools = [(tool.spec.name, one_line(tool.spec.description, 100)) for tool in mcp.tools]
    place.feed.say(rows(told), rows(tools))


def _standing(one: "Standing") -> str:
    """Whether a server runs, why not, where it is, its tools."""
    state = "runs" if one.is_running else f"does not run{f': {one.fault}' if one.fault else ''}"
    return "; ".join([state, one.place, *([f"tools: {', '.join(one.tools)}"] if one.tools else [])])


COMMANDS = (
    Command("packs", "[NAME ...|none]", "packs for devices: installed, chosen", _packs, _names),
    Command("skills", "[NAME]", "skills the model can load; with a name, its text", _skills, _skill_names),
    Command("mcp", "", "MCP servers and their tools", _mcp),
)
