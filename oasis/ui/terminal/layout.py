"""The live area: the unfinished message, what goes on, what was typed ahead, a question, the input, the status."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.layout import ConditionalContainer, HSplit, Layout, VerticalAlign, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.styles import Style

from oasis.ui.terminal.paint import fitted
from oasis.ui.terminal.status import fragments

if TYPE_CHECKING:
    from oasis.ui.terminal.editor import Editor
    from oasis.ui.terminal.workplace import Workplace

MAX_INPUT_ROWS = 12
MAX_MENU_ROWS = 7
STYLE = Style.from_dict(
    {
        "prompt": "ansicyan bold",
        "status": "ansibrightblack",
        "warn": "ansiyellow",
        "danger": "ansired bold",
        "ask": "bold",
        "selected": "reverse",
        "activity": "ansicyan",
        "queued": "ansibrightblack",
        "menu": "ansibrightblack",
        "menu.current": "reverse",
    }
)


def layout(place: "Workplace", editor: "Editor") -> Layout:
    """The windows one below the other, each as high as what it shows; absent where there is nothing to show."""
    live, brush = place.live, place.brush
    prompt = brush.signs.prompt

    def tail() -> StyleAndTextTuples:
        return to_formatted_text(ANSI(live.tail_rows(max(3, place.rows // 2 - 4))))

    def activity() -> StyleAndTextTuples:
        lines = live.activity(place.clock(), brush.width, brush.signs)
        return _joined([("class:activity", line) for line in lines])

    def waiting() -> StyleAndTextTuples:
        return _joined([("class:queued", line) for line in live.waiting(brush.width, brush.signs)])

    def question() -> StyleAndTextTuples:
        asked = place.desk.question
        return _joined(asked.lines(brush.width)) if asked else []

    def menu() -> StyleAndTextTuples:
        return _joined(_menu(editor, brush.width))

    def status() -> StyleAndTextTuples:
        return [*fragments(place.status(), brush.width, brush.signs)]

    def prefix(line: int, wrapped: int) -> StyleAndTextTuples:
        return [("class:prompt", f"{prompt} " if line == wrapped == 0 else "  ")]

    input_window = Window(
        editor.control,
        height=lambda: _rows(min(MAX_INPUT_ROWS, max(3, place.rows // 2))),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=prefix,
    )
    return Layout(
        HSplit(
            [
                _shown(tail, lambda: bool(live.tail)),
                Window(height=1),
                _shown(activity, lambda: live.is_busy or bool(live.running)),
                _shown(waiting, lambda: bool(live.queued or live.attached)),
                _shown(question, lambda: place.desk.question is not None),
                input_window,
                editor.search,
                _shown(menu, lambda: bool(_menu(editor, brush.width))),
                Window(FormattedTextControl(status), height=1, dont_extend_height=True),
            ],
            align=VerticalAlign.TOP,
        ),
        focused_element=input_window,
    )


def _shown(text: Callable[[], StyleAndTextTuples], when: Callable[[], bool]) -> ConditionalContainer:
    window = Window(FormattedTextControl(text), dont_extend_height=True, wrap_lines=False)
    return ConditionalContainer(window, Condition(when))


def _rows(most: int) -> Dimension:
    return Dimension(min=1, max=most)


def _joined(lines: list[tuple[str, str]]) -> StyleAndTextTuples:
    pieces: StyleAndTextTuples = []
    for number, (style, text) in enumerate(lines):
        pieces += [("", "\n")] if number else []
        pieces.append((style, text))
    return pieces


def _menu(editor: "Editor", width: int) -> list[tuple[str, str]]:
    """The completions around the selected one."""
    state = editor.buffer.complete_state
    if state is None:
        return []
    at = state.complete_index or 0
    first = max(0, min(at - MAX_MENU_ROWS // 2, len(state.completions) - MAX_MENU_ROWS))
    lines: list[tuple[str, str]] = []
    for number, completion in enumerate(state.completions[first : first + MAX_MENU_ROWS], first):
        style = "class:menu.current" if number == state.complete_index else "class:menu"
        text = f"{completion.display_text:<14} {completion.display_meta_text}".rstrip()
        lines.append((style, fitted(text, width)))
    return lines
