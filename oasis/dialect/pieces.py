"""The pieces of a prompt: the head, the first question, and what follows a message of the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from oasis.core.fold import Message, fold
from oasis.core.items import Assistant, Item, NewItem, Stop, ToolOutput
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.dialect.counted import carried_on
from oasis.dialect.ends import Ends
from oasis.dialect.entries import END, ID, KEY, OTHER_NAME, USER, Call, Entry, call, call_id, model, output, user
from oasis.dialect.form import Renderer
from oasis.dialect.join import Seam
from oasis.dialect.marks import common_start
from oasis.dialect.parse import Read, Reader
from oasis.dialect.parts import Masks, Part, after, merged, split, text_of
from oasis.dialect.template import Refused
from oasis.errors import DialectFault


class Depends(StrEnum):
    """What a piece depends on: the last message, also the number of calls before it, or all of the history."""

    LAST = "last message"
    CALLS = "number of calls"
    HISTORY = "whole history"


@dataclass(frozen=True, slots=True)
class Pieces:
    """Writes the pieces of one dialect.

    depends      what a piece depends on; only for the whole of the history that is rendered, as a skeleton
    drops_tools  the template repeats the tools before every user message; they stand in the head already
    any_id       the template takes any call id; otherwise nine letters and digits
    """

    render: Renderer
    ends: Ends
    reader: Reader
    depends: Depends
    drops_tools: bool
    any_id: bool

    def head(self, prefix: Prefix) -> list[Part]:
        """The common beginning of every conversation with this prefix."""
        return _head(self.render, prefix)

    def first(self, prefix: Prefix, new: Sequence[NewItem]) -> list[Part]:
        """From the end of the head to where the model begins to write."""
        head = text_of(self.head(prefix))
        [message] = fold([item for item in new if not isinstance(item, ToolOutput)])
        parts = self._parts(prefix, [], [message], cut="")
        if not text_of(parts).startswith(head):
            raise DialectFault(
                "The chat template changes the head of the prompt with what the user writes.\n"
                "This conversation cannot be written in the token lane.\n"
                "Start again with --lane chat."
            )
        return after(parts, len(head))

    def next(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> list[Part]:
        """What is missing after the model's last message, up to where it writes the next one."""
        last = history[-1]
        if not isinstance(last, Assistant):
            raise ValueError("the history ends with a message of the model")
        read = self.reader.read(last.raw, prefix.tools)
        ids = self._ids(last, read, len(history))
        asked = _in_order(new, [one.id for one in last.calls])
        messages = [replace(m, call_id=ids.get(m.call_id, m.call_id)) for m in fold(asked)]
        is_call = bool(last.calls) and self.render.form.shows_calls
        cut = _unused(END, [message.text for message in messages])
        entry = _sentinel(last, ids, is_call, cut)
        contexts = [self._skeleton(history[:-1])] if self.depends is Depends.HISTORY else [[user(USER)]]
        if self.depends is Depends.CALLS:
            contexts.append([user(USER), model("", "", call({KEY: "x"}, OTHER_NAME, 9)), output("x", OTHER_NAME, 9)])
        parts, *later = [self._parts(prefix, [*context, entry], messages, cut) for context in contexts]
        for one in later:
            calls = sum(len(item.calls) for item in history[:-1] if isinstance(item, Assistant))
            parts = carried_on(parts, one, calls)
        shown_id = list(ids.values())[-1] if is_call else None
        return self._joined(parts, last, read, shown_id)

    def _joined(self, parts: list[Part], last: Assistant, read: Read, shown_id: str | None) -> list[Part]:
        """The parts, less what the model has written already."""
        whole = text_of(parts)
        limit = len(whole)
        if parts and any(part.is_content for part in parts):
            limit = sum(len(p.text) for p in parts[: next(i for i, p in enumerate(parts) if p.is_content)])
        ended_by = self.reader.stop_of(last.raw)
        close_at, stop = self._close(whole, limit, shown_id)
        rest = Seam(whole, close_at, stop, limit, shown_id is not None).missing(last.raw, ended_by)
        opened = ""
        if last.stop is not Stop.END and read.is_thinking and not ended_by:
            opened = self.reader.thinking.gap
        return merged([Part(opened, False), *after(parts, len(whole) - len(rest))])

    def _close(self, whole: str, limit: int, shown_id: str | None) -> tuple[int, str]:
        """Where the stop begins in the piece, and the stop; empty where the next message's opening is the stop.

        `shown_id` is the last call's id in the prompt, None for a message without calls.
        """
        is_call = shown_id is not None
        stop = self.ends.call_stop if is_call else self.ends.text_stop
        tail = self.ends.call_tail.replace(ID, shown_id) if shown_id is not None else self.ends.text_tail
        start = len(tail) if whole.startswith(tail) else 0
        at = whole.find(stop, start, limit) if stop else -1
        if at < 0:
            return start, ""
        return at, stop if self.ends.closes or (is_call and stop != self.ends.text_stop) else ""

    def _skeleton(self, history: Sequence[Item]) -> list[Entry]:
        """The history with the same roles, names and ids, and short texts."""
        entries: list[Entry] = []
        batch: list[NewItem] = []
        ids: dict[str, str] = {}
        for number, item in enumerate(history):
            if not isinstance(item, Assistant):
                batch.append(item)
                continue
            entries += entries_of(_brief(_in_order(batch, list(ids)), ids))
            batch = []
            ids = self._ids(item, self.reader.read(item.raw, ()), number)
            entries.append(_shape(item, ids))
        return entries + entries_of(_brief(_in_order(batch, list(ids)), ids))

    def _ids(self, item: Assistant, read: Read, number: int) -> dict[str, str]:
        """The id of each call as the prompt shows it: the model's own where it wrote one."""
        made: dict[str, str] = {}
        for i, one in enumerate(item.calls):
            written = read.calls[i].id if i < len(read.calls) else ""
            shown = written or one.id
            made[one.id] = shown if self.any_id or _is_short_id(shown) else call_id(number * 10 + i)
        return made

    def _parts(self, prefix: Prefix, context: Sequence[Entry], messages: Sequence[Message], cut: str) -> list[Part]:
        """Render context and messages, from the sentinel `cut` on, split into markup and content."""
        form, masks = self.render.form, Masks()
        tools = self._tools(prefix, messages, bool(context))
        texts = {f"ZqOut{i}qZ": message.text for i, message in enumerate(messages)}
        asked = form.system(prefix.system, prefix.tools)
        hidden = form.system(masks.hide(prefix.system), hide_tools(prefix.tools, masks.hide))
        plain = [_entry(m, m.text) for m in messages]
        marked = [_entry(m, stand_in) for m, stand_in in zip(messages, texts, strict=True)]
        real = self._rendered([*system_entry(asked), *context, *plain], tools, cut)
        masked = self._rendered([*system_entry(hidden), *context, *marked], hide_tools(tools, masks.hide), cut)
        return split(masked, {**texts, **masks.texts}, real)

    def _tools(self, prefix: Prefix, messages: Sequence[Message], is_later: bool) -> Sequence[ToolSpec]:
        if is_later and self.drops_tools and not messages[0].is_output:
            return ()
        return prefix.tools

    def _rendered(self, entries: Sequence[Entry], tools: Sequence[ToolSpec], cut: str) -> str:
        try:
            text = self.render(entries, tools)
        except Refused as error:
            raise DialectFault(
                f"The chat template refused the conversation ({error}).\n"
                "This step cannot be written in the token lane.\n"
                "Start again with --lane chat."
            ) from error
        if not cut:
            return text
        if cut not in text:
            raise DialectFault(
                "The chat template does not show the model's last message.\n"
                "What follows it cannot be told from the rest.\n"
                "Start again with --lane chat."
            )
        return text[text.rindex(cut) + len(cut) :]


