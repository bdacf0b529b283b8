"""The message that is being written: finished blocks are printed, the rest and the reasoning stand in the live area."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from oasis.core.events import Reasoning, Text
from oasis.ui.clean import clean
from oasis.ui.terminal.drawer import Drawer
from oasis.ui.terminal.figures import duration
from oasis.ui.terminal.live import Live
from oasis.ui.terminal.paint import words
from oasis.ui.terminal.printer import Printer
from oasis.ui.terminal.thought import Thought

if TYPE_CHECKING:
    from oasis.ui.terminal.blocks import Block, Blocks

TICK_S = 0.06
"""Pieces that come within this time are drawn together."""


class Writing:
    """What the model writes now. `redraw` asks for a new live area."""

    def __init__(
        self, printer: Printer, live: Live, drawer: Drawer, redraw: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self.shows_reasoning = False
        self._printer, self._live, self._drawer = printer, live, drawer
        self._redraw, self._clock = redraw, clock
        self._blocks: Blocks | None = None
        self._arrived: list[str] = []
        self._thought: Thought | None = None
        self._tick: asyncio.TimerHandle | None = None

    def add(self, event: Text | Reasoning) -> None:
        """Keep the piece; it is drawn within a tick."""
        if isinstance(event, Reasoning):
            self._thought = self._thought or Thought(self._clock())
            self._thought.add(clean(event.text))
            self._live.doing = "thinking"
        else:
            self._finish_thought()
            self._arrived.append(event.text)
            self._live.doing = "writing"
        self._live.pace = None
        if self._tick is None:
            self._tick = asyncio.get_running_loop().call_later(TICK_S, self._drawn_later)

    def draw(self) -> None:
        """Print the blocks that are finished, and have the unfinished rest in the live area."""
        if self._arrived:
            from oasis.ui.terminal.blocks import Blocks  # noqa: PLC0415
            from oasis.ui.terminal.markdown import Page  # noqa: PLC0415

            blocks = self._blocks = self._blocks or Blocks()
            text, self._arrived = clean("".join(self._arrived)), []
            for block in blocks.feed(text):
                self._print(block)
            if not blocks.is_cut:
                self._printer.let_go()
            self._printer.holds = blocks.is_cut
            tail = blocks.shown_tail()
            gap = "\n" * blocks.blank_lines if blocks.is_cut else self._printer.gap
            self._live.tail = gap + self._printer.brush.draw(Page(tail)) if tail.strip() else ""
        elif self._thought:
            self._live.tail = self._thought.tail(self._printer.brush)

    def settle(self) -> None:
        """Finish the message or thought that stands in the live area."""
        self.draw()
        for block in self._blocks.close() if self._blocks else ():
            self._print(block)
        self._printer.let_go()
        self._finish_thought()
        self._live.tail = ""

    def close(self) -> None:
        """Nothing more comes: what is unfinished is printed as it is."""
        self.settle()
        if self._tick:
            self._tick.cancel()
            self._tick = None

    def message(self, text: str) -> None:
        """Print a whole message."""
        from oasis.ui.terminal.blocks import Blocks  # noqa: PLC0415
        from oasis.ui.terminal.markdown import Page  # noqa: PLC0415

        blocks = Blocks()
        for block in [*blocks.feed(clean(text)), *blocks.close()]:
            self._printer.say(Page(block.source), gap=not block.goes_on, blank_lines=block.blank_lines)

    def thought(self, text: str, seconds: float) -> None:
        """Print reasoning, in full or folded to a line."""
        number = self._drawer.put("reasoning", text)
        if self.shows_reasoning:
            self._printer.say(words(text, "dim italic"))
        signs = self._printer.brush.signs
        told = [f"thought for {duration(max(1.0, seconds))}", f"{len(text.split()):,} words", f"#{number}"]
        self._printer.note(f"{signs.thought} " + f" {signs.dot} ".join(told))

    def _drawn_later(self) -> None:
        self._tick = None
        self.draw()
        self._redraw()

    def _finish_thought(self) -> None:
        """Fold the reasoning to one line, or print it where the person wants to see it."""
        thought, self._thought = self._thought, None
        if thought is None:
            return
        self._live.tail = ""
        if text := thought.text.strip():
            self.thought(text, self._clock() - thought.began_s)

    def _print(self, block: "Block") -> None:
        from oasis.ui.terminal.markdown import Page  # noqa: PLC0415

        page = Page(block.source)
        if block.goes_on:
            self._printer.block(page, blank_lines=block.blank_lines)
        else:
            self._printer.let_go()
            self._printer.say(page)
