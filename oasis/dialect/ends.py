"""Where the model begins and ends a message: the generation prompt, the text after a call, the stop marks."""

import re
from dataclasses import dataclass

from oasis.dialect.entries import BASE, END, KEY, OUT, TWO, USER, Entry, call, model, output, user
from oasis.dialect.form import Renderer
from oasis.dialect.marks import MARK, before_mark, common_start, first_mark, marks_in
from oasis.dialect.template import Refused
from oasis.errors import DialectFault


@dataclass(frozen=True, slots=True)
class Ends:
    """What stands around a message of the model.

    generation   what the template adds for the model to go on from
    text_tail    between the model's last word and the stop
    text_stop    the mark that ends a message, empty where there is none
    call_tail    between the last argument's value (of a string, its last letter) and the stop
    call_stop    the mark that ends a message with calls
    last_stop    the mark after a text that nothing follows, where it is another one (gpt-oss), otherwise empty
    closes       the template itself writes the stop; otherwise the next message's opening is the stop
    """

    generation: str
    text_tail: str
    text_stop: str
    call_tail: str
    call_stop: str
    last_stop: str
    closes: bool


def find_ends(render: Renderer) -> Ends:
    """Cut the renderings of a final message and of a calling one. Raises DialectFault, Refused."""
    generation = find_generation(render)
    _refuse_a_block_at_the_end(render)
    text = render([*BASE, model(END), user(TWO)])
    between = _between(text, TWO)
    after_call = _after_call(render)
    alone = _last(render, model(END))
    own = between[: before_mark(between, common_start(between, alone))]
    shared = [mark for mark in marks_in(own) if mark in after_call or not after_call]
    stop = shared[-1] if shared else first_mark(between)
    closes = bool(stop) and stop in alone
    tail = between[: between.index(stop)] if closes else ""
    call_tail, call_stop = _call_end(render, after_call, stop)
    last_stop = first_mark(alone) if stop not in alone else ""
    return Ends(generation, tail, stop, call_tail, call_stop, last_stop, closes)


def find_generation(render: Renderer) -> str:
    """The generation prompt: a rendering with it minus the one without."""
    closed, opened = render(BASE, is_open=False), render(BASE)
    if opened.startswith(closed):
        return opened[len(closed) :]
    rest = opened[opened.rfind(USER) + len(USER) :]
    return rest[before_mark(rest, common_start(rest, closed[closed.rfind(USER) + len(USER) :])) :]


def _refuse_a_block_at_the_end(render: Renderer) -> None:
    """A template may write instructions after the last message; they would move at every step."""
    alone = render(BASE, is_open=False)
    after_user = alone[alone.rfind(USER) + len(USER) :]
    again = render([*BASE, model(END), user(TWO)], is_open=False)
    start = again.find(USER) + len(USER)
    if len(after_user) > LONG_AFTER_USER and not again.startswith(after_user, start):
        raise DialectFault(
            "The chat template writes a block of instructions after the last message.\n"
            "It would move at every step, so the prompt cannot grow by appending alone.\n"
            "The chat lane is used: the server renders the messages."
        )


LONG_AFTER_USER = 200
"""Characters. The close of a user message is shorter, an instruction block longer."""


def _last(render: Renderer, entry: Entry) -> str:
    """What follows the sentinel when the message is the last one and nothing is to be generated."""
    text = render([*BASE, entry], is_open=False)
    return text[text.rindex(END) + len(END) :] if END in text else ""


def _between(text: str, until: str) -> str:
    if END not in text:
        raise DialectFault(
            "The chat template does not show what the model said before.\n"
            "Oasis cannot tell how a message of the model ends.\n"
            "The chat lane is used: the server renders the messages."
        )
    rest = text[text.rindex(END) + len(END) :]
    at = rest.find(until)
    return rest if at < 0 else rest[:at]


def _after_call(render: Renderer) -> str:
    """From the last argument's value to the output that answers, empty where calls are not shown."""
    if not render.form.shows_calls:
        return ""
    try:
        return _between(render([*BASE, _CALLING, output()]), OUT)
    except (Refused, DialectFault):
        return ""


_CALLING = model("", "", call({KEY: END}))


def _call_end(render: Renderer, after: str, text_stop: str) -> tuple[str, str]:
    """Tail and stop of a message with one call."""
    if text_stop and text_stop in after:
        return after[: after.index(text_stop)], text_stop
    if not after:
        return "", text_stop
    alone = render([*BASE, _CALLING], is_open=False)
    split = alone.rindex(END) if END in alone else len(alone)
    openings = {_core(mark) for mark in marks_in(alone[:split])}
    own = after[: before_mark(after, common_start(alone[split + len(END) :], after))]
    for mark in reversed(list(MARK.finditer(own))):
        if not _is_closing(mark.group(), openings):
            return own[: mark.start()], mark.group()
    own = own.rstrip("\n") if own.strip() else own
    return own, first_mark(after[len(own) :])


def _core(mark: str) -> str:
    return re.sub(r"\W", "", mark)


def _is_closing(mark: str, openings: set[str]) -> bool:
    """A mark that closes something opened before it (`</tool_call>`, `<tool_call|>`) does not end the message."""
    return mark.startswith(("</", "[/")) or "end" in mark.lower() or _core(mark) in openings
