"""`!command`: run by the person in the project's folder, shown, and offered to the model with the next message."""

import asyncio
import time
from typing import TYPE_CHECKING

from rich.text import Text

from oasis.core.items import Notice, Status
from oasis.core.tool import Outcome
from oasis.errors import ToolFault
from oasis.ui.terminal.figures import duration
from oasis.ui.terminal.paint import one_line, words

if TYPE_CHECKING:
    from oasis.ui.terminal.terminal import Terminal

SHOWN_LINES = 200
TIMEOUT_S = 3_600
_CALL_ID = "!"
RAN = "The engineer ran this in the project's folder:"


async def drop(terminal: "Terminal") -> None:
    """Leave out what was to go along with the next message."""
    waiting = terminal.conversation.attached
    kept = [notice for notice in waiting if not notice.text.startswith(RAN)]
    count, waiting[:] = len(waiting) - len(kept), kept
    terminal.live.attached.clear()
    terminal.say(f"{count} output{'s' * (count != 1)} left out." if count else "Nothing waits to go along.")


def end_shell(terminal: "Terminal") -> bool:
    """End the command that the person began last, with all its processes; False where none runs."""
    running = [stop for stop in terminal.shells if not stop.is_set()]
    if running:
        running[-1].set()
    return bool(running)


async def run_shell(terminal: "Terminal", command: str) -> None:
    """Run it as the tool `bash` does, bounded in time and memory. `!!command` is not offered to the model."""
    is_private = command.startswith("!")
    command = command.removeprefix("!").strip()
    tool = terminal.conversation.tool("bash")
    if not command or tool is None:
        terminal.say("Write the command behind the mark: !git status" if tool else "The settings are still being read.")
        return
    from oasis.tools.bash import STOP  # noqa: PLC0415

    key, stop = f"{_CALL_ID}{id(asyncio.current_task())}", asyncio.Event()
    STOP.set(stop)
    terminal.shells.append(stop)
    terminal.feed.say(Text.assemble(("! ", "bold magenta"), words(command, "bold")))
    began = time.monotonic()
    terminal.live.running[key] = (f"! {one_line(command, 60)}", terminal.clock())
    terminal.redraw()
    try:
        outcome = await tool.run({"command": command, "timeout_s": TIMEOUT_S})
    except ToolFault as fault:
        outcome = Outcome(str(fault), Status.ERROR)
    finally:
        terminal.live.running.pop(key, None)
        terminal.shells.remove(stop)
    _show(terminal, command, outcome, time.monotonic() - began)
    if stop.is_set():
        terminal.feed.note("The command was ended; its output so far is kept.", "yellow")
    if not is_private:
        text = f"{RAN}\n$ {command}\n{outcome.text}"
        terminal.conversation.attached.append(Notice(text))
        said = f"output of {one_line(command, 30)} goes along; /drop leaves it out"
        terminal.live.attached.append(said)
    terminal.redraw()


def _show(terminal: "Terminal", command: str, outcome: Outcome, seconds: float) -> None:
    lines = outcome.text.rstrip("\n").split("\n")
    number = terminal.drawer.put(f"! {command}", outcome.text)
    shown = lines if len(lines) <= SHOWN_LINES else [*lines[: SHOWN_LINES // 2], "[…]", *lines[-SHOWN_LINES // 2 :]]
    style = "" if outcome.status is Status.OK else "red"
    terminal.feed.say(words("\n".join(shown)), gap=False)
    terminal.feed.note(f"  {duration(seconds)} {terminal.brush.signs.dot} #{number}", style or "dim")
