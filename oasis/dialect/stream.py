"""Reasoning and text as they arrive, with call syntax and control marks left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from oasis.core.events import Reasoning, Text
from oasis.dialect.marks import MARK


class _Where(Enum):
    """What is being written."""

    START = "start"
    REASONING = "reasoning"
    TEXT = "text"
    CALL = "call"
    HIDDEN = "hidden"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class StreamMarks:
    """The marks a streamer turns at.

    is_open     the prompt has opened the reasoning already
    text_open   what must open a text; empty where a text simply begins
    reopened    the opening of a message, which a template may write again after reasoning
    call_open   empty where a call is bare JSON at the beginning of the message
    stops       marks that end the message
    hidden      marks that show nothing and turn nothing
    """

    is_open: bool
    think_open: str
    think_close: str
    text_open: str
    reopened: str
    call_open: str
    call_close: str
    stops: Sequence[str]
    hidden: Sequence[str]

    def all(self) -> frozenset[str]:
        known = (self.think_open, self.think_close, self.text_open, self.call_open, *self.stops, *self.hidden)
        return frozenset(mark for mark in known if mark)


class Streamer:
    """Turns pieces of raw text into events. What might be the beginning of a mark is held back.

    Once the calls of a message begin, text shows again only after their close.
    """

    def __init__(self, marks: StreamMarks) -> None:
        self._marks = marks
        self._known = marks.all()
        self._where = _Where.REASONING if marks.is_open else self._start()
        self._held: str = ""
        self._space: str = ""
        self._is_after_call = False
        self._has_shown: set[_Where] = set()

    def feed(self, text: str) -> list[Reasoning | Text]:
        """The next piece of the message."""
        self._held += text
        shown: list[Reasoning | Text] = []
        while self._held and self._step(shown):
            pass
        return shown

    def close(self) -> list[Reasoning | Text]:
        """The message has ended: what was held back and is no mark."""
        rest, self._held = self._held, ""
        shown: list[Reasoning | Text] = []
        if self._where in (_Where.TEXT, _Where.REASONING):
            self._show(MARK.sub("", rest), shown)
        return shown

    def _start(self) -> _Where:
        return _Where.START if self._marks.text_open else _Where.TEXT

    def _step(self, shown: list[Reasoning | Text]) -> bool:
        """Take one stretch or one mark off the held text; False when more has to come first."""
        if self._where is _Where.ENDED:
            self._held = ""
            return False
        if self._where is _Where.CALL:
            return self._skip_call()
        if self._where is _Where.START:
            return self._begin()
        if self._starts_json():
            self._where = _Where.CALL
            return True
        return self._take(shown)

    def _take(self, shown: list[Reasoning | Text]) -> bool:
        """Show up to the next mark and turn at it."""
        found = [(at, -len(mark), mark) for mark in self._known if (at := self._held.find(mark)) >= 0]
        at, mark = (min(found)[0], min(found)[2]) if found else (self._safe_end(), "")
        if mark and any(other != mark and other.startswith(self._held[at:]) for other in self._known):
            mark = ""  # a longer mark may still come here
        if self._where is not _Where.HIDDEN:
            self._show(self._held[:at], shown)
        self._held = self._held[at + len(mark) :]
        if mark:
            self._turn(mark)
        return bool(mark)

    def _begin(self) -> bool:
        """At the start of a message, or after its reasoning: a text shows only behind what opens texts."""
        marks, held = self._marks, self._held.lstrip()
        lead = marks.reopened
        if lead and held.startswith(lead):
            held = held[len(lead) :].lstrip()
        for mark, where in ((marks.text_open, _Where.TEXT), (marks.think_open, _Where.REASONING)):
            if mark and held.startswith(mark):
                self._held, self._where = held[len(mark) :], where
                return True
        if any(mark.startswith(held) for mark in (marks.text_open, marks.think_open, lead) if mark):
            return False
        self._where = _Where.HIDDEN
        return True

    def _turn(self, mark: str) -> None:
        marks = self._marks
        if mark == marks.call_open:
            self._where = _Where.CALL
        elif mark == marks.think_close and self._where is _Where.REASONING:
            self._where = self._start()
        elif mark == marks.text_open:
            self._where = _Where.TEXT
        elif mark in marks.stops:
            self._where = _Where.ENDED
        elif mark == marks.think_open and _Where.TEXT not in self._has_shown:
            self._where = _Where.REASONING

    def _skip_call(self) -> bool:
        close = self._marks.call_close
        at = self._held.find(close) if close else -1
        if at < 0:
            self._held = self._held[max(0, len(self._held) - len(close) + 1) :] if close else ""
            return False
        self._held = self._held[at + len(close) :]
        self._where = _Where.HIDDEN if self._marks.text_open else _Where.TEXT
        self._is_after_call = True
        return True

    def _starts_json(self) -> bool:
        """Without an opening mark, a message that begins with a brace is a call."""
        if self._marks.call_open or self._where is not _Where.TEXT or _Where.TEXT in self._has_shown:
            return False
        return self._held.lstrip()[:1] in ("{", "[")

    def _safe_end(self) -> int:
        """Up to where no mark can begin."""
        longest = max(map(len, self._known), default=0)
        for at in range(max(0, len(self._held) - longest), len(self._held)):
            if any(mark.startswith(self._held[at:]) for mark in self._known):
                return at
        return len(self._held)

    def _show(self, text: str, shown: list[Reasoning | Text]) -> None:
        """Leading white space of each kind is left out, trailing white space waits for what follows."""
        if self._is_after_call and text.strip():
            self._space, text = "\n" if self._where in self._has_shown else "", text.lstrip()
            self._is_after_call = False
        text = self._space + text
        body = text.rstrip()
        if not body:
            self._space = text if self._where in self._has_shown else ""
            return
        self._space = text[len(body) :]
        if self._where not in self._has_shown:
            body = body.lstrip()
        self._has_shown.add(self._where)
        shown.append(Reasoning(body) if self._where is _Where.REASONING else Text(body))
