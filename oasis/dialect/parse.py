"""From the text of a generated message to reasoning, text and calls, by the dialect's own syntax."""

from collections.abc import Sequence
from dataclasses import dataclass

from oasis.core.tool import ToolSpec
from oasis.dialect.ends import Ends
from oasis.dialect.found import Found, Syntax
from oasis.dialect.headed_calls import HeadedCalls
from oasis.dialect.marks import last_mark
from oasis.dialect.thinking import Thinking


@dataclass(frozen=True, slots=True)
class Read:
    """What was read from a message. `text_at` is where reasoning ends in the raw text."""

    reasoning: str
    text: str
    calls: tuple[Found, ...]
    text_at: int
    is_thinking: bool


@dataclass(frozen=True, slots=True)
class Reader:
    """How messages of one dialect are read. `keeps` are marks that never end a message."""

    ends: Ends
    thinking: Thinking
    syntax: Syntax | None
    stops: tuple[str, ...]
    keeps: frozenset[str]

    def read(self, raw: str, tools: Sequence[ToolSpec]) -> Read:
        """Read the message strictly."""
        lead = self.ends.generation
        text = lead + self.without_stop(raw)
        reasoning, at, is_open = self._reasoning(text, len(lead))
        calls = self.syntax.find(text, self._search_start(text, at, len(lead)), tools) if self.syntax else []
        if is_open:
            end = self._calls_start(text, at, calls) if calls else len(text)
            reasoning, at = text[at:end].strip(), end
        said = "" if is_open and not calls else self._said(text, at, calls)
        return Read(reasoning, said, tuple(calls), max(0, at - len(lead)), is_open and not calls)

    def without_stop(self, raw: str) -> str:
        """The raw text without the mark that ended it."""
        mark = self.stop_of(raw)
        return raw[: len(raw) - len(mark)] if mark else raw

    def stop_of(self, raw: str) -> str:
        """The mark that ended the message: a known stop, or any other mark that has no place inside one."""
        known = [stop for stop in self.stops if stop and raw.endswith(stop)]
        if known:
            return max(known, key=len)
        mark = last_mark(raw)
        is_stop = mark.startswith(("<|", "<｜")) or mark.startswith("<end") or mark in ("</s>", "<eos>")
        return mark if is_stop and mark not in self.keeps else ""

    def _reasoning(self, text: str, at: int) -> tuple[str, int, bool]:
        """Reasoning, where the rest begins, and whether reasoning is open to the end (then it begins there)."""
        opening, close = self.thinking.open, self.thinking.close
        if not close:
            return "", at, False
        start = self._thinking_start(text, at, opening)
        end = text.find(close, at if start is None else start)
        if start is None:
            if end < 0 or self._is_json(text, at) or self._is_call_before(text, at, end):
                return "", at, False
            return text[at:end].strip(), end + len(close), False
        if end < 0:
            return "", start, True
        return text[start:end].strip(), end + len(close), False

    def _search_start(self, text: str, at: int, lead: int) -> int:
        """Where a call may begin: its header may share marks with the prompt or with the end of reasoning."""
        if at == lead or text[:at].rstrip() == text[:lead].rstrip():
            return 0 if self._has_header else at
        close = self.thinking.close
        return at - len(close) if self._has_header and text.endswith(close, 0, at) else at

    @property
    def _has_header(self) -> bool:
        return isinstance(self.syntax, HeadedCalls)

    def _is_call_before(self, text: str, at: int, end: int) -> bool:
        """Whether a call opens before `end`: what closes reasoning there is part of an argument."""
        if self.syntax is None:
            return False
        if self.syntax.section and 0 <= text.find(self.syntax.section, at) < end:
            return True
        return any(call.start < end for call in self.syntax.find(text, self._search_start(text, at, at), ()))

    @staticmethod
    def _is_json(text: str, at: int) -> bool:
        return text[at:].lstrip()[:1] in ("{", "[")

    @staticmethod
    def _thinking_start(text: str, at: int, opening: str) -> int | None:
        """Where reasoning begins when its mark stands at the end of the prompt or opens the message."""
        if not opening:
            return None
        if text[:at].rstrip().endswith(opening):
            return at
        rest = text[at:]
        lead = len(rest) - len(rest.lstrip())
        if rest.startswith(opening, lead):
            return at + lead + len(opening)
        return None

    def _calls_start(self, text: str, at: int, calls: Sequence[Found]) -> int:
        section = self.syntax.section if self.syntax else ""
        start = text.rfind(section, at, calls[0].start + len(section)) if section else -1
        return start if start >= 0 else calls[0].start

    def _said(self, text: str, at: int, calls: Sequence[Found]) -> str:
        """The text before and after the calls, without the marks around it."""
        if not calls:
            return self.clean(text[at:])
        before = self.clean(text[at : max(at, self._calls_start(text, at, calls))])
        after = text[calls[-1].end :]
        return "\n".join(part for part in (before, self._after_calls(after)) if part)

    def _after_calls(self, after: str) -> str:
        """What follows the last call's close; the close and what belongs to it are left out."""
        ends = [at for stop in self.stops if stop and (at := after.find(stop)) >= 0]
        after = after[: min(ends, default=len(after))].lstrip()
        tail = self.ends.call_tail
        for at in range(len(tail) + 1):
            if tail[at:].strip() and after.startswith(tail[at:]):
                return self.clean(after[len(tail) - at :])
        close = self.syntax.close if self.syntax else ""
        if close and close in after:
            return self.clean(after[after.rindex(close) + len(close) :])
        return "" if not close else self.clean(after)

    def clean(self, text: str) -> str:
        """The text without what opens and ends it."""
        text = text.strip()
        lead = self.ends.generation.strip()
        if lead and text.startswith(lead):
            text = text[len(lead) :].lstrip()
        for opened in (self.thinking.text_open, self.thinking.aside_open):
            if opened and text.startswith(opened):
                text = self.without_stop(text[len(opened) :])
        tail = self.ends.text_tail.strip()
        return text.removesuffix(tail).strip() if tail else text.strip()
