"""What the keys do."""

import re
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer

from oasis.errors import ConfigError

if TYPE_CHECKING:
    from oasis.ui.terminal.editor import Editor
    from oasis.ui.terminal.workplace import Workplace

AGAIN_S = 2.0
"""Ctrl-C twice within this time ends the session."""
TYPING_S = 0.6
"""So soon after a character was typed, a key is meant for the text and not for the question."""
_PATH = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')


class Actions:
    """Typing, sending, answering, interrupting, ending."""

    def __init__(self, place: "Workplace", editor: "Editor") -> None:
        self.place, self.editor = place, editor
        self._asked_to_end_s = -AGAIN_S
        self._typed_s = -TYPING_S
        editor.buffer.on_text_insert += self._note_typing

    def enter(self) -> None:
        """An answer, a line break after a backslash, or what was typed is sent."""
        desk, editor = self.place.desk, self.editor
        question = desk.question
        if question is not None and question.wants_words:
            desk.explain(editor.take())
            self._typed_s = -TYPING_S
        elif question is not None and editor.is_empty:
            self.answer("")
        elif editor.close_menu() and not editor.text.startswith("/"):
            self.place.redraw()
        elif not editor.continue_line():
            self.submit(editor.take())

    def answer(self, key: str) -> None:
        """Answer the question, unless the person was just typing something else."""
        if self.place.clock() - self._typed_s > TYPING_S:
            self.place.desk.choose(key)

    def submit(self, text: str) -> None:
        """What was typed: a command, a shell command, or a message."""
        place = self.place
        self._typed_s = -TYPING_S
        text = text.strip()
        if not text:
            return
        if text.startswith("!"):
            from oasis.ui.terminal.shell import run_shell  # noqa: PLC0415

            place.tasks.keep(run_shell(place, text[1:]))
        elif text.startswith("/") and "/" not in text.split(maxsplit=1)[0][1:]:
            from oasis.ui.terminal.commands.registry import run_command  # noqa: PLC0415

            place.feed.command(text)
            place.tasks.keep(run_command(place, text))
        else:
            place.live.queued.append(self._with_paths(text))
            place.has_work.set()
        place.redraw()

    def escape(self) -> None:
        """Close what is open, else end the person's own command, else interrupt what is at work."""
        if self.editor.buffer.complete_state is not None:
            self.editor.buffer.cancel_completion()
        elif not self.place.desk.escape():
            self._interrupt()

    def control_c(self) -> None:
        """Empty the input, else interrupt; twice within two seconds ends."""
        place, now = self.place, self.place.clock()
        if now - self._asked_to_end_s < AGAIN_S:
            place.end()
            return
        self._asked_to_end_s = now
        if not self.editor.is_empty:
            self.editor.buffer.reset()
        elif not place.desk.escape() and not self._interrupt():
            place.feed.note("Ctrl-C again ends the session.")
        place.redraw()

    def next_mode(self) -> None:
        """Switch to the next permission mode, once there are settings."""
        from oasis.ui.terminal.commands.permissions import switch  # noqa: PLC0415

        try:
            switch(self.place)
        except ConfigError as fault:
            self.place.say(str(fault))

    def toggle_reasoning(self) -> None:
        """Show reasoning in full from now on, or fold it again."""
        writing = self.place.feed.writing
        writing.shows_reasoning = not writing.shows_reasoning
        self.place.say(
            "Reasoning is shown in full." if writing.shows_reasoning else "Reasoning is folded; /open N opens it."
        )

    def open_last(self) -> None:
        """Print what was folded last."""
        from oasis.ui.terminal.commands.opened import open_last  # noqa: PLC0415

        open_last(self.place)

    def take_back(self) -> None:
        """Have the message that was queued last in the input again."""
        if queued := self.place.live.queued:
            self.editor.put_back(queued.pop())
            self.place.redraw()

    def edit_outside(self) -> None:
        """Edit the input in $VISUAL or $EDITOR."""
        self.place.tasks.keep(self._edit_outside())

    async def _edit_outside(self) -> None:
        with self.place.scrollback.lent():
            await self.editor.buffer.open_in_editor()

    def _interrupt(self) -> bool:
        from oasis.ui.terminal.shell import end_shell  # noqa: PLC0415

        return end_shell(self.place) or self.place.conversation.interrupt()

    def _note_typing(self, buffer: Buffer) -> None:
        self._typed_s = self.place.clock()

    def _with_paths(self, text: str) -> str:
        """`@path` as the path itself where there is such a file."""

        def path(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            return name if (self.place.start.project / name).exists() else match[0]

        return _PATH.sub(path, text)
