"""The keys: what Oasis binds beside prompt_toolkit's own emacs and vi keys."""

import signal
from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter, has_focus, is_searching, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from oasis.ui.terminal.signals import stop_group

if TYPE_CHECKING:
    from oasis.ui.terminal.actions import Actions
    from oasis.ui.terminal.editor import Editor
    from oasis.ui.terminal.workplace import Workplace

ANSWERS = "yanw123456789"


def key_bindings(place: "Workplace", editor: "Editor", actions: "Actions") -> KeyBindings:
    """The bindings of the input, of the session and of a question."""
    keys = KeyBindings()
    typing = has_focus(editor.buffer) & ~is_searching
    _bind_input(keys, editor, actions, typing)
    _bind_session(keys, place, editor, actions, typing)
    _bind_answers(keys, place, editor, actions, typing)
    return keys


def _bind_input(keys: KeyBindings, editor: "Editor", actions: "Actions", typing: Filter) -> None:
    """Typing: sending, new lines, completion, pasting, an editor outside."""
    completing = Condition(lambda: editor.buffer.complete_state is not None)

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        actions.enter()

    @keys.add("escape", "enter", filter=typing)
    @keys.add("c-j", filter=typing)
    def _(event: KeyPressEvent) -> None:
        editor.buffer.newline(copy_margin=False)

    @keys.add("tab", filter=typing & ~completing)
    def _(event: KeyPressEvent) -> None:
        editor.buffer.start_completion(select_first=True)

    @keys.add("tab", filter=typing & Condition(lambda: editor.only_completion is not None))
    def _(event: KeyPressEvent) -> None:
        editor.take_only_completion()

    @keys.add("c-x", "c-e", filter=typing)
    def _(event: KeyPressEvent) -> None:
        actions.edit_outside()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        buffer = editor.buffer if event.current_buffer is editor.buffer else event.current_buffer
        buffer.insert_text(editor.pasted.take(event.data))


def _bind_session(keys: KeyBindings, place: "Workplace", editor: "Editor", actions: "Actions", typing: Filter) -> None:
    """Interrupting, ending, modes, and what is shown."""

    @keys.add("escape", filter=typing & ~vi_insert_mode)
    def _(event: KeyPressEvent) -> None:
        actions.escape()

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        actions.control_c()

    @keys.add("c-d", filter=typing & Condition(lambda: editor.is_empty))
    def _(event: KeyPressEvent) -> None:
        place.end()

    @keys.add("s-tab")
    def _(event: KeyPressEvent) -> None:
        actions.next_mode()

    @keys.add("c-t")
    def _(event: KeyPressEvent) -> None:
        actions.toggle_reasoning()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        actions.open_last()

    @keys.add("c-z", filter=Condition(lambda: hasattr(signal, "SIGTSTP")))
    def _(event: KeyPressEvent) -> None:
        stop_group()

    @keys.add("c-l")
    def _(event: KeyPressEvent) -> None:
        event.app.renderer.clear()


def _bind_answers(keys: KeyBindings, place: "Workplace", editor: "Editor", actions: "Actions", typing: Filter) -> None:
    """Answering a question with the input empty; without one, Up takes back what is queued."""
    desk = place.desk
    asking = Condition(lambda: desk.question is not None and not desk.question.wants_words)
    answering = asking & Condition(lambda: editor.is_empty)
    can_take_back = Condition(lambda: editor.is_empty and bool(place.live.queued))

    @keys.add("up", filter=answering)
    @keys.add("down", filter=answering)
    def _(event: KeyPressEvent) -> None:
        desk.move(1 if event.key_sequence[0].key == Keys.Down else -1)

    @keys.add("up", filter=typing & can_take_back & ~asking)
    def _(event: KeyPressEvent) -> None:
        actions.take_back()

    for key in ANSWERS:

        @keys.add(key, filter=answering & Condition(partial(desk.has_key, key)))
        def _(event: KeyPressEvent) -> None:
            actions.answer(event.data)
