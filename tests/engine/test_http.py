"""Whom a client talks to: proxies and localhost."""

import socket
from typing import Any

import pytest

from oasis.engine.http import connect, host_of, is_loopback
from oasis.errors import ConfigError
from tests.engine.answering import always, answering, whole

OK = whole("200 OK", '{"status":"ok"}')


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_this_machine_is_reached_without_a_proxy(host: str) -> None:
    assert is_loopback(host_of(f"http://{host}:8080"))


async def test_a_proxy_is_not_used_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(always(OK)) as server, answering(always(whole("502 Bad Gateway", ""))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        async with connect(server.url) as http:
            assert (await http.get("/health")).json() == {"status": "ok"}
        assert proxy.requests == []


async def test_a_proxy_is_used_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(always(OK)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removeprefix("http://"))
        monkeypatch.delenv("no_proxy", raising=False)
        async with connect("http://cabinet.invalid:8080") as http:
            await http.get("/health")
        assert proxy.requests == ["GET http://cabinet.invalid:8080/health HTTP/1.1"]


async def test_localhost_falls_back_to_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    find = socket.getaddrinfo

    def both(host: Any, port: Any, *rest: Any, **more: Any) -> list[Any]:
        if host not in ("localhost", b"localhost"):
            return find(host, port, *rest, **more)
        kind = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        return [
            (socket.AF_INET6, *kind, ("::1", int(port), 0, 0)),
            (socket.AF_INET, *kind, ("127.0.0.1", int(port))),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    async with answering(always(OK)) as server, connect(f"http://localhost:{server.port}") as http:
        assert (await http.get("/health")).json() == {"status": "ok"}


@pytest.mark.parametrize("url", ["localhost:8080", "", "ftp://x", "http://", "http://x:port"])
def test_what_is_no_address_is_refused_in_words(url: str) -> None:
    with pytest.raises(ConfigError, match="is not a server's address"):
        connect(url)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://[::1", "ftp://x"])
def test_a_proxy_that_cannot_be_used_is_named_by_its_variables(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(ConfigError, match="HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"):
        connect("http://cabinet.invalid:8080")


@pytest.mark.parametrize("key", ["schlüssel", "one\ntwo"])
def test_a_key_that_no_header_can_carry_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError) as told:
        connect("http://127.0.0.1:1", api_key=key)
    assert key not in str(told.value)


async def test_white_space_around_a_key_is_not_sent() -> None:
    async with connect("http://127.0.0.1:1", api_key=" key\n") as http:
        assert http.headers["Authorization"] == "Bearer key"
