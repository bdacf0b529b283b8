"""`!command`: run by the person in the project's folder, shown, and offered to the model with the next message."""

import asyncio
import time
from typing import TYPE_CHECKING

from rich.text import Text

from oasis.core.items import Notice, Status
from oasis.core.tool import Outcome
from oasis.errors import ToolFault
from oasis.ui.terminal.figures import duration
from oasis.ui.terminal.live import Running
from oasis.ui.terminal.paint import one_line, words

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace

SHOWN_LINES = 200
TIMEOUT_S = 3_600
_CALL_ID = "!"
RAN = "The engineer ran this in the project's folder:"


async def drop(place: "Workplace") -> None:
    """Leave out what was to go along with the next message."""
    waiting = place.conversation.attached
    kept = [notice for notice in waiting if not notice.text.startswith(RAN)]
    count, waiting[:] = len(waiting) - len(kept), kept
    place.live.attached.clear()
    place.say(f"{count} output{'s' * (count != 1)} left out." if count else "Nothing waits to go along.")


def end_shell(place: "Workplace") -> bool:
    """End the command that the person began last, with all its processes; False where none runs."""
    running = [stop for stop in place.shells if not stop.is_set()]
    if running:
        running[-1].set()
    return bool(running)


async def run_shell(place: "Workplace", command: str) -> None:
    """Run it as the tool `bash` does, bounded in time and memory. `!!command` is not offered to the model."""
    is_private = command.startswith("!")
    command = command.removeprefix("!").strip()
    equipment = place.conversation.equipment
    tool = equipment.tool("bash") if equipment else None
    if not command or tool is None:
        place.say("Write the command behind the mark: !git status" if tool else "The settings are still being read.")
        return
    from oasis.tools.bash import STOP  # noqa: PLC0415

    key, stop = f"{_CALL_ID}{id(asyncio.current_task())}", asyncio.Event()
    STOP.set(stop)
    place.shells.append(stop)
    place.feed.say(Text.assemble(("! ", "bold magenta"), words(command, "bold")))
    began = time.monotonic()
    place.live.running[key] = Running(f"! {one_line(command, 60)}", place.clock())
    place.redraw()
    try:
        outcome = await tool.run({"command": command, "timeout_s": TIMEOUT_S})
    except ToolFault as fault:
        outcome = Outcome(str(fault), Status.ERROR)
    finally:
        place.live.running.pop(key, None)
        place.shells.remove(stop)
    _show(place, command, outcome, time.monotonic() - began)
    if stop.is_set():
        place.feed.note("The command was ended; its output so far is kept.", "yellow")
    if not is_private:
        text = f"{RAN}\n$ {command}\n{outcome.text}"
        place.conversation.attached.append(Notice(text))
        said = f"output of {one_line(command, 30)} goes along; /drop leaves it out"
        place.live.attached.append(said)
    place.redraw()


def _show(place: "Workplace", command: str, outcome: Outcome, seconds: float) -> None:
    lines = outcome.text.rstrip("\n").split("\n")
    number = place.drawer.put(f"! {command}", outcome.text)
    shown = lines if len(lines) <= SHOWN_LINES else [*lines[: SHOWN_LINES // 2], "[…]", *lines[-SHOWN_LINES // 2 :]]
    style = "" if outcome.status is Status.OK else "red"
    place.feed.say(words("\n".join(shown)), gap=False)
    place.feed.note(f"  {duration(seconds)} {place.brush.signs.dot} #{number}", style or "dim")
