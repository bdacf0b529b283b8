"""Showing a run without a person: events as JSON lines, or progress on stderr and the answer on stdout."""

import json
import sys
import time
from typing import Protocol, TextIO

from oasis.core.events import (
    VERSION,
    CallFinished,
    CallStarted,
    Compacted,
    Compacting,
    Event,
    Prefill,
    Recomputed,
    Retrying,
    Said,
    StepFinished,
    StepStarted,
    Text,
    TurnFinished,
    as_json,
)
from oasis.core.items import Status
from oasis.core.sound import sound
from oasis.core.usage import Usage, amplification
from oasis.ui.clean import clean

_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""What some readers take for the end of a line."""


class Screen(Protocol):
    """Where events go."""

    def show(self, event: Event) -> None: ...

    def close(self) -> None: ...


class JsonLines:
    """One event a line on `out`, as docs/events.md says."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, event: Event) -> None:
        line = {"v": VERSION, **as_json(event)}
        text = sound(json.dumps(line, ensure_ascii=False)).translate(_LINE_ENDS)
        print(text, file=self._out, flush=True)

    def close(self) -> None:
        """Nothing is held back."""


class Progress:
    """A status line and one line a tool call on `err`, the answer on `out`.

    Where `err` is no terminal, only what matters in a log is written, unless `shows_steps`.
    """

    def __init__(self, out: TextIO, err: TextIO, shows_steps: bool = False) -> None:
        self._out = out
        self._err = err
        self._shows_steps = shows_steps
        self._is_live = err.isatty()
        self._began = time.monotonic()
        self._step = 0
        self._briefs: dict[str, str] = {}

    def show(self, event: Event) -> None:
        match event:
            case StepStarted():
                self._step = event.step
                self._status(f"step {event.step} · prompt {_count(event.prompt_tokens)} tokens")
            case Prefill():
                self._status(f"step {self._step} · {_bar(event)}")
            case Text():
                self._status(f"step {self._step} · writing")
            case CallStarted():
                self._briefs[event.call.id] = clean(f"{event.call.name} {event.preview.subject}".strip())[:72]
            case Compacting():
                self._status(f"compacting a prompt of {event.prompt_tokens:,} tokens")
            case TurnFinished():
                self._finish(event)
            case _:
                self._show_line(event)

    def _show_line(self, event: Event) -> None:
        """Events that are a line each."""
        match event:
            case StepFinished():
                self._line(_cost(event))
            case Recomputed():
                self._line(clean(event.words()))
            case CallFinished():
                self._line(f"  {self._briefs.get(event.call_id, event.name)} · {_result(event)}")
            case Retrying():
                self._line(clean(f"{event.reason} Again in {event.wait_s:g} s ({event.attempt})."), always=True)
            case Compacted():
                self._line(compacted_line(event), always=True)
            case Said():
                self._line(clean(event.text), always=True)
            case _:
                pass

    def close(self) -> None:
        self._status("")

    def _finish(self, event: TurnFinished) -> None:
        self._status("")
        if event.text:
            print(clean(event.text), file=self._out, flush=True)
        if event.detail:
            self._line(clean(f"Stopped: {event.detail}"), always=True)
        self._line(f"{_elapsed(self._began)} · {totals(event.usage, event.new_tokens)}", always=True)

    def _status(self, text: str) -> None:
        if self._is_live:
            at = f"{text} · {_elapsed(self._began)}" if text else ""
            print(f"\r\x1b[K{at[:100]}", end="", file=self._err, flush=True)

    def _line(self, text: str, always: bool = False) -> None:
        if self._is_live:
            print(f"\r\x1b[K{text}", file=self._err, flush=True)
        elif always or self._shows_steps:
            print(text, file=self._err, flush=True)


def totals(usage: Usage, new_tokens: int | None) -> str:
    """What a turn cost, in one line."""
    said = f"{usage.prompt_tokens:,} prompt tokens presented"
    if not usage.is_cache_known:
        return f"{said}, {usage.decoded_tokens:,} generated; the server does not say what it reused"
    said += f", {usage.computed_tokens:,} computed"
    if new_tokens:
        said += f", {new_tokens:,} new: amplification {amplification(usage.computed_tokens, new_tokens):.3f}"
    return said


def _cost(event: StepFinished) -> str:
    usage = event.usage
    return (
        f"step {event.step} · prompt {usage.prompt_tokens:,} · cached {usage.cached_tokens:,} · "
        f"computed {usage.computed_tokens:,} · {usage.prefill_ms:,.0f} ms + {usage.decode_ms:,.0f} ms"
    )


def compacted_line(event: Compacted) -> str:
    """What a compaction cost and when it has paid for itself."""
    cold = f", cold {event.cold_s:,.1f} s" if event.cold_s is not None else ""
    steps = event.pays_after_steps
    pays = f"pays after {steps:,} steps" if steps is not None else "no step is known to be cheaper yet"
    new = f" ({event.new_tokens:,} new)" if event.new_tokens is not None else ""
    computed = f"computed {event.computed_tokens:,}{new}" if event.is_cache_known else "reuse not told by the server"
    return (
        f"compacted ({event.reason}): prompt {event.tokens_before:,} → {event.tokens_after:,} tokens · "
        f"{computed} · {event.paid_s:,.1f} s{cold} · {pays}"
    )


def _result(event: CallFinished) -> str:
    first = clean(event.text.strip().split("\n", 1)[0])[:60]
    if event.status is Status.OK:
        return f"{event.run_ms:,.0f} ms · {len(event.text):,} characters"
    return f"{event.status}: {first}"


def _bar(event: Prefill) -> str:
    new = max(1, event.total_tokens - event.cached_tokens)
    done = event.done_tokens - event.cached_tokens
    filled = min(20, 20 * done // new)
    return f"prefill [{'#' * filled}{'.' * (20 - filled)}] {done:,} of {new:,}, {event.cached_tokens:,} cached"


def _count(tokens: int | None) -> str:
    return f"{tokens:,}" if tokens is not None else "?"


def _elapsed(began: float) -> str:
    seconds = int(time.monotonic() - began)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def screen(as_json_lines: bool) -> Screen:
    """The screen for this process' standard streams."""
    return JsonLines(sys.stdout) if as_json_lines else Progress(sys.stdout, sys.stderr)
