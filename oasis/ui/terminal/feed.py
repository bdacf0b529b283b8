"""Events of the loop, shown: finished things as lines in the scrollback, the rest in the live area."""

import time
from collections.abc import Callable
from dataclasses import replace

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
from oasis.ui.terminal import calls
from oasis.ui.terminal.bodies import shown, whole
from oasis.ui.terminal.drawer import Drawer
from oasis.ui.terminal.figures import Pace, step_line, turn_line
from oasis.ui.terminal.live import Live, Running
from oasis.ui.terminal.paint import Brush, words
from oasis.ui.terminal.printer import Printer
from oasis.ui.terminal.writing import Writing

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
        self._redraw, self._clock = redraw, clock
        self._printer = Printer(brush, write)
        self.writing = Writing(self._printer, live, drawer, redraw, clock)
        self._turn_began_s = 0.0
        self._started: dict[str, CallStarted] = {}
        self._shown_bodies: set[str] = set()
        self._told_unknown = False
        self._has_text = False
        self._ms_per_token = 0.0

    def show(self, event: Event) -> None:
        """Take in the next event. Text is drawn a little later, many pieces at once."""
        if isinstance(event, Text | Reasoning):
            self._has_text = True
            self.writing.add(event)
            return
        if not isinstance(event, Said):
            self.writing.settle()
        self._show(event)
        self._has_text &= isinstance(event, Said | Prefill | Heard)
        self._redraw()

    def say(self, *renderables: RenderableType, gap: bool = True) -> None:
        """Print something for good; with `gap` after an empty line.

        It stands above the block that is being written. Where a part of that block is printed already, it waits for
        the block's end.
        """
        self.writing.draw()
        self._printer.say(*renderables, gap=gap)

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

    def command(self, text: str) -> None:
        """Print a command that the person gave."""
        self.say(words(f"{self.brush.signs.prompt} {text}", "dim"))

    def folded(self, number: int) -> bool:
        """Print all of what was shown in brief under this number; False where there is no such thing."""
        found = self.drawer.get(number)
        if found is None:
            return False
        self.say(Line(f"#{number} {found.title}", "bold"), whole(found.text))
        return True

    def close(self) -> None:
        """Nothing more comes: what is unfinished is printed as it is."""
        self.writing.close()

    def call_of(self, preview: Preview) -> tuple[str, str]:
        """Tool and id of the call that this preview belongs to."""
        for call_id, started in self._started.items():
            if (started.preview.title, started.preview.subject) == (preview.title, preview.subject):
                return started.call.name, call_id
        return "", ""

    def announce(self, body: str, call_id: str = "") -> None:
        """Print a preview in full before a question is asked about it. It is not printed again afterwards."""
        if body.strip():
            self.say(whole(body))
        self._shown_bodies.add(call_id)

    def asked(self, call_id: str, is_waiting: bool) -> None:
        """A call waits for the person, or goes on; its time is counted from there."""
        if running := self.live.running.get(call_id):
            self.live.running[call_id] = Running(running.brief, self._clock(), is_waiting)

    def _show(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn_began_s = self._clock()
            case StepStarted():
                if self._has_text:  # the step before ended without its figures: the loop had stopped its message
                    self.note("The model repeated itself and was stopped; it is asked again.", "yellow")
                self._do("waiting for the model")
            case Prefill():
                self._prefill(event)
            case StepFinished():
                self._do("")
                self._step_finished(event)
            case CallStarted():
                self._started[event.call.id] = event
                self.live.running[event.call.id] = Running(calls.brief(event, self.brush.width - 16), self._clock())
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
            case Recomputed():
                self.note(f"  {self.brush.signs.warn} {event.words()}", "yellow")
            case Retrying():
                self._do("asking again")
                self.note(f"{event.reason} Again in {event.wait_s:g} s ({event.attempt}).", "yellow")
            case Compacted():
                from oasis.ui.headless import compacted_line  # noqa: PLC0415

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
        running = self.live.running.pop(event.call_id, None)
        started = self._started.pop(event.call_id, None)
        preview = started.preview if started else None
        body = preview.body if preview else ""
        was_shown = event.call_id in self._shown_bodies
        self._shown_bodies.discard(event.call_id)
        brief = running.brief if running else event.name
        number = self.drawer.put(brief, f"{body}\n\n{event.text}" if body and body != event.text else event.text)
        came = calls.result(event, preview, 48)
        line = Line(calls.line(brief, event, came, number, self.brush), calls.style(event))
        opened = shown(event, body if not was_shown else "", self.brush.width)
        self.say(line, *opened, gap=bool(opened))

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
            running = self.live.running.get(call_id)
            run_ms = 1000 * (self._clock() - running.since_s) if running else 0.0
            self._call_finished(CallFinished(call_id, started.call.name, Status.CANCELLED, "", run_ms))
        if event.detail:
            self.note(f"Stopped: {event.detail}", "yellow")
        if event.reason == "cancelled":
            self.note("Interrupted. What came so far is kept; write on, or ask for something else.", "yellow")
        self.note(f"  {turn_line(event, self._clock() - self._turn_began_s, self.brush.signs)}")
