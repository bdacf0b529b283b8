"""A model's dialect: how it writes a conversation, and how what it wrote is read."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from oasis.core.fold import fold
from oasis.core.items import Assistant, Item, NewItem, ToolCall
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.dialect.call_text import grammar_for
from oasis.dialect.ends import Ends
from oasis.dialect.entries import Call, Entry
from oasis.dialect.form import Renderer
from oasis.dialect.found import Found, Syntax
from oasis.dialect.grammar import Grammar
from oasis.dialect.marks import last_mark, marks_in
from oasis.dialect.parse import Reader
from oasis.dialect.parts import Part
from oasis.dialect.pieces import Depends, Pieces, entries_of, system_entry
from oasis.dialect.stream import Streamer, StreamMarks
from oasis.dialect.thinking import Thinking
from oasis.dialect.tolerant import find_loose, without

__all__ = ["Dialect", "Grammar", "Parsed", "Part", "Streamer"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A generated message, read. `is_repaired`: the dialect's own syntax found no call, the tolerant parser did."""

    reasoning: str
    text: str
    calls: tuple[ToolCall, ...]
    is_repaired: bool


@dataclass(frozen=True)
class Dialect:
    """What was inferred from a chat template. Made by `oasis.dialect.infer.infer`.

    depends       what a piece depends on, besides the new messages
    is_appending  the template itself appends across a user turn, keeping everything
    """

    render: Renderer
    ends: Ends
    thinking: Thinking
    syntax: Syntax | None
    depends: Depends
    drops_tools: bool
    any_id: bool
    is_appending: bool

    @cached_property
    def stops(self) -> tuple[str, ...]:
        """The marks that end a message and never stand inside one."""
        section = self.syntax.section if self.syntax else ""
        inside = "\n".join(
            [self.thinking.gap, self.thinking.close, self.thinking.text_open, section, self.ends.call_tail]
        )
        return tuple(mark for mark in self._ends if mark not in inside)

    @cached_property
    def _ends(self) -> tuple[str, ...]:
        """The marks that end a message, also those that may stand inside one (gpt-oss closes its reasoning so)."""
        return tuple(
            dict.fromkeys(mark for mark in (self.ends.text_stop, self.ends.call_stop, self.ends.last_stop) if mark)
        )

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """Every control mark of the template: text from outside must never become one."""
        template = self.render.template
        written = "\n".join([*template.literals, self.ends.generation, template.bos, template.eos])
        known = [template.bos, template.eos, self.thinking.open, self.thinking.close, *self._ends]
        return tuple(dict.fromkeys(mark for mark in (*marks_in(written), *known) if mark))

    @cached_property
    def reader(self) -> Reader:
        template = self.render.template
        closing = set(marks_in(self.ends.call_tail)) | {
            self.thinking.open,
            self.thinking.close,
            self.thinking.text_open,
        }
        closing |= set(marks_in(self.thinking.gap)) | (
            {self.syntax.section, self.syntax.close} if self.syntax else set()
        )
        stops = tuple(dict.fromkeys(mark for mark in (*self._ends, template.eos) if mark))
        return Reader(self.ends, self.thinking, self.syntax, stops, frozenset(closing - set(stops)))

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self.render, self.ends, self.reader, self.depends, self.drops_tools, self.any_id)

    @cached_property
    def digest(self) -> str:
        """Identifies the template and what was chosen for it."""
        chosen = json.dumps(self.facts, sort_keys=True, default=str)
        return hashlib.sha256(f"{self.render.template.digest}\0{chosen}".encode()).hexdigest()

    @property
    def facts(self) -> dict[str, Any]:
        """What was inferred, for printing."""
        form, ends, thinking = self.render.form, self.ends, self.thinking
        return {
            "system": "own message" if form.has_system else "in the first user message",
            "outputs": f"role {form.output_role}",
            "content": form.content,
            "calls": "oasis" if not form.shows_calls else self.syntax.mode if self.syntax else "unknown",
            "call_section": self.syntax.section if self.syntax else "",
            "call_close": self.syntax.close if self.syntax else "",
            "call_arguments": form.arguments,
            "call_content": form.empty,
            "parallel_calls": form.is_parallel,
            "lists_tools": form.lists_tools,
            "reasoning_key": form.reasoning_key if form.shows_reasoning else "",
            "reasoning_open": thinking.open,
            "reasoning_close": thinking.close,
            "text_open": thinking.text_open,
            "generation_prompt": ends.generation,
            "text_tail": ends.text_tail,
            "text_stop": ends.text_stop,
            "call_tail": ends.call_tail,
            "call_stop": ends.call_stop,
            "last_stop": ends.last_stop,
            "depends_on": self.depends.value,
            "is_appending": self.is_appending,
            "tools_once": self.drops_tools,
            "any_call_id": self.any_id,
            "chat_template_kwargs": dict(self.render.kwargs),
        }

    def head(self, prefix: Prefix) -> list[Part]:
        """The common beginning of every conversation with this prefix."""
        return self._pieces.head(prefix)

    def batch(self, prefix: Prefix, history: Sequence[Item], new: Sequence[NewItem]) -> list[Part]:
        """From the end of the head, or of the model's last message, to where it writes next.

        `history` is empty for the first batch, otherwise its last item is an Assistant; of that one only what is
        missing after its `raw` is written. Raises DialectFault when the template refuses the conversation.
        """
        if not history:
            return self._pieces.first(prefix, new)
        return self._pieces.next(prefix, history, new)

    def parse(self, raw: str, tools: Sequence[ToolSpec], next_id: Callable[[], str]) -> Parsed:
        """Read a generated message (its text with control tokens). A call that cannot be read has a fault."""
        read = self.reader.read(raw, tools)
        calls, text, reasoning, is_repaired = list(read.calls), read.text, read.reasoning, False
        if not any(not call.fault for call in calls):
            body = self.reader.without_stop(raw)[read.text_at if not read.is_thinking else 0 :]
            loose = find_loose(body, tools)
            if loose:
                calls, text, is_repaired = loose, self.reader.clean(without(body, loose)), True
                reasoning = self._reasoning_before(body, loose) if read.is_thinking else reasoning
                text = "" if read.is_thinking else text
        return Parsed(reasoning, text, tuple(call.as_call(next_id()) for call in calls), is_repaired)

    def _reasoning_before(self, body: str, calls: Sequence[Found]) -> str:
        """Reasoning that was never closed ends where a call begins."""
        return body[: calls[0].start].strip().removeprefix(self.thinking.open).strip()

    def streamer(self) -> Streamer:
        """Reads a message as it arrives."""
        thinking, syntax = self.thinking, self.syntax
        is_open = bool(thinking.open) and self.ends.generation.rstrip().endswith(thinking.open)
        tail = self.ends.text_tail.strip()
        stops = [*self._ends, self.render.template.eos, tail if marks_in(tail) else ""]
        marks = StreamMarks(
            is_open=is_open,
            think_open=thinking.open,
            think_close=thinking.close,
            text_open="" if thinking.text_open == thinking.close else thinking.text_open,
            reopened=self.ends.generation.strip(),
            call_open=syntax.section if syntax else "",
            call_close=self._calls_close(),
            stops=[mark for mark in stops if mark and mark != thinking.close],
            hidden=[*marks_in(self.ends.call_tail), *marks_in(self.ends.text_tail), *marks_in(thinking.gap)],
        )
        return Streamer(marks)

    def _calls_close(self) -> str:
        """What ends the calls of a message: their last closing mark, or all that closes them where it is not unique."""
        tail = self.ends.call_tail.strip()
        mark = last_mark(tail)
        if not mark:
            return self.syntax.close if self.syntax else ""
        return mark if tail.count(mark) == 1 else tail

    def grammar(self, tools: Sequence[ToolSpec]) -> Grammar | None:
        """A lazy grammar for calls; None where calls are not JSON behind a mark, or there are no tools."""
        if not tools:
            return None
        key = b"\n".join(tool.wire for tool in tools)
        if key not in self._grammars:
            self._grammars[key] = grammar_for(self.render, self.ends, self.syntax, tools)
        return self._grammars[key]

    @cached_property
    def _grammars(self) -> dict[bytes, Grammar | None]:
        """One for each set of tools asked for: every request of a session asks for the same."""
        return {}

    def rendering(self, prefix: Prefix, items: Sequence[Item]) -> str:
        """The template's own rendering of a whole conversation, from items rather than generated text.

        Raises Refused.
        """
        return self.render(self._entries(prefix, items), prefix.tools)

    def rendering_closed(self, prefix: Prefix, items: Sequence[Item]) -> str:
        """The same without the generation prompt."""
        return self.render(self._entries(prefix, items), prefix.tools, is_open=False)

    def _entries(self, prefix: Prefix, items: Sequence[Item]) -> list[Entry]:
        form = self.render.form
        entries: list[Entry] = system_entry(form.system(prefix.system, prefix.tools))
        batch: list[NewItem] = []
        for item in items:
            if not isinstance(item, Assistant):
                batch.append(item)
                continue
            entries += entries_of(fold(batch)) if batch else []
            batch = []
            entries.append(_entry(item))
        return entries + (entries_of(fold(batch)) if batch else [])


def _entry(item: Assistant) -> Entry:
    calls = tuple(Call(call.id, call.name, _object(call.arguments)) for call in item.calls)
    return Entry("assistant", item.text, item.reasoning, calls)


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
