"""How a template writes calls, read off the renderings of sentinel calls."""

import json
import re
from dataclasses import dataclass
from typing import Final

from oasis.dialect import own
from oasis.dialect.ends import Ends
from oasis.dialect.entries import BASE, ID, NAME, REASON, Call, Entry, model
from oasis.dialect.form import Renderer
from oasis.dialect.found import Syntax
from oasis.dialect.headed_calls import BareBody, Body, HeadedCalls, JsonBody, KeywordBody, ParameterBody
from oasis.dialect.json_calls import JsonCalls, path_to
from oasis.dialect.marks import MARK, after_mark, before_mark, common_end, common_start, first_mark, marks_in
from oasis.dialect.template import Refused
from oasis.dialect.thinking import Thinking
from oasis.dialect.values import decode

VA, VB, VC, VD, NUMBER, TEXT = "ZqVaqZ", "ZqVbqZ", "ZqVcqZ", "ZqVdqZ", 918273, "ZqTxtqZ"
ARGUMENTS: Final = {"zqa": VA, "zqb": VB}
ONE: Final = Call(ID, NAME, ARGUMENTS)
OWN_SYNTAX: Final = JsonCalls(own.OPEN, own.CLOSE, ("name",), ("arguments",), None)


@dataclass(frozen=True, slots=True)
class _Sample:
    """The rendering of one sentinel call, from where the model begins to write."""

    text: str
    render: Renderer
    ends: Ends
    thinking: Thinking

    def other(self, entry: Entry) -> str:
        start = len(self.render(BASE)) - len(self.ends.generation)
        return self.render([*BASE, entry], is_open=False)[start:]

    def without_opening(self, text: str) -> str:
        """What is left when the generation prompt and the end of reasoning are taken off the front."""
        text = text[before_mark(text, common_start(text, self.ends.generation)) :]
        close = self.thinking.close
        return text.rsplit(close, maxsplit=1)[-1] if close and close in text else text


def find_syntax(render: Renderer, ends: Ends, thinking: Thinking) -> Syntax | None:
    """The call syntax; None when calls are shown in a way no reader here understands."""
    if not render.form.shows_calls:
        return OWN_SYNTAX
    start = len(render(BASE)) - len(ends.generation)
    text = render([*BASE, model("", "", ONE)], is_open=False)[start:]
    if VB not in text:
        return None
    sample = _Sample(text, render, ends, thinking)
    try:
        return _find_json(sample) or _find_headed(sample)
    except (ValueError, IndexError, Refused):
        return None


def _find_json(sample: _Sample) -> JsonCalls | None:
    """JSON that holds both name and arguments."""
    text = sample.text
    for match in re.finditer(r"[\[{]", text):
        try:
            value, end = decode(text, match.start())
        except ValueError:
            continue
        held = path_to(value, dict(ARGUMENTS))
        if held is None:
            held = path_to(value, json.dumps(ARGUMENTS))
        if held is None:
            continue
        name = path_to(value, NAME)
        drop = 1 if text[match.start()] == "[" else 0
        section, close = _section(sample, match.start(), end), _close(sample, text[end:])
        if name is not None:
            id_path = path_to(value, ID)
            return JsonCalls(section, close, name[drop:], held[drop:], id_path[drop:] if id_path else None)
        if NAME in held:
            return JsonCalls(section, close, None, (), None)
    return None


def _section(sample: _Sample, start: int, end: int) -> str:
    """What opens the calls: common to a call alone, a call after reasoning and a call after text."""
    before = sample.text[:start]
    cut = before_mark(before, common_start(before, sample.ends.generation))
    for mark, entry in ((REASON, model("", REASON, ONE)), (TEXT, model(TEXT, "", ONE))):
        try:
            other = sample.other(entry)
        except Refused:
            continue
        at = other.find(mark)
        to = other.find(sample.text[start:end], at) if at >= 0 else -1
        if to >= 0:
            same = len(before) - common_end(before, other[at + len(mark) : to])
            cut = max(cut, after_mark(before, same))
    section = before[cut:]
    close = sample.thinking.close
    if close and close in section:
        section = section.rsplit(close, maxsplit=1)[-1]
    return section.strip()


def _find_headed(sample: _Sample) -> HeadedCalls:
    """A header with the name, then the arguments in whatever form."""
    body, header = _body(sample)
    whole = header
    if sample.render.form.is_parallel:
        header = _repeated(sample, header)
    else:
        header = header[before_mark(header, common_start(header, sample.ends.generation)) :]
    before = whole[: len(whole) - len(header)] if whole.endswith(header) else ""
    section = sample.without_opening(before).strip()
    header = header.lstrip()
    opening = header.split(NAME)[0]
    anchor = section if not MARK.search(opening) and len(opening) < SHORT else ""
    return HeadedCalls(section or _opening(sample, header), _header_close(sample, body), _pattern(header), anchor, body)


