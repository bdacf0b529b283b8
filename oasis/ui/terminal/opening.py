"""What happens between the first prompt on the screen and the first message: settings, model, servers, a resume."""

import asyncio
import os
from typing import TYPE_CHECKING

from prompt_toolkit.enums import EditingMode

from oasis.errors import ConfigError, EngineFault, OasisError, ServerFault
from oasis.ui.terminal.live import Running

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


async def open_up(place: "Workplace") -> OasisError | None:
    """Bring the session to where a message can be sent; the fault that makes it pointless, if there is one.

    A model that is not there is told about and named later.
    """
    talk = place.conversation
    try:
        await talk.load()
        place.has_settings = True
        _apply_settings(place)
        await asyncio.gather(_start_servers(place), _connect(place))
    except ConfigError as fault:
        if talk.equipment is None:
            return fault
        place.say(str(fault))
    except (EngineFault, ServerFault) as fault:
        place.say(f"{fault} /model connects another one.")
    if talk.connection is not None and place.start.resume is not None:
        from oasis.ui.terminal.resuming import resume  # noqa: PLC0415

        await resume(place, place.start.resume)
    talk.warm()
    if talk.connection is not None:
        await talk.decide_end()
    return None


async def _start_servers(place: "Workplace") -> None:
    """Start the MCP servers; as long as that takes, nothing is sent, and the screen says why."""
    talk = place.conversation
    if talk.equipped.settings.mcp:
        place.live.running["servers"] = Running("MCP servers start", place.clock())
        place.redraw()
    try:
        await talk.start_servers()
    finally:
        place.live.running.pop("servers", None)
        place.redraw()


async def _connect(place: "Workplace") -> None:
    """Connect as the settings say; where they name no model, find out on what to run."""
    from oasis.agent.first_start import is_needed  # noqa: PLC0415

    settings = place.conversation.equipped.settings
    if is_needed(settings):
        from oasis.ui.terminal.welcome import choose_model  # noqa: PLC0415

        chosen = await choose_model(place)
        if chosen is None:
            place.say("Nothing can be sent yet: /model FILE.gguf, /model NAME or /model URL connects a model.")
            return
        settings = chosen
    await place.conversation.connect(settings)


def _apply_settings(place: "Workplace") -> None:
    settings = place.conversation.equipped.settings
    if place.app is not None:
        place.app.editing_mode = EditingMode.VI if settings.keys == "vi" else EditingMode.EMACS
    if settings.editor:
        os.environ["VISUAL"] = settings.editor
