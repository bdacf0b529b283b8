"""What stands between the scrollback and the prompt while something is going on, as a state and as text."""

from dataclasses import dataclass, field

from oasis.ui.terminal.figures import Pace, duration, prefill_bar
from oasis.ui.terminal.paint import Glyphs, one_line

MAX_QUEUED_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Running:
    """A tool at work since `since_s`, or waiting for the person's answer."""

    brief: str
    since_s: float
    is_waiting: bool = False


@dataclass
class Live:
    """The state that the live area shows.

    tail      the unfinished block of the message, drawn
    doing     what the model or Oasis is at, in words; empty when idle
    since_s   when that began
    running   the tools that run, by call id
    queued    what the person typed meanwhile
    attached  what goes along with the next message
    """

    tail: str = ""
    doing: str = ""
    since_s: float = 0.0
    pace: Pace | None = None
    running: dict[str, Running] = field(default_factory=dict[str, Running])
    queued: list[str] = field(default_factory=list[str])
    attached: list[str] = field(default_factory=list[str])

    @property
    def is_busy(self) -> bool:
        return bool(self.doing) or (self.pace is not None and not self.pace.is_done)

    def tail_rows(self, rows: int) -> str:
        """The last `rows` rows of the tail."""
        return "\n".join(self.tail.rstrip("\n").split("\n")[-max(1, rows) :])

    def activity(self, now_s: float, width: int, signs: Glyphs) -> list[str]:
        """One line for each thing that goes on."""
        lines: list[str] = []
        if self.pace is not None:
            lines.append(prefill_bar(self.pace, now_s, signs))
            if self.pace.is_done and not self.doing:
                lines.clear()
        for running in self.running.values():
            told = "waits for your answer" if running.is_waiting else duration(max(1.0, now_s - running.since_s))
            lines.append(f"{signs.run} {running.brief} {signs.dot} {told}")
        if self.doing and not lines:
            lines.append(f"{signs.run} {self.doing} {signs.dot} {duration(max(1.0, now_s - self.since_s))}")
        return [one_line(line, width) for line in lines[:6]]

    def waiting(self, width: int, signs: Glyphs) -> list[str]:
        """What was typed ahead and what goes along with the next message."""
        lines = [f"{signs.queued} {one_line(text, width - 2)}" for text in self.queued[:MAX_QUEUED_SHOWN]]
        if len(self.queued) > MAX_QUEUED_SHOWN:
            lines.append(f"  and {len(self.queued) - MAX_QUEUED_SHOWN} more")
        if self.queued:
            lines.append("  goes to the model at the next safe point; Up takes it back to edit")
        lines += [f"+ {one_line(text, width - 2)}" for text in self.attached]
        return lines
