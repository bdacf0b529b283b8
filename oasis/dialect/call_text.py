"""The text of a call as the template writes it, cut for a grammar."""

import json
import re
from collections.abc import Sequence

from oasis.core.tool import ToolSpec
from oasis.dialect.calls import ARGUMENTS, ONE, OWN_SYNTAX
from oasis.dialect.ends import Ends
from oasis.dialect.entries import BASE, ID, NAME, OTHER_NAME, Call, call_id, model
from oasis.dialect.form import Renderer
from oasis.dialect.found import Syntax
from oasis.dialect.grammar import ARGUMENTS as ARGUMENTS_SLOT
from oasis.dialect.grammar import COUNTER as COUNTER_SLOT
from oasis.dialect.grammar import ID as ID_SLOT
from oasis.dialect.grammar import NAME as NAME_SLOT
from oasis.dialect.grammar import Grammar, call_grammar
from oasis.dialect.headed_calls import HeadedCalls, JsonBody
from oasis.dialect.json_calls import JsonCalls
from oasis.dialect.marks import MARK
from oasis.dialect.own import write
from oasis.dialect.template import Refused
from oasis.dialect.values import decode


def grammar_for(render: Renderer, ends: Ends, syntax: Syntax | None, tools: Sequence[ToolSpec]) -> Grammar | None:
    """The grammar of the dialect's calls; None where they are not JSON behind a mark."""
    if not _is_json(syntax):
        return None
    try:
        text = _written(render, [ONE])
    except Refused:
        return None
    start, end = _call_span(text, syntax, ends)
    if start < 0:
        return None
    call = _slotted(text[start:end])
    trigger = MARK.match(call)
    if trigger is None or ARGUMENTS_SLOT not in call:
        return None
    between = _between(render, text[start:end])
    return call_grammar(call, between, trigger.group(), tools)


def _is_json(syntax: Syntax | None) -> bool:
    return isinstance(syntax, JsonCalls) or (isinstance(syntax, HeadedCalls) and isinstance(syntax.body, JsonBody))


def _written(render: Renderer, calls: Sequence[Call]) -> str:
    if not render.form.shows_calls:
        return write("", calls)
    return render([*BASE, model("", "", *calls)], is_open=False)


def _call_span(text: str, syntax: Syntax | None, ends: Ends) -> tuple[int, int]:
    """From the mark that opens the call to the end of what closes it; (-1, -1) where no mark opens it."""
    opening = syntax.section if syntax else ""
    if isinstance(syntax, HeadedCalls):
        found = list(syntax.header.finditer(text))
        start = found[-1].start() if found else -1
        if opening and start >= 0:
            at = text.rfind(opening, 0, start + len(opening))
            start = at if at >= 0 else start
    else:
        start = text.rfind(opening) if opening else -1
    mark = MARK.match(text, start) if start >= 0 else None
    if mark is None:
        return -1, -1
    value_end = _json_end(text, start)
    tail = ends.call_tail if syntax is not OWN_SYNTAX else f'"}}}}\n{OWN_SYNTAX.close}'
    last = text.rindex("ZqVbqZ") + len("ZqVbqZ")
    return (start, last + len(tail)) if text.startswith(tail, last) else (start, value_end)


def _json_end(text: str, start: int) -> int:
    brace = re.compile(r"[\[{]")
    at = start
    while match := brace.search(text, at):
        try:
            return decode(text, match.start())[1]
        except ValueError:
            at = match.end()
    return len(text)


def _slotted(call: str) -> str:
    """The call with its variable parts as slots."""
    for written in (json.dumps(ARGUMENTS), json.dumps(ARGUMENTS, separators=(",", ":"))):
        if written in call:
            before, _, rest = call.partition(written)
            counted = re.sub(r'(?<=:)\d+|(?<=index=")\d+', COUNTER_SLOT, before.replace(ID, ID_SLOT))
            return counted.replace(NAME, NAME_SLOT) + ARGUMENTS_SLOT + rest.replace(ID, ID_SLOT)
    return call


def _between(render: Renderer, call: str) -> str | None:
    """What stands between two calls that are each written whole; None where a second one is written otherwise."""
    if not render.form.is_parallel:
        return None
    second = Call(call_id(2), OTHER_NAME, ARGUMENTS)
    other = call.replace(NAME, OTHER_NAME).replace(ID, call_id(2))
    try:
        text = _written(render, [ONE, second])
    except Refused:
        return None
    first_at, second_at = text.rfind(call), text.rfind(other)
    if first_at < 0 or second_at < first_at + len(call):
        return None
    between = text[first_at + len(call) : second_at]
    return between if not between.strip() else None
