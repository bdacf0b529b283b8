"""Did a step compute more than was new, and if so, where did the reuse end and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oasis.core.events import Recomputed
from oasis.core.items import Assistant, Item, Notice, ToolOutput, User
from oasis.core.transcript import Request, Transcript
from oasis.core.usage import Usage

SLACK_TOKENS = 16
"""Engines compute a few tokens again after a restore or an interrupt; less than this is not told."""
_BRIEF_CHARS = 40


@dataclass(slots=True)
class Watch:
    """Compares each step of a session with what the server could have reused."""

    is_first: bool = True
    was_interrupted: bool = False
    _epoch: int | None = None
    _prompt_before: int = 0

    def see(self, step: int, request: Request, usage: Usage, transcript: Transcript) -> Recomputed | None:
        """Take in a step that is through (its message appended or not); what to tell of it, None where all is well."""
        found = self._compare(step, request, usage, transcript) if usage.is_cache_known else None
        self.is_first = self.was_interrupted = False
        self._epoch, self._prompt_before = request.epoch, usage.prompt_tokens
        return found

    def _compare(self, step: int, request: Request, usage: Usage, transcript: Transcript) -> Recomputed | None:
        is_new_epoch = self._epoch is not None and request.epoch != self._epoch
        if request.new_tokens is not None:
            held = usage.prompt_tokens - request.new_tokens
            extra = usage.computed_tokens - request.new_tokens
        else:
            held = 0 if is_new_epoch else self._prompt_before
            extra = held - usage.cached_tokens
        if extra <= SLACK_TOKENS or held <= 0:
            return None
        kept = max(0, usage.cached_tokens)
        share_ms = usage.prefill_ms * extra / max(1, usage.computed_tokens)
        where = place(transcript.items, request, kept, usage.prompt_tokens)
        return Recomputed(step, kept, held, extra, share_ms, where, self._why(request, kept, is_new_epoch))

    def _why(self, request: Request, kept: int, is_new_epoch: bool) -> str:
        if is_new_epoch:
            return "a new epoch begins behind the head, and the server did not hold the head any more"
        if self.is_first:
            return "the server's slot did not hold this session any more when it was resumed"
        if self.was_interrupted:
            return "the step before was interrupted, and this model's memory cannot go back to that place"
        if kept <= SLACK_TOKENS:
            return "the server held nothing of it: it was started again, or another client took the slot"
        if request.tokens is None:
            return "the server's template wrote this part of the history in another way than before"
        return "the server gave up a part of what it held: another client took the slot, or it could not rewind"


def place(items: Sequence[Item], request: Request, tokens: int, prompt_tokens: int) -> str:
    """What stands in the prompt after its first `tokens` tokens, in a few words.

    Where the lane does not see tokens it is told by the share of the prompt's bytes.
    """
    exact = request.tokens is not None
    sizes = [(chunk.tokens or 0) if exact else len(chunk.wire) for chunk in request.chunks]
    at = tokens if exact else int(sum(sizes) * tokens / max(1, prompt_tokens))
    names = ["the head (system text and tools)", *_names(items)]
    for size, name in zip(sizes, names, strict=False):
        if at < size:
            return name if exact else f"about {name}"
        at -= size
    return "its end"


def _names(items: Sequence[Item]) -> Iterator[str]:
    """One name for each chunk after the head: a batch of new items, or a message of the model."""
    batch: list[Item] = []
    for item in items:
        if isinstance(item, Assistant):
            if batch:
                yield _named(batch)
                batch = []
            yield f"the model's message {_quoted(item.text or item.reasoning)}".rstrip()
        else:
            batch.append(item)
    if batch:
        yield _named(batch)


def _named(batch: Sequence[Item]) -> str:
    for item in batch:
        if isinstance(item, ToolOutput):
            return f"the output of {item.name}"
    for item in batch:
        if isinstance(item, User):
            return f"your message {_quoted(item.text)}"
    return "a notice" if isinstance(batch[0], Notice) else "the conversation"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:_BRIEF_CHARS]}{'…' if len(line) > _BRIEF_CHARS else ''}”" if line else ""
