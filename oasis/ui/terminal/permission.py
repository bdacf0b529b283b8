"""Questions to the person: exactly what will run, and what can be answered. One question at a time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oasis.ui.terminal.paint import one_line, wrapped

if TYPE_CHECKING:
    from oasis.agent.gate import Answer
    from oasis.core.rule import Ask
    from oasis.core.tool import Preview

DENIED, SAYS = "The engineer denied this", " and says: "
"""How a denial begins, and what stands before the person's own words."""
BY = "the engineer at the terminal"
_PLAIN_DENIAL = f"{DENIED}. Do not try it another way; ask what they want instead, or go on without it."


OPENS_S, DANGER_OPENS_S = 0.3, 1.0
"""A question takes no key so soon after it appeared, nor so soon after a key that came too early: a key that is held,
or meant for the question before, answers nothing that was not read."""


CHOICE_INDENT, MAX_CHOICE_ROWS, MAX_TITLE_ROWS = 5, 4, 3


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that can be chosen by its key. One that `needs_words` is given together with a text."""

    key: str
    text: str
    needs_words: bool = False


ONCE, SESSION, DENY, WHY = "y", "a", "n", "w"


@dataclass(slots=True)
class Question:
    """What is asked now. The answer is a choice's key, empty for none, and the words that go with it."""

    title: str
    choices: tuple[Choice, ...]
    answer: "asyncio.Future[tuple[str, str]]" = field(repr=False)
    selected: int = 0
    is_danger: bool = False
    is_own: bool = False
    wants_words: bool = False
    is_open: bool = True

    def lines(self, width: int) -> list[tuple[str, str]]:
        """Style and text of each line to show."""
        if self.wants_words:
            return [("class:ask", one_line(f"Why not? It goes to the model. {self.title}", width))]
        title = "class:danger" if self.is_danger else "class:ask"
        lines = [(title, row) for row in wrapped(self.title, width, MAX_TITLE_ROWS)]
        for number, choice in enumerate(self.choices):
            is_selected = number == self.selected
            key = choice.key if self.is_open else "·"
            style = "class:selected" if is_selected and self.is_open else ""
            first, *more = wrapped(choice.text, width - CHOICE_INDENT, MAX_CHOICE_ROWS)
            lines.append((style, f"{'>' if is_selected else ' '} {key}  {first}"))
            lines += [(style, " " * CHOICE_INDENT + row) for row in more]
        return lines


class Desk:
    """Puts one question at a time before the person. `announce` prints a preview whole before it is asked about."""

    def __init__(
        self,
        announce: "Callable[[Preview, str], None]",
        redraw: Callable[[], None],
        name_of: "Callable[[Preview], tuple[str, str]]",
        propose: "Callable[[str, Preview], tuple[str, ...]]",
        allow_for_session: Callable[[tuple[str, ...]], None],
    ) -> None:
        """`name_of`: tool and call id of a preview. `propose`: the patterns that the session could be allowed."""
        self.question: Question | None = None
        self._announce, self._redraw = announce, redraw
        self._name_of, self._propose, self._allow = name_of, propose, allow_for_session
        self._one_at_a_time = asyncio.Lock()
        self._opening: asyncio.TimerHandle | None = None

    async def ask(self, ask: "Ask") -> "Answer":
        """What the gate is answered. A device write is never allowed for longer than once."""
        from oasis.core.rule import Allow, Deny  # noqa: PLC0415

        preview = ask.preview
        async with self._one_at_a_time:
            tool, call_id = self._name_of(preview)
            patterns = () if preview.token else self._propose(tool, preview)
            self._announce(preview, call_id)
            title = f"{'WRITE TO A DEVICE: ' if preview.token else ''}{preview.title}?"
            choices = [Choice(ONCE, "yes, this once")]
            choices += [Choice(SESSION, f"yes, and for this session: {', '.join(patterns)}")] if patterns else []
            choices += [Choice(DENY, "no"), Choice(WHY, "no, and say why", needs_words=True)]
            key, words = await self._put(title, choices, is_danger=bool(preview.token))
        if key == SESSION:
            self._allow(patterns)
        if key in (ONCE, SESSION):
            return Allow(preview.token, BY)
        return Deny(f"{DENIED}{SAYS}{words}" if words else _PLAIN_DENIAL)

    async def confirm(self, title: str) -> bool:
        """Ask the person about something they began themselves."""
        async with self._one_at_a_time:
            key, _ = await self._put(title, [Choice(ONCE, "yes"), Choice(DENY, "no")], is_own=True)
        return key == ONCE

    async def approve(self, title: str) -> bool:
        """Ask about a device write that the person began themselves; *no* is proposed."""
        async with self._one_at_a_time:
            choices = [Choice(ONCE, "yes, this once"), Choice(DENY, "no")]
            key, _ = await self._put(f"WRITE TO A DEVICE: {title}?", choices, is_danger=True, is_own=True)
        return key == ONCE

    async def pick(self, title: str, texts: Sequence[str]) -> int | None:
        """Which of at most nine; None where the person wants none of them."""
        async with self._one_at_a_time:
            choices = [Choice(str(number), text) for number, text in enumerate(texts[:9], 1)]
            key, _ = await self._put(title, choices, is_own=True)
        return int(key) - 1 if key else None

    def has_key(self, key: str) -> bool:
        """Would this key answer the question?"""
        question = self.question
        return question is not None and not question.wants_words and any(c.key == key for c in question.choices)

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
        if not question.is_open:
            self._open_later(question)
            return
        choice = next((c for c in question.choices if c.key == key), question.choices[question.selected])
        if choice.needs_words:
            question.wants_words = True
        else:
            question.answer.set_result((choice.key, ""))
        self._redraw()

    def explain(self, words: str) -> None:
        """The words that go with the answer."""
        if self.question and not self.question.answer.done():
            self.question.answer.set_result((WHY, words.strip()))

    def escape(self) -> bool:
        """Go back from the words to the choices, or leave a question of the person's own; False for the gate's."""
        question = self.question
        if question is None:
            return False
        if question.wants_words:
            question.wants_words = False
        elif question.is_own and not question.answer.done():
            question.answer.set_result(("", ""))
        else:
            return False
        self._redraw()
        return True

    async def _put(
        self, title: str, choices: Sequence[Choice], *, is_danger: bool = False, is_own: bool = False
    ) -> tuple[str, str]:
        """The answer. Of what moves a machine *no* is selected. A question that is cancelled disappears."""
        answer: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        denial = next((n for n, choice in enumerate(choices) if choice.key == DENY), 0)
        question = Question(title, tuple(choices), answer, denial if is_danger else 0, is_danger, is_own)
        self.question = question
        if is_danger or not is_own:
            self._open_later(question)
        self._redraw()
        try:
            return await answer
        finally:
            self.question = None
            if self._opening:
                self._opening.cancel()
            self._redraw()

    def _open_later(self, question: Question) -> None:
        """Take answers after a pause without keys."""
        question.is_open = False
        if self._opening:
            self._opening.cancel()
        pause_s = DANGER_OPENS_S if question.is_danger else OPENS_S
        self._opening = asyncio.get_running_loop().call_later(pause_s, self._open, question)

    def _open(self, question: Question) -> None:
        question.is_open = True
        self._redraw()