SHORT = 3
"""Characters. A header that opens with fewer and no mark is found after its section only."""


def _opening(sample: _Sample, header: str) -> str:
    """What tells a call from a text when no section opens the calls."""
    before, _, after = header.partition(NAME)
    own = before.removeprefix(sample.ends.generation.lstrip())
    usual = sample.ends.generation + sample.thinking.text_open
    after_name = next((mark for mark in marks_in(after) if mark not in usual), "")
    return first_mark(own) or after_name or own.strip() or before.strip()


def _close(sample: _Sample, rest: str) -> str:
    """The first mark after a call, unless it is the stop."""
    mark = first_mark(rest)
    return "" if mark == sample.ends.call_stop else mark


def _header_close(sample: _Sample, body: Body) -> str:
    if isinstance(body, ParameterBody):
        return body.call_close
    tail = sample.ends.call_tail
    return first_mark(tail.removeprefix(body.quote) if isinstance(body, BareBody) else tail)


def _body(sample: _Sample) -> tuple[Body, str]:
    """How the arguments are written, and everything before them."""
    text = sample.text
    for match in re.finditer(r"[\[{]", text):
        try:
            value, _ = decode(text, match.start())
        except ValueError:
            continue
        if value == ARGUMENTS:
            return JsonBody(), text[: match.start()]
    bare = re.search(r"\{zqa:(.{1,12}?)" + VA + r"(.{1,12}?),zqb:", text)
    if bare and bare.group(1) == bare.group(2):
        return BareBody(bare.group(1)), text[: bare.start()]
    return _parameters(sample)


def _parameters(sample: _Sample) -> tuple[Body, str]:
    """Parameters one by one. The pieces: header `name` to_key KEY between VALUE after KEY between VALUE."""
    text = sample.text
    value = text.index(VA)
    key, second = text.rindex("zqa", 0, value), text.rindex("zqb", 0, text.index(VB))
    name = text[:key].rindex(NAME) + len(NAME)
    to_key, between, after = text[name:key], text[key + 3 : value], text[value + len(VA) : second]
    own_key = after.rindex("zqa") + 3 if "zqa" in after else 0
    same = len(after) - common_end(to_key, after)
    opening = after[max(after_mark(after, own_key), same) if own_key else after_mark(after, same) :]
    closing = after[: len(after) - len(opening)]
    header = text[:name] + (to_key[: len(to_key) - len(opening)] if to_key.endswith(opening) else "")
    number = sample.other(model("", "", Call(ID, NAME, {"zqa": NUMBER})))
    at = number.index(str(NUMBER))
    between_number = number[number.rindex("zqa", 0, at) + 3 : at]
    if between.startswith(between_number) and len(between) - len(between_number) == 1:
        return KeywordBody(re.escape(between_number)), header
    tail = sample.ends.call_tail
    rest = tail[len(closing.rstrip()) :] if tail.startswith(closing.rstrip()) else tail
    if between == between_number:
        pattern, string_mark = re.escape(between), ""
    else:
        front, back = common_start(between, between_number), common_end(between, between_number)
        back = max(front, len(between) - back)
        pattern, string_mark = re.escape(between[:front]) + "[^>]*?" + re.escape(between[back:]), between
    closing = closing.rstrip().replace("zqa", "{key}")
    return ParameterBody(opening.strip(), pattern, closing, string_mark, first_mark(rest)), header


def _repeated(sample: _Sample, header: str) -> str:
    """The part of the header that every call of a message has, counters aside."""
    two = sample.other(model("", "", ONE, Call(ID, NAME, {"zqa": VC, "zqb": VD})))
    first_of_second = two.index(VC)
    between = two[two.rindex(VB, 0, first_of_second) + len(VB) : first_of_second]
    in_header, in_between = header.rindex(NAME), between.rindex(NAME)
    if header.count(NAME) > 1:
        in_header = header.index(NAME, max(0, in_header - 80))
        in_between = between.index(NAME)
    same = common_end(_counted(header[:in_header]), _counted(between[:in_between]))
    start = after_mark(between[:in_between], in_between - same) - in_between + in_header
    return header[start:]


def _counted(text: str) -> str:
    """The text with its counters at 0."""
    return re.sub(r'(?<=:)\d+|(?<=index=")\d+', "0", text)


def _pattern(header: str) -> re.Pattern[str]:
    """The header with name, id, counters and white space opened up."""
    escaped = re.escape(header)
    for sentinel, group, chars in ((NAME, "name", r"[\w.\-]+"), (ID, "id", r"[\w.\-:]+")):
        first, *rest = escaped.split(re.escape(sentinel))
        if rest:
            escaped = first + f"(?P<{group}>{chars})" + f"(?P={group})".join(rest)
    escaped = re.sub(r'(?<=[:"])\d+', lambda _: r"\d+", escaped)
    return re.compile(re.sub(r"(\\\n|\\ |\n)+", lambda _: r"\s*", escaped))
