"""The objects of a chat completions stream, as servers really send them."""

import json
from typing import Any

from pydantic import BaseModel, Field, field_validator

from oasis.core.usage import Usage

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


class Function(BaseModel):
    """A piece of a call's name and arguments."""

    name: str | None = None
    arguments: str | None = None

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Some servers send the arguments as an object, whole."""
        return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class CallPiece(BaseModel):
    """A piece of one call; some servers leave `index` out."""

    index: int | None = None
    id: str | None = None
    function: Function = Function()


class Delta(BaseModel):
    """What was generated since the piece before. Reasoning comes under one of REASONING_FIELDS."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    thinking: str | None = None
    tool_calls: list[CallPiece] | None = None


class Choice(BaseModel):
    delta: Delta = Delta()
    finish_reason: str | None = None


class Progress(BaseModel):
    """llama.cpp's progress of the prefill, in tokens."""

    total: int
    cache: int
    processed: int


class Timings(BaseModel):
    """llama.cpp's count: `prompt_n` computed, `cache_n` reused, `predicted_n` generated."""

    prompt_n: int
    cache_n: int = 0
    predicted_n: int
    prompt_ms: float
    predicted_ms: float


class CachedTokens(BaseModel):
    cached_tokens: int | None = None


class TokenCounts(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: CachedTokens | None = None


class ChatChunk(BaseModel):
    """One object of the stream. `error` is set where the server reports one in mid-stream."""

    choices: list[Choice] = Field(default_factory=list[Choice])
    usage: TokenCounts | None = None
    timings: Timings | None = None
    prompt_progress: Progress | None = None
    error: Any = None


def usage_of(timings: Timings | None, counts: TokenCounts | None) -> Usage:
    """llama.cpp's `timings` where they are; otherwise `usage`, whose cached tokens not every server tells."""
    if timings:
        return Usage(
            timings.prompt_n + timings.cache_n,
            timings.cache_n,
            timings.predicted_n,
            timings.prompt_ms,
            timings.predicted_ms,
        )
    counts = counts or TokenCounts()
    cached = counts.prompt_tokens_details.cached_tokens if counts.prompt_tokens_details else None
    return Usage(counts.prompt_tokens, cached or 0, counts.completion_tokens, is_cache_known=cached is not None)
