"""Finding model servers on this machine, and telling what kind one is."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from oasis.engine.faults import explained, refusal
from oasis.engine.http import connect, read_limit
from oasis.errors import OasisError, ServerFault, ServerLoading

if TYPE_CHECKING:
    import httpx

KNOWN_PORTS = (8080, 11434, 1234, 8000)
"""Where llama.cpp, Ollama, LM Studio and vLLM listen unless told otherwise."""

Kind = Literal["llama.cpp", "ollama", "lmstudio", "vllm", "openai"]

_LOOK_S = 4.0
"""How long one answer of a server on this machine may take: its machine may be computing a prompt on every core."""
_LOOK_ALL_S = 15.0
_ASK_S = 20.0


@dataclass(frozen=True, slots=True)
class Found:
    """A model server. `models` are the names it serves; `note` is what a person should know, often empty."""

    url: str
    kind: Kind
    models: tuple[str, ...] = ()
    note: str = ""


async def discover(ports: tuple[int, ...] = KNOWN_PORTS) -> list[Found]:
    """The servers that answer on loopback, in the order of `ports`; what does not answer within seconds is left out."""
    looks = [_look(f"http://127.0.0.1:{port}") for port in ports]
    return [found for found in await asyncio.gather(*looks) if found is not None]


async def identify(url: str, *, api_key: str = "", limit_s: float = _ASK_S) -> Found:
    """What kind of server answers at `url`. A path `/v1` at its end is left out.

    Raises ServerUnreachable where nothing answers, ServerFault where it is no model server or refuses the key.
    """
    base = url.rstrip("/").removesuffix("/v1")
    async with connect(base, api_key=api_key) as http:
        return await _identify(http, base, limit_s)


async def _look(url: str) -> Found | None:
    try:
        async with asyncio.timeout(_LOOK_ALL_S):
            return await identify(url, limit_s=_LOOK_S)
    except (OasisError, TimeoutError):
        return None


async def _identify(http: "httpx.AsyncClient", url: str, limit_s: float) -> Found:
    """/props is llama.cpp's alone, and Ollama, LM Studio and vLLM each have a path no other has."""
    try:
        props = await _get(http, "/props", url, limit_s)
    except ServerLoading:
        return Found(url, "llama.cpp", note="It is still loading its model.")
    if "default_generation_settings" in props:
        name = props.get("model_path") or props.get("model_alias") or ""
        return Found(url, "llama.cpp", (str(name),) if name else ())
    listing = await _get(http, "/v1/models", url, limit_s)
    kind = await _kind(http, url, listing, limit_s)
    if kind == "openai" and not isinstance(listing.get("data"), list):
        raise ServerFault(
            f"What answers at {url} is no model server: it shows neither /props nor /v1/models. Check the address."
        )
    models = _names(listing)
    return Found(url, kind, models, "" if models else "It has no model loaded.")


async def _kind(http: "httpx.AsyncClient", url: str, listing: Mapping[str, Any], limit_s: float) -> Kind:
    owners = {str(entry.get("owned_by", "")) for entry in _entries(listing)}
    if "vllm" in owners:
        return "vllm"
    if isinstance((await _get(http, "/api/tags", url, limit_s)).get("models"), list):
        return "ollama"
    if isinstance((await _get(http, "/api/v0/models", url, limit_s)).get("data"), list):
        return "lmstudio"
    return "openai"


def _entries(listing: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    data = listing.get("data")
    entries = cast(list[Any], data) if isinstance(data, list) else []
    return [cast(Mapping[str, Any], entry) for entry in entries if isinstance(entry, Mapping)]


def _names(listing: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry["id"]) for entry in _entries(listing) if entry.get("id"))


async def _get(http: "httpx.AsyncClient", path: str, url: str, limit_s: float) -> Mapping[str, Any]:
    """The JSON object at `path`; empty where the server has none there. A refused key and 503 are raised."""
    with explained(url):
        answer = await http.get(path, timeout=read_limit(limit_s))
    if answer.status_code in (401, 403, 503):
        raise refusal(answer.status_code, answer.text, url)
    try:
        body: object = answer.json() if answer.is_success else {}
    except ValueError:
        body = {}
    return cast(Mapping[str, Any], body) if isinstance(body, Mapping) else {}
