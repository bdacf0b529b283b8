"""A server's failures as Oasis' errors, the same for both lanes."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from oasis.engine.sse import shown
from oasis.errors import ConfigError, ContextFull, ServerFault, ServerLoading, ServerRefused, ServerUnreachable

_PASSING = (408, 425, 429)
"""Refusals that pass by themselves: time-out, too early, too many requests."""
_CUT = ("peer closed", "server disconnected", "connection closed")


@contextmanager
def explained(url: str) -> Generator[None]:
    """Within it, httpx's errors become ServerUnreachable or ServerFault."""
    import httpx  # noqa: PLC0415

    try:
        yield
    except httpx.ConnectTimeout as error:
        raise ServerUnreachable(
            f"Nothing answered at {url} in time. Is the machine on and the address right?"
        ) from error
    except httpx.ConnectError as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise ServerFault(
                f"The certificate of {url} is not trusted. Name the authority that signed it in SSL_CERT_FILE."
            ) from error
        if "SSL" in str(error):
            raise ServerFault(
                f"{url} does not speak TLS ({_reason(error)}). Write http:// instead of https://."
            ) from error
        raise ServerUnreachable(
            f"Nothing answers at {url} ({_reason(error)}). Start the server, or name another."
        ) from error
    except httpx.TimeoutException as error:
        raise ServerUnreachable(f"The server at {url} accepted the request and did not answer in time.") from error
    except httpx.RemoteProtocolError as error:
        if any(cut in str(error).lower() for cut in _CUT):
            raise ServerUnreachable(
                f"The connection to {url} ended before the answer did ({_reason(error)})."
            ) from error
        raise ServerFault(f"What answers at {url} does not speak HTTP as it should ({_reason(error)}).") from error
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise ConfigError(f"{url} cannot be used as a server's address ({_reason(error)}).") from error
    except httpx.TransportError as error:
        raise ServerUnreachable(f"The connection to {url} broke ({_reason(error)}).") from error
    except httpx.DecodingError as error:
        raise ServerFault(f"The answer of {url} could not be decompressed ({_reason(error)}).") from error


def refusal(status: int, body: str, url: str) -> ServerFault:
    """What an HTTP status of 400 or more means, with the server's own words."""
    try:
        answer: object = json.loads(body)
    except ValueError:
        answer = body.strip()
    return reported(answer, url, status)


def reported(answer: object, url: str, status: int = 200) -> ServerFault:
    """An error the server put in an answer: an object `error` (llama.cpp, OpenAI, vLLM) or a text."""
    error: Any = answer
    if isinstance(answer, Mapping):
        fields = cast(Mapping[str, Any], answer)
        error = fields.get("error", fields.get("detail", fields.get("message", fields)))
    details: Mapping[str, Any] = cast(Mapping[str, Any], error) if isinstance(error, Mapping) else {}
    said = str(details.get("message") or cast(object, error) or "")
    code = details.get("code") or status
    if "exceed_context_size" in str(details.get("type", "")) or _says_full(said):
        limit = details.get("n_ctx")
        return ContextFull(
            f"The prompt does not fit the server's context of {limit or 'unknown'} tokens: {shown(said)}.",
            limit if isinstance(limit, int) else None,
        )
    if status == 503 or (code == 503 and "loading" in said.lower()):
        return ServerLoading(
            f"The server at {url} is not ready: {shown(said or 'Loading model')}. It will be asked again."
        )
    if status in (401, 403):
        return ServerRefused(f"The server at {url} refused the key: {shown(said)}. Set OASIS_API_KEY.")
    if 300 <= status < 400:
        return ServerRefused(f"The server at {url} sends its callers elsewhere ({status}). Name that address instead.")
    if 400 <= status < 500 and status not in _PASSING:
        return ServerRefused(f"The server at {url} refused the request ({code}): {shown(said, 600)}.")
    return ServerFault(f"The server at {url} answered with an error ({code}): {shown(said, 600)}.")


def _says_full(said: str) -> bool:
    words = said.lower()
    return "maximum context length" in words or "exceeds the available context size" in words


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
