"""What calls cost, as the server says it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and milliseconds of one or several model calls.

    prompt_tokens    presented to the server
    cached_tokens    of these, reused from the KV cache
    decoded_tokens   generated
    is_cache_known   False where the server does not say what it reused: all then counts as computed
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    decoded_tokens: int = 0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0
    is_cache_known: bool = True

    @property
    def computed_tokens(self) -> int:
        """Prompt tokens that the server prefilled (llama.cpp's `prompt_n`)."""
        return self.prompt_tokens - self.cached_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.decoded_tokens + other.decoded_tokens,
            self.prefill_ms + other.prefill_ms,
            self.decode_ms + other.decode_ms,
            self.is_cache_known and other.is_cache_known,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """What came since `other`."""
        return Usage(
            self.prompt_tokens - other.prompt_tokens,
            self.cached_tokens - other.cached_tokens,
            self.decoded_tokens - other.decoded_tokens,
            self.prefill_ms - other.prefill_ms,
            self.decode_ms - other.decode_ms,
            self.is_cache_known,
        )


def amplification(computed_tokens: int, new_tokens: int) -> float:
    """Prefill amplification: prompt tokens computed over prompt tokens that were new. The limit is 1.00."""
    return computed_tokens / new_tokens if new_tokens else 1.0
