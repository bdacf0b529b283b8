"""The input: a buffer of several lines with history, search, completion and folded pastes."""

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.processors import HighlightIncrementalSearchProcessor
from prompt_toolkit.widgets import SearchToolbar

from oasis.ui.terminal.history import InputHistory
from oasis.ui.terminal.paste import Pasted


class Editor:
    """The person's input. `text` is what would be sent."""

    def __init__(self, history: Callable[[], Path], completer: Completer) -> None:
        self.pasted = Pasted()
        self.buffer = Buffer(
            name="input",
            multiline=True,
            completer=completer,
            complete_while_typing=Condition(self._completes),
            history=InputHistory(history),
            enable_history_search=False,
            tempfile_suffix=".md",
        )
        ask: StyleAndTextTuples = [("class:status", "search history: ")]
        self.search = SearchToolbar(forward_search_prompt=ask, backward_search_prompt=ask)
        self.control = BufferControl(
            self.buffer,
            input_processors=[HighlightIncrementalSearchProcessor()],
            search_buffer_control=self.search.control,
            preview_search=True,
            focus_on_click=False,
        )

    @property
    def text(self) -> str:
        """What was typed, pasted blocks whole."""
        return self.pasted.expanded(self.buffer.text)

    @property
    def is_empty(self) -> bool:
        return not self.buffer.text

    def take(self) -> str:
        """The text to send; the input is empty afterwards and the text is in the history."""
        text = self.text
        self.buffer.reset(append_to_history=False)
        if text.strip():
            self.buffer.history.append_string(text)
        return text

    def put_back(self, text: str) -> None:
        """Have this text in the input, before what is there."""
        typed = self.buffer.text
        self.buffer.text = f"{text}\n{typed}" if typed else text
        self.buffer.cursor_position = len(self.buffer.text)

    def close_menu(self) -> bool:
        """Take the completion that is selected; False where none is."""
        state = self.buffer.complete_state
        self.buffer.complete_state = None
        return state is not None and state.current_completion is not None

    @property
    def only_completion(self) -> Completion | None:
        """The completion that is offered where there is just one."""
        state = self.buffer.complete_state
        return state.completions[0] if state is not None and len(state.completions) == 1 else None

    def take_only_completion(self) -> None:
        """Have it in the input, with nothing left to choose from."""
        if (only := self.only_completion) is not None:
            self.buffer.cancel_completion()
            self.buffer.delete_before_cursor(-only.start_position)
            self.buffer.insert_text(only.text, fire_event=False)

    def continue_line(self) -> bool:
        """A backslash before the cursor becomes a line break; False where there is none."""
        if not self.buffer.document.text_before_cursor.endswith("\\"):
            return False
        self.buffer.delete_before_cursor(1)
        self.buffer.newline(copy_margin=False)
        return True

    def _completes(self) -> bool:
        """Complete without being asked only in the word of a command or of a path."""
        before = self.buffer.document.text_before_cursor
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        return before.startswith("/") or word.startswith("@")
