"""Server-sent events: the data of each event in a streaming response.

The form is the WHATWG HTML standard's, section 9.2.6, read at the bytes: a line may be cut anywhere,
also within a UTF-8 character. Comment lines (servers send them to say that they are alive) are skipped.
"""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from oasis.errors import ServerFault, ServerRefused, ServerUnreachable

if TYPE_CHECKING:
    import httpx

DONE = "[DONE]"
"""What OpenAI-compatible servers send as their last data."""

LARGEST_LINE_BYTES = 64 << 20
_DATA = ("data", "error")
_SKIPPED = ("event", "id", "retry", "")


async def events(response: "httpx.Response") -> AsyncGenerator[str]:
    """The data of each event, in order, as it comes.

    Raises ServerFault for what is no event stream, ServerRefused for a web page, since that comes again, and
    ServerUnreachable where the response ends within a line. httpx's own errors (connection reset) pass through.
    """
    data: list[str] = []
    async for line in _lines(response):
        if line:
            field, value = _field(line)
            if field in _DATA:
                data.append(value)
        elif data:
            yield "\n".join(data)
            data.clear()
    if data:
        yield "\n".join(data)


async def _lines(response: "httpx.Response") -> AsyncGenerator[str]:
    pending = bytearray()
    async for piece in response.aiter_bytes():
        searched = len(pending)
        pending += piece
        start = 0
        while (end := pending.find(b"\n", max(start, searched))) >= 0:
            yield _text(bytes(pending[start:end]))
            start = end + 1
        del pending[:start]
        if len(pending) > LARGEST_LINE_BYTES:
            raise ServerFault(f"The server sent a line of more than {LARGEST_LINE_BYTES >> 20} MiB; it was given up.")
    if not pending:
        return
    rest = pending.decode(errors="replace")
    if rest.lstrip().startswith(("<", "{")):
        raise _garbage(rest)
    if rest.strip() != f"data: {DONE}":
        raise ServerUnreachable(
            f"The server's answer ended within a line ({shown(rest)}). The connection was cut; send it again."
        )
    yield rest.strip()


def _text(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _garbage(line.decode(errors="replace")) from error


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if name not in _DATA + _SKIPPED or not (colon or name):
        raise _garbage(line)
    return name, value.removeprefix(" ")


def _garbage(line: str) -> ServerFault:
    if line.lstrip().startswith("<"):
        return ServerRefused(
            f"A web page came in place of a model's answer: {shown(line.strip())}. Another program or a proxy answers "
            "at this address. Name the model server's own; one on another machine may need NO_PROXY."
        )
    return ServerFault(
        f"The server sent what is no event stream: {shown(line)}. "
        "Check that the address is a model server's and that nothing between rewrites its answers."
    )


def shown(text: str, limit: int = 200) -> str:
    """A server's text quoted for a message to a person, cut to `limit` characters."""
    return repr(text if len(text) <= limit else text[:limit] + "…")