def system_entry(text: str) -> list[Entry]:
    return [Entry("system", text)] if text else []


def hide_tools(tools: Sequence[ToolSpec], hide: Callable[[str], str]) -> list[ToolSpec]:
    """The tools with every text in them hidden."""
    return [
        ToolSpec(t.name, hide(t.description), cast("Mapping[str, Any]", _hidden(t.parameters, hide))) for t in tools
    ]


def _hidden(value: object, hide: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return {hide(key): _hidden(inner, hide) for key, inner in pairs}
    if isinstance(value, list | tuple):
        return [_hidden(inner, hide) for inner in cast("list[object]", value)]
    return value


def _head(render: Renderer, prefix: Prefix) -> list[Part]:
    masks = Masks()
    asked = render.form.system(prefix.system, prefix.tools)
    hidden = render.form.system(masks.hide(prefix.system), hide_tools(prefix.tools, masks.hide))
    real = _common(render, asked, prefix.tools)
    masked = _common(render, hidden, hide_tools(prefix.tools, masks.hide)) if masks.texts else real
    return split(masked, masks.texts, real)


def _common(render: Renderer, system: str, tools: Sequence[ToolSpec]) -> str:
    """What renderings with different users, one of them blank, all begin with."""
    one, other = (render([*system_entry(system), user(text)], tools) for text in ("AAA", "ZZZ"))
    same = one[: common_start(one, other)]
    try:
        blank = render([*system_entry(system), user("")], tools)
    except Refused:
        return same
    return same[: common_start(same, blank)]


def _entry(message: Message, text: str) -> Entry:
    if message.is_output:
        return Entry("tool", text, call_id=message.call_id, name=message.name)
    return user(text)


def entries_of(messages: Sequence[Message]) -> list[Entry]:
    return [_entry(message, message.text) for message in messages]


def _is_short_id(text: str) -> bool:
    return len(text) == len(ID) and text.isascii() and text.isalnum()


def _in_order(new: Sequence[NewItem], ids: Sequence[str]) -> list[NewItem]:
    """Outputs in the order of the calls they answer, everything else after them as it came."""
    outputs = [item for item in new if isinstance(item, ToolOutput)]
    outputs.sort(key=lambda item: ids.index(item.call_id) if item.call_id in ids else len(ids))
    return [*outputs, *(item for item in new if not isinstance(item, ToolOutput))]


def _brief(items: Sequence[NewItem], ids: Mapping[str, str]) -> list[Message]:
    if not items:
        return []
    return [Message("x", ids.get(m.call_id, m.call_id), m.name) for m in fold(items)]


def _unused(sentinel: str, texts: Sequence[str]) -> str:
    """The sentinel, made longer until none of the texts holds it."""
    while any(sentinel in text for text in texts):
        sentinel += "q"
    return sentinel


def _sentinel(item: Assistant, ids: Mapping[str, str], is_call: bool, end: str) -> Entry:
    """The message with the same calls, ending in the sentinel."""
    if not is_call:
        return Entry("assistant", end)
    return Entry("assistant", calls=tuple(Call(ids[c.id], c.name or "unknown", {KEY: end}) for c in item.calls))


def _shape(item: Assistant, ids: Mapping[str, str]) -> Entry:
    calls = tuple(Call(ids[c.id], c.name or "unknown", {KEY: "x"}) for c in item.calls)
    return Entry("assistant", "" if calls else "x", "x" if item.reasoning else "", calls)
