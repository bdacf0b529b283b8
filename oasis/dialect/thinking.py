"""How reasoning is marked, and what opens the text after it."""

import re
from dataclasses import dataclass

from oasis.dialect.ends import Ends
from oasis.dialect.entries import BASE, END, KEY, NAME, REASON, Entry, call, model
from oasis.dialect.form import Renderer
from oasis.dialect.marks import MARK, before_mark, common_start
from oasis.dialect.template import Refused


@dataclass(frozen=True, slots=True)
class Thinking:
    """The marks around reasoning, white space left out.

    gap         what stands between the last word of the reasoning and the text, as the template writes it
    text_open   what opens the text (gpt-oss: its final channel), empty for most
    aside_open  what opens a text that calls follow, where that is another one
    """

    open: str
    close: str
    gap: str
    text_open: str
    aside_open: str


def find_thinking(render: Renderer, ends: Ends) -> Thinking:
    """Cut renderings of messages with reasoning; without them, the tags that most models use."""
    text_open, aside = _text_open(render, ends, model(END)), ""
    if render.form.shows_calls:
        aside = _text_open(render, ends, model(END, "", call({KEY: "x"})))
        aside = "" if aside == text_open else aside
    calling = _around(render, ends, model("", REASON, call({KEY: END})), NAME)
    plain = _around(render, ends, model(END, REASON), END)
    shown = calling or plain
    if not shown:
        found = re.search(r"<(\w*think\w*)>\s*$", ends.generation)
        word = found.group(1) if found else "think"
        return Thinking(f"<{word}>", f"</{word}>", f"\n</{word}>\n\n", text_open, aside)
    before, after = shown
    close = after
    if calling and plain:
        close = calling[1][: before_mark(calling[1], common_start(calling[1], plain[1]))]
    if not close.strip() or not (calling and plain):
        mark = MARK.search(after)
        close = after[: mark.end()] if mark else after
    reopened = ends.generation.strip()
    if reopened and reopened in close:
        close = close[: close.index(reopened)]
    own = before[before_mark(before, common_start(before, ends.generation)) :].strip()
    open_mark = own or _last_opening(ends.generation if ends.generation.startswith(before) else before)
    if close.strip() and text_open:
        text_open = text_open.rsplit(close.strip(), maxsplit=1)[-1].removeprefix(reopened).strip()
    return Thinking(open_mark, close.strip(), plain[1] if plain else close, text_open, aside)


def _last_opening(before: str) -> str:
    """What the generation prompt ends with: a mark, or words after its last mark."""
    marks = list(MARK.finditer(before))
    words = before[marks[-1].end() if marks else 0 :].strip()
    return words or (marks[-1].group() if marks else "")


def _after_start(render: Renderer, ends: Ends, entry: Entry) -> str:
    """The rendering of the message, from the point where the model would begin to write."""
    start = len(render(BASE)) - len(ends.generation)
    return render([*BASE, entry], is_open=False)[start:]


def _around(render: Renderer, ends: Ends, entry: Entry, until: str) -> tuple[str, str] | None:
    """What stands before the reasoning, and between it and `until`."""
    try:
        text = _after_start(render, ends, entry)
    except Refused:
        return None
    at = text.find(REASON)
    to = text.find(until, at)
    return (text[:at], text[at + len(REASON) : to]) if 0 <= at < to else None


def _text_open(render: Renderer, ends: Ends, entry: Entry) -> str:
    """What stands between the generation prompt and the text."""
    try:
        text = _after_start(render, ends, entry)
    except Refused:
        return ""
    if END not in text:
        return ""
    before = text[: text.index(END)]
    return before[before_mark(before, common_start(before, ends.generation)) :].strip()
