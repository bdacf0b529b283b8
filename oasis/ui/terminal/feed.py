"""Events of the loop, shown: finished things as lines in the scrollback, the rest in the live area."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text as Line

from oasis.core.events import (
    CallFinished,
    CallStarted,
    Compacted,
    Compacting,
    Event,
    Heard,
    Prefill,
    Reasoning,
    Recomputed,
    Retrying,
    Said,
    StepFinished,
    StepStarted,
    Text,
    TurnFinished,
    TurnStarted,
)
from oasis.core.items import Status
from oasis.core.tool import Preview
from oasis.ui.clean import clean
from oasis.ui.headless import compacted_line
from oasis.ui.terminal import calls
from oasis.ui.terminal.diff import coloured
from oasis.ui.terminal.drawer import Drawer
from oasis.ui.terminal.figures import Pace, duration, step_line, turn_line
from oasis.ui.terminal.live import Live
from oasis.ui.terminal.paint import Brush, words

if TYPE_CHECKING:
    from rich.table import Table

    from oasis.ui.terminal.markdown import Block, Blocks

TICK_S = 0.06
THOUGHT_ROWS = 3
PERSON_LINES = 12
RATE_TOKENS = 64
"""A prefill of fewer tokens says nothing of a rate."""


class Feed:
    """Shows a conversation as it goes on. `write` takes finished lines, `redraw` asks for a new live area."""

    def __init__(
        self,
        brush: Brush,
        live: Live,
        drawer: Drawer,
        write: Callable[[str], None],
        redraw: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.brush, self.live, self.drawer = brush, live, drawer
        self.shows_reasoning = False
        self._write, self._redraw, self._clock = write, redraw, clock
        self._blocks: Blocks | None = None
        self._arrived: list[str] = []
        self._thought: list[str] = []
        self._thought_began_s = 0.0
        self._turn_began_s = 0.0
        self._held: list[tuple[str, bool]] = []
        self._started: dict[str, CallStarted] = {}
        self._shown_bodies: set[str] = set()
        self._tick: asyncio.TimerHandle | None = None
        self._wants_gap = False
        self._told_unknown = False
        self._ms_per_token = 0.0

    def show(self, event: Event) -> None:
        """Take in the next event. Text is drawn a little later, many pieces at once."""
        if isinstance(event, Text | Reasoning):
            self._stream(event)
            return
        if not isinstance(event, Said):
            self.settle()
        self._show(event)
        self._redraw()

    def say(self, *renderables: RenderableType, gap: bool = True) -> None:
        """Print something for good; with `gap` after an empty line.

        It stands above the block that is being written. Where a part of that block is printed already, it waits for
        the block's end.
        """
        self._draw_arrived()
        drawn = self.brush.draw(*renderables)
        if drawn and self._blocks and self._blocks.is_cut:
            self._held.append((drawn, gap))
        elif drawn:
            self._print(drawn, gap=gap)

    def note(self, text: str, style: str = "dim") -> None:
        """Print a line that is about the conversation and no part of it."""
        self.say(words(text, style), gap=False)

    def person(self, text: str) -> None:
        """Print what the person sent."""
        lines = clean(text).split("\n")
        mark = (f"{self.brush.signs.prompt} ", "bold cyan")
        self.say(Line.assemble(mark, words("\n".join(lines[:PERSON_LINES]), "bold")))
        if len(lines) > PERSON_LINES:
            number = self.drawer.put("what you sent", text)
            self.note(f"  {len(lines) - PERSON_LINES:,} more lines {self.brush.signs.dot} #{number}")

    def message(self, text: str) -> None:
        """Print a whole message of the model."""
        from oasis.ui.terminal.markdown import Blocks, Page  # noqa: PLC0415

        blocks = Blocks()
        for block in [*blocks.feed(clean(text)), *blocks.close()]:
            self.say(Page(block.source), gap=not block.goes_on)

    def folded(self, number: int) -> bool:
        """Print all of what was shown in brief under this number; False where there is no such thing."""
        found = self.drawer.get(number)
        if found is None:
            return False
        self.say(Line(f"#{number} {found.title}", "bold"), *self._whole(found.text))
        return True

    def settle(self) -> None:
        """Draw what has arrived, and finish the message or thought that stands in the live area."""
        self._draw_arrived()
        for block in self._blocks.close() if self._blocks else ():
            self._block(block)
        self._let_go()
        self._finish_thought()
        self.live.tail = ""

    def close(self) -> None:
        """Nothing more comes: what is unfinished is printed as it is."""
        self.settle()
        if self._tick:
            self._tick.cancel()
            self._tick = None

    def call_of(self, preview: Preview) -> tuple[str, str]:
        """Tool and id of the call that this preview belongs to."""
        for call_id, started in self._started.items():
            if (started.preview.title, started.preview.subject) == (preview.title, preview.subject):
                return started.call.name, call_id
        return "", ""

    def announce(self, body: str, call_id: str = "") -> None:
        """Print a preview in full before a question is asked about it. It is not printed again afterwards."""
        if body.strip():
            self.say(*(self._whole(body)))
        self._shown_bodies.add(call_id)

    def _whole(self, text: str) -> list[RenderableType]:
        if calls.is_diff(text):
            return [coloured(text, max_lines=10_000)]
        table = _table(text)
        return [table] if table is not None else [words(text)]

    def _show(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn_began_s = self._clock()
            case StepStarted():
                self._do("waiting for the model")
            case Prefill():
                self._prefill(event)
            case StepFinished():
                self._do("")
                self._step_finished(event)
            case Recomputed():
                self.note(f"  {self.brush.signs.warn} {event.words()}", "yellow")
            case CallStarted():
                self._started[event.call.id] = event
                self.live.running[event.call.id] = (calls.brief(event, self.brush.width - 16), self._clock())
            case CallFinished():
                self._call_finished(event)
            case Compacting():
                self._do(f"compacting a prompt of {event.prompt_tokens:,} tokens")
            case TurnFinished():
                self._turn_finished(event)
            case _:
                self._show_line(event)

    def _show_line(self, event: Event) -> None:
        """Events that are a line each."""
        match event:
            case StepFinished():
                self._step_finished(event)
            case Recomputed():
                self.note(f"  {self.brush.signs.warn} {event.words()}", "yellow")
            case Retrying():
                self._do("asking again")
                self.note(f"{event.reason} Again in {event.wait_s:g} s ({event.attempt}).", "yellow")
            case Compacted():
                self.note(compacted_line(event))
            case Heard():
                self.person(event.text)
            case Said():
                self.note(event.text)
            case _:
                pass

    def _do(self, what: str) -> None:
        self.live.doing, self.live.since_s, self.live.pace = what, self._clock(), None

    def _prefill(self, event: Prefill) -> None:
        pace = self.live.pace
        if pace is None or pace.now.total_tokens != event.total_tokens:
            pace = Pace(self._clock(), event.done_tokens, event, self._ms_per_token)
        self.live.pace = replace(pace, now=event)

    def _call_finished(self, event: CallFinished) -> None:
        brief, _ = self.live.running.pop(event.call_id, (event.name, 0.0))
        started = self._started.pop(event.call_id, None)
        body = started.preview.body if started else ""
        was_shown = event.call_id in self._shown_bodies
        self._shown_bodies.discard(event.call_id)
        whole = f"{body}\n\n{event.text}" if body and body != event.text else event.text
        number = self.drawer.put(brief, whole)
        line = calls.line(brief, event, calls.result(event, body, 48), number, self.brush)
        style = (
            "red"
            if event.status in (Status.ERROR, Status.UNKNOWN)
            else "yellow"
            if event.status is not Status.OK
            else ""
        )
        shown: list[RenderableType] = [Line(line, style)]
        if event.status is Status.OK and calls.is_diff(body) and not was_shown:
            shown.append(coloured(body))
        table = _table(event.text) if event.status is Status.OK else None
        self.say(*shown, *([table] if table is not None else []), gap=len(shown) > 1 or table is not None)

    def _step_finished(self, event: StepFinished) -> None:
        if event.usage.computed_tokens >= RATE_TOKENS and event.usage.prefill_ms:
            self._ms_per_token = event.usage.prefill_ms / event.usage.computed_tokens
        if line := step_line(event, self.brush.signs):
            self.note(f"  {line}")
        if not event.usage.is_cache_known and not self._told_unknown:
            self._told_unknown = True
            self.note("  This server does not say what it reused.")

    def _turn_finished(self, event: TurnFinished) -> None:
        self._do("")
        for call_id, started in [*self._started.items()]:
            _, began_s = self.live.running.get(call_id, ("", self._clock()))
            run_ms = 1000 * (self._clock() - began_s)
            self._call_finished(CallFinished(call_id, started.call.name, Status.CANCELLED, "", run_ms))
        if event.detail:
            self.note(f"Stopped: {event.detail}", "yellow")
        if event.reason == "cancelled":
            self.note("Interrupted. What came so far is kept; write on, or ask for something else.", "yellow")
        self.note(f"  {turn_line(event, self._clock() - self._turn_began_s, self.brush.signs)}")

    def _stream(self, event: Text | Reasoning) -> None:
        """Keep the piece; draw within a tick."""
        if isinstance(event, Reasoning):
            if not self._thought:
                self._thought_began_s = self._clock()
            self._thought.append(event.text)
            self.live.doing = "thinking"
        else:
            self._finish_thought()
            self._arrived.append(event.text)
            self.live.doing = "writing"
        self.live.pace = None
        if self._tick is None:
            self._tick = asyncio.get_running_loop().call_later(TICK_S, self._drawn_later)

    def _drawn_later(self) -> None:
        self._tick = None
        self._draw_arrived()
        self._redraw()

    def _draw_arrived(self) -> None:
        if self._arrived:
            from oasis.ui.terminal.markdown import Blocks, Page  # noqa: PLC0415

            blocks = self._blocks = self._blocks or Blocks()
            text, self._arrived = clean("".join(self._arrived)), []
            for block in blocks.feed(text):
                self._block(block)
            if not blocks.is_cut:
                self._let_go()
            tail = blocks.shown_tail()
            self.live.tail = self.brush.draw(Page(tail)) if tail.strip() else ""
        elif self._thought:
            recent = "".join(self._thought[-200:])[-400:]
            rows = self.brush.draw(words(recent, "dim italic")).rstrip("\n").split("\n")
            self.live.tail = "\n".join(rows[-THOUGHT_ROWS:])

    def _finish_thought(self) -> None:
        """Fold the reasoning to one line, or print it where the person wants to see it."""
        if not self._thought:
            return
        text, self._thought = clean("".join(self._thought)).strip(), []
        self.live.tail = ""
        if text:
            self.thought(text, self._clock() - self._thought_began_s)

    def thought(self, text: str, seconds: float) -> None:
        """Print reasoning, in full or folded to a line."""
        number = self.drawer.put("reasoning", text)
        took = duration(max(1.0, seconds))
        if self.shows_reasoning:
            self.say(words(text, "dim italic"))
        signs = self.brush.signs
        self.note(f"{signs.thought} thought for {took} {signs.dot} {len(text.split()):,} words {signs.dot} #{number}")

    def _block(self, block: "Block") -> None:
        from oasis.ui.terminal.markdown import Page  # noqa: PLC0415

        if not block.goes_on:
            self._let_go()
        self._print(self.brush.draw(Page(block.source)), gap=not block.goes_on)

    def _print(self, drawn: str, *, gap: bool) -> None:
        if drawn:
            self._write(("\n" if gap and self._wants_gap else "") + drawn)
            self._wants_gap = True

    def _let_go(self) -> None:
        """Print what waited for the end of a block."""
        held, self._held = self._held, []
        for drawn, gap in held:
            self._print(drawn, gap=gap)


def _table(text: str) -> "Table | None":
    """Device values as a table; None for any other text."""
    if not text.startswith("["):
        return None
    from oasis.ui.terminal.tables import device_table  # noqa: PLC0415

    return device_table(text)
