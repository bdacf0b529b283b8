"""Asking before something runs: exactly what will run, and four answers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oasis.core.rule import Allow, Ask, Deny
from oasis.core.tool import Preview
from oasis.ui.terminal.paint import fitted, one_line

if TYPE_CHECKING:
    from oasis.agent.gate import Answer

BY = "the engineer at the terminal"
_PLAIN_DENIAL = "The engineer denied this. Do not try it another way; ask what they want instead, or go on without it."


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that can be chosen by its key."""

    key: str
    name: str
    text: str


ONCE = Choice("y", "once", "yes, this once")
DENY = Choice("n", "deny", "no")
GO = Choice("y", "once", "yes")
STAY = Choice("n", "deny", "no")
WHY = Choice("w", "why", "no, and say why")


@dataclass(slots=True)
class Question:
    """What is asked now. `patterns` are what an answer for the session would allow, empty where none can."""

    preview: Preview
    tool: str
    patterns: tuple[str, ...]
    answer: "asyncio.Future[Answer]" = field(repr=False)
    selected: int = 0
    wants_why: bool = False
    is_own: bool = False

    @property
    def choices(self) -> tuple[Choice, ...]:
        if self.is_own:
            return (GO, STAY)
        if not self.patterns:
            return (ONCE, DENY, WHY)
        return (ONCE, Choice("a", "session", f"yes, and for this session: {', '.join(self.patterns)}"), DENY, WHY)

    @property
    def moves_metal(self) -> bool:
        return bool(self.preview.token)

    def lines(self, width: int) -> list[tuple[str, str]]:
        """Style and text of each line to show."""
        if self.wants_why:
            return [("class:ask", one_line(f"Why not? It goes to the model: {self.preview.title}", width))]
        kind = "class:danger" if self.moves_metal else "class:ask"
        lines = [(kind, one_line(f"{'WRITE TO A DEVICE: ' if self.moves_metal else ''}{self.preview.title}?", width))]
        for number, choice in enumerate(self.choices):
            mark = ">" if number == self.selected else " "
            style = "class:selected" if number == self.selected else ""
            lines.append((style, fitted(f"{mark} {choice.key}  {choice.text}", width)))
        return lines


class Desk:
    """Puts one question at a time before the person. `announce` prints a preview whole before it is asked about."""

    def __init__(
        self,
        announce: Callable[[Preview, str], None],
        redraw: Callable[[], None],
        name_of: Callable[[Preview], tuple[str, str]],
        propose: Callable[[str, Preview], tuple[str, ...]],
        allow_for_session: Callable[[tuple[str, ...]], None],
    ) -> None:
        """`name_of`: tool and call id of a preview. `propose`: the patterns that the session could be allowed."""
        self.question: Question | None = None
        self._announce, self._redraw = announce, redraw
        self._name_of, self._propose, self._allow = name_of, propose, allow_for_session
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, ask: Ask) -> "Answer":
        """The person's answer. A question that is cancelled disappears."""
        async with self._one_at_a_time:
            tool, call_id = self._name_of(ask.preview)
            patterns = () if ask.preview.token else self._propose(tool, ask.preview)
            self._announce(ask.preview, call_id)
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self.question = Question(ask.preview, tool, patterns, answer)
            if ask.preview.token:
                self.question.selected = 1
            self._redraw()
            try:
                return await answer
            finally:
                self.question = None
                self._redraw()

    async def confirm(self, title: str) -> bool:
        """Ask the person about something they began themselves."""
        async with self._one_at_a_time:
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self.question = Question(Preview(title, ""), "", (), answer, is_own=True)
            self._redraw()
            try:
                return isinstance(await answer, Allow)
            finally:
                self.question = None
                self._redraw()

    def move(self, by: int) -> None:
        """Select another answer."""
        if self.question:
            self.question.selected = (self.question.selected + by) % len(self.question.choices)
            self._redraw()

    def choose(self, key: str = "") -> None:
        """Answer with the choice of this key, or with the selected one."""
        question = self.question
        if question is None or question.answer.done():
            return
        found = [c for c in question.choices if c.key == key] or (
            [question.choices[question.selected]] if not key else []
        )
        if not found:
            return
        match found[0].name:
            case "once":
                question.answer.set_result(Allow(question.preview.token, BY))
            case "session":
                self._allow(question.patterns)
                question.answer.set_result(Allow(question.preview.token, BY))
            case "deny":
                question.answer.set_result(Deny(_PLAIN_DENIAL))
            case _:
                question.wants_why = True
        self._redraw()

    def explain(self, text: str) -> None:
        """Deny with the person's own words."""
        question = self.question
        if question is None or question.answer.done():
            return
        said = text.strip()
        question.answer.set_result(Deny(f"The engineer denied this and says: {said}" if said else _PLAIN_DENIAL))

    def back(self) -> None:
        """Return from the reason to the choices."""
        if self.question:
            self.question.wants_why = False
            self._redraw()
