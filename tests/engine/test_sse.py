"""Reading server-sent events, however they are cut."""

from collections.abc import AsyncIterator, Iterable

import httpx
import pytest

from oasis.engine.sse import LARGEST_LINE_BYTES, events
from oasis.errors import ServerFault, ServerRefused, ServerUnreachable


async def read(pieces: Iterable[bytes]) -> list[str]:
    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return [data async for data in events(httpx.Response(200, content=stream()))]


async def test_an_event_is_the_same_wherever_the_bytes_are_cut() -> None:
    sent = ': alive\r\n\r\nid: 7\r\nevent: x\r\ndata: {"text":"Förderband 😀"}\r\n\r\ndata:[DONE]\n\n'.encode()
    cuts = [await read([sent[:at], sent[at:]]) for at in range(len(sent) + 1)]
    assert {tuple(c) for c in cuts} == {('{"text":"Förderband 😀"}', "[DONE]")}
    assert await read(bytes([b]) for b in sent) == ['{"text":"Förderband 😀"}', "[DONE]"]


async def test_several_data_lines_are_one_event() -> None:
    assert await read([b"data: a\ndata: b\n\ndata: c\n"]) == ["a\nb", "c"]


async def test_comment_lines_for_a_long_time_are_no_events() -> None:
    assert await read([b": ping\n\n"] * 400 + [b"data: 1\n\n"]) == ["1"]


async def test_half_a_line_at_the_end_is_a_broken_connection() -> None:
    with pytest.raises(ServerUnreachable, match="ended within a line"):
        await read([b'data: 1\n\ndata: {"con'])


async def test_the_last_mark_needs_no_line_end() -> None:
    assert await read([b"data: 1\n\ndata: [DONE]"]) == ["1", "[DONE]"]


@pytest.mark.parametrize("sent", [b"<!DOCTYPE html>\n<title>Sign in</title>", b"\n  <html><body>502"])
async def test_a_web_page_is_refused_at_once(sent: bytes) -> None:
    with pytest.raises(ServerRefused, match="A web page came in place of a model's answer"):
        await read([sent])


@pytest.mark.parametrize("sent", [b'{"error": 1}', b'{"error": 1}\n', b"\xff\xfe\x00\n", b"data\xc3: 1\n"])
async def test_garbage_is_named_as_such(sent: bytes) -> None:
    with pytest.raises(ServerFault, match="no event stream"):
        await read([sent])


async def test_a_line_without_an_end_is_given_up() -> None:
    block = b"x" * (8 << 20)
    with pytest.raises(ServerFault, match="64 MiB"):
        await read([b"data: "] + [block] * (LARGEST_LINE_BYTES // len(block)))
