"""How Oasis speaks HTTP to a model server: one client made for one base URL."""

import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from oasis.errors import ConfigError

if TYPE_CHECKING:
    import httpx

CONNECT_S = 10.0
ANSWER_S = 60.0
"""How long a short answer (properties, tokens) may take. The server answers these beside its computing."""
QUEUE_S = 900.0
"""How long an answer may take that waits its turn behind a batch being computed (slots, save, restore)."""


def connect(base_url: str, *, api_key: str = "") -> "httpx.AsyncClient":
    """A client for the server at `base_url`.

    A proxy named by the environment is used for other machines and never for this one. `localhost` is
    tried on IPv6 and IPv4. Connecting is bounded; a read is bounded by ANSWER_S unless a request says
    otherwise. Raises ConfigError for an address, a key or a proxy that cannot be one.
    """
    import httpx  # noqa: PLC0415

    url = base_url.rstrip("/")
    host = host_of(url)
    key = api_key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"The key for {host} holds characters that no key can have. Copy it once more.")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    proxy = _proxy(url, host)
    try:
        transport = httpx.AsyncHTTPTransport(
            proxy=proxy, socket_options=_keepalive(), limits=httpx.Limits(keepalive_expiry=4.0)
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"The proxy that your environment names for {host} cannot be used; its address must begin with http:// or "
            f"https://. Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, or name {host} in NO_PROXY."
        ) from error
    return httpx.AsyncClient(
        base_url=url,
        headers=headers,
        transport=transport,
        timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S, pool=None),
        trust_env=False,
    )


def no_read_limit() -> "httpx.Timeout":
    """For a stream: a prefill may be silent for many minutes. A dead peer is found by TCP keep-alive."""
    return read_limit(None)


def read_limit(seconds: float | None) -> "httpx.Timeout":
    """Time-outs of a request whose answer may take `seconds`, None for any time."""
    import httpx  # noqa: PLC0415

    return httpx.Timeout(seconds, connect=CONNECT_S, write=QUEUE_S, pool=None)


def host_of(url: str) -> str:
    """The host in an http or https URL. Raises ConfigError where there is none."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is not a server's address: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"{url!r} is not a server's address. Write it like http://127.0.0.1:8080.")
    return host


def is_loopback(host: str) -> bool:
    """Whether `host` can only mean this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _proxy(url: str, host: str) -> str | None:
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(urlsplit(url).scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _keepalive() -> list[tuple[int, int, int]]:
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, seconds in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), seconds))
    return options
