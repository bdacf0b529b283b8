"""Client of llama.cpp's native HTTP API (tools/server/README.md of llama.cpp)."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from oasis.engine.faults import explained, refusal, reported
from oasis.engine.http import QUEUE_S, connect, no_read_limit, read_limit
from oasis.engine.pieces import Pieces
from oasis.engine.sse import DONE, events, shown
from oasis.errors import ServerFault, ServerUnreachable

if TYPE_CHECKING:
    import httpx

_LARGEST_ERROR_BYTES = 1 << 20


class LlamaClient:
    """One llama.cpp server.

    Every method raises ServerUnreachable, ServerLoading or ServerFault; `complete` also ContextFull.
    """

    def __init__(self, base_url: str, *, api_key: str = "") -> None:
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._http: httpx.AsyncClient | None = None
        self._pieces = Pieces(self._tokenised)

    async def props(self) -> dict[str, Any]:
        """What the server says of itself: model, slots, chat template, context of a slot."""
        return await self._object("GET", "/props")

    async def slots(self) -> list[dict[str, Any]]:
        """State of each slot. It waits for the batch being computed."""
        answer = await self._ask("GET", "/slots", limit_s=QUEUE_S)
        if not isinstance(answer, list):
            raise self._strange("/slots", answer)
        return cast(list[dict[str, Any]], answer)

    async def health(self) -> dict[str, Any]:
        """Return when the server is ready; ServerLoading while its model is being loaded."""
        return await self._object("GET", "/health")

    async def tokenize(self, text: str, special: bool, *, add_special: bool = False) -> list[int]:
        """Ids of `text`. Only with `special` is a control token's text that token.

        With `add_special` the model's own beginning-of-text token stands before it, where the model has one.
        """
        body = {"content": text, "add_special": add_special, "parse_special": special}
        answer = await self._object("POST", "/tokenize", body)
        if not isinstance(answer.get("tokens"), list):
            raise self._strange("/tokenize", answer)
        return cast(list[int], answer["tokens"])

    async def detokenize(self, ids: Sequence[int]) -> str:
        """Text of the ids, that of control tokens too."""
        answer = await self._object("POST", "/detokenize", {"tokens": list(ids)})
        if not isinstance(answer.get("content"), str):
            raise self._strange("/detokenize", answer)
        return cast(str, answer["content"])

    async def apply_template(self, body: Mapping[str, Any]) -> str:
        """The prompt the server's chat template makes of a chat request's `messages`, `tools` and the like."""
        answer = await self._object("POST", "/apply-template", body)
        if not isinstance(answer.get("prompt"), str):
            raise self._strange("/apply-template", answer)
        return cast(str, answer["prompt"])

    async def erase(self, slot: int) -> dict[str, Any]:
        """Empty a slot's KV cache. It waits until the slot is free."""
        return await self._slot(slot, "erase")

    async def save(self, slot: int, filename: str) -> dict[str, Any]:
        """Write a slot's KV cache to `filename` in the server's slot folder: `n_saved` tokens, `n_written` bytes."""
        return await self._slot(slot, "save", filename)

    async def restore(self, slot: int, filename: str) -> dict[str, Any]:
        """Fill a slot's KV cache from a file: `n_restored` tokens, `n_read` bytes."""
        return await self._slot(slot, "restore", filename)

    async def complete(self, body: bytes) -> AsyncGenerator[dict[str, Any]]:
        """POST /completion with a ready JSON body that asks for a stream; each object the server sends, as it comes.

        Objects with `prompt_progress` come during prefill, then those with `tokens` and `content`, and last one
        with `stop` true, `timings`, `stop_type` and `truncated`. An object's `tokens` are all since the one before;
        `lost_tokens` counts those that the server kept to itself and that could not be found (see pieces.py).
        Closing the iterator early closes the connection, which cancels at the server; where it might be left
        half-way, use `contextlib.aclosing`.
        Raises ContextFull for a prompt that does not fit, ServerUnreachable where the stream ends too soon.
        """
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        http = self._client()
        received = 0
        with explained(self.base_url):
            async with http.stream(
                "POST", "/completion", content=body, headers=headers, timeout=no_read_limit()
            ) as response:
                if response.status_code >= 300:
                    raise refusal(response.status_code, await _bounded(response), self.base_url)
                async with aclosing(events(response)) as stream:
                    async for data in stream:
                        if data == DONE:
                            break
                        chunk = await self._whole(self._chunk(data), received)
                        received = chunk.get("tokens_predicted", received)
                        yield chunk
                        if chunk.get("stop"):
                            return
        raise ServerUnreachable(f"The server at {self.base_url} ended the stream before the message was complete.")

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def _client(self) -> "httpx.AsyncClient":
        if self._http is None:
            self._http = connect(self.base_url, api_key=self._api_key)
        return self._http

    async def _slot(self, slot: int, action: str, filename: str = "") -> dict[str, Any]:
        body = {"filename": filename} if filename else {}
        return await self._object("POST", f"/slots/{slot}?action={action}", body, limit_s=QUEUE_S)

    async def _object(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, limit_s: float | None = None
    ) -> dict[str, Any]:
        answer = await self._ask(method, path, body, limit_s)
        if not isinstance(answer, dict):
            raise self._strange(path, answer)
        return cast(dict[str, Any], answer)

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, limit_s: float | None = None
    ) -> object:
        http = self._client()
        timeout = read_limit(limit_s) if limit_s else http.timeout
        with explained(self.base_url):
            response = await http.request(method, path, json=body, timeout=timeout)
        if response.status_code >= 300:
            raise refusal(response.status_code, response.text, self.base_url)
        try:
            return response.json()
        except ValueError as error:
            raise self._strange(path, response.text) from error

    def _chunk(self, data: str) -> dict[str, Any]:
        try:
            chunk: object = json.loads(data)
        except ValueError as error:
            raise self._strange("/completion", data) from error
        if not isinstance(chunk, dict):
            raise self._strange("/completion", data)
        fields = cast(dict[str, Any], chunk)
        if fields.get("error") or ("message" in fields and "code" in fields):
            raise reported(fields, self.base_url)
        if "prompt_progress" in fields:
            fields.pop("tokens", None)  # llama.cpp (autumn 2026) puts a token 0 here that nothing generated
        return fields

    async def _whole(self, chunk: dict[str, Any], received: int) -> dict[str, Any]:
        """The object with all ids since the one before; `lost_tokens` counts those that are not known.

        They are then a guess that makes the same text, or, in the last object, missing with their text.
        """
        lost = chunk.get("tokens_predicted", received) - received - len(chunk.get("tokens", ()))
        if lost <= 0 or not chunk.get("tokens"):
            return chunk | {"lost_tokens": lost} if lost > 0 and chunk.get("stop") else chunk
        text, last = chunk["content"], chunk["tokens"][-1]
        ids = await self._pieces.find(text, lost + 1, last)
        if ids:
            return chunk | {"tokens": ids}
        return chunk | {"tokens": await self.tokenize(text, special=False) or [last], "lost_tokens": lost}

    async def _tokenised(self, text: str) -> list[tuple[int, bytes]]:
        body = {"content": text, "add_special": False, "parse_special": False, "with_pieces": True}
        answer = await self._object("POST", "/tokenize", body)
        tokens: list[dict[str, Any]] = answer.get("tokens", [])
        return [(t["id"], t["piece"].encode() if isinstance(t["piece"], str) else bytes(t["piece"])) for t in tokens]

    def _strange(self, path: str, answer: object) -> ServerFault:
        return ServerFault(
            f"{self.base_url}{path} answered {shown(str(answer))}, which is not what a llama.cpp server says. "
            "Check the address."
        )


async def _bounded(response: "httpx.Response") -> str:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _LARGEST_ERROR_BYTES:
            break
    return bytes(body[:_LARGEST_ERROR_BYTES]).decode(errors="replace")
