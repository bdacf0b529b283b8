"""Forced decoding: the engine decodes recorded messages, so a slot holds what a real run leaves in it.

A grammar that admits one text makes the model write that text token by token. Sending a recorded message as part
of the prompt instead would have the server prefill what a real run decodes.
"""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from oasis.core.divergence import common_prefix
from oasis.core.events import Prefill, Reasoning, Text
from oasis.core.items import Assistant, Stop, ToolCall, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Request
from oasis.dialect.dialect import Dialect
from oasis.engine.llama import LlamaClient
from oasis.errors import ServerFault
from oasis.models.base import Lane, Model, Reply, Sampling
from oasis.models.chat_messages import encoded, message_object

_ASKED = User("x")
_ASCII_OR_NOT = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
_NOTHING = '""'
_STAND_IN = "zqargumentsqz"
_PLACE = re.compile(rf'\{{\s*"{_STAND_IN}"\s*:\s*"{_STAND_IN}"\s*\}}|{_STAND_IN}')
"""Where the stand-in arguments are written: as JSON, or the stand-in alone where the dialect writes none."""


class ReplayModel:
    """A model behind a llama.cpp server, made to decode `messages` in order, whatever it is asked.

    In the token lane a reply is what the dialect reads out of the decoded ids. In the chat lane the server is kept
    from reading calls (it refuses a grammar otherwise), so the recorded message is given back in place of the text
    that was decoded. Raises ServerFault where the server decoded another text, AssertionError where the recording
    has run out.
    """

    def __init__(self, model: Model, client: LlamaClient, dialect: Dialect, messages: Sequence[Assistant]) -> None:
        self.name, self.lane, self.identity = model.name, model.lane, model.identity
        self.context_tokens, self.encoder = model.context_tokens, model.encoder
        self._model = model
        self._forcing = Forcing(client, dialect)
        self._messages = list(messages)
        self._played = 0
        self.written: list[str] = []

    async def stream(
        self,
        request: Request,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
    ) -> AsyncGenerator[Prefill | Reasoning | Text | Reply, None]:
        if self._played == len(self._messages):
            raise AssertionError(f"the recording has {self._played} messages and the model was asked once more")
        recorded = self._messages[self._played]
        text = self._forcing.text(request.prefix, recorded)
        forced = replace(await self._forcing.sampling(text), max_tokens=sampling.max_tokens)
        async with aclosing(self._model.stream(request, forced)) as parts:
            async for part in parts:
                if not isinstance(part, Reply):
                    yield part
                    continue
                self._played += 1
                self.written.append(text)
                yield Reply(self._kept(text, recorded, part.message), part.usage)

    def _kept(self, text: str, recorded: Assistant, got: Assistant) -> Assistant:
        """The message to go on with, once it is sure that the server wrote `text`."""
        if self.lane is Lane.TOKENS:
            if got.stop is Stop.LENGTH and text.startswith(got.raw):
                return got
            if not got.raw.startswith(text):
                raise ServerFault(_not_forced(text, got.raw))
            return got
        if recorded.text.strip() not in got.text:
            raise ServerFault(_not_forced(recorded.text, got.text))
        return self._forcing.as_sent(recorded, text)

    def partial(self) -> Assistant:
        """What had come of the message when the stream was closed. The message is not decoded again."""
        self._played += 1
        return self._model.partial()

    async def close(self) -> None:
        await self._model.close()


class Forcing:
    """Makes a server write a given text and nothing else, by token ids (llama.cpp's `<[id]>` in GBNF)."""

    def __init__(self, client: LlamaClient, dialect: Dialect) -> None:
        self._client = client
        self._dialect = dialect

    def text(self, prefix: Prefix, message: Assistant) -> str:
        """What the model writes for `message`: its text with control tokens, without the one that closes it."""
        return written(self._dialect, prefix, message)

    async def sampling(self, text: str) -> Sampling:
        """Settings under which `text` is all that can be decoded, cut into tokens as the server cuts it.

        Letters beyond ASCII stand in the grammar as letters: llama.cpp (autumn 2026) loses its place where a token
        named by its id is only a part of a letter. So does text that the tokeniser does not give back as it was.
        """
        parts = [await self.exactly(part) for part in _ASCII_OR_NOT.findall(text)]
        return Sampling(temperature=0.0, grammar=f"root ::= {' '.join(parts) or _NOTHING}")

    async def exactly(self, part: str) -> str:
        """GBNF that admits this part alone."""
        if part.isascii():
            ids = await self._client.tokenize(part, True)
            if await self._client.detokenize(ids) == part:
                return " ".join(f"<[{i}]>" for i in ids)
        return json.dumps(part, ensure_ascii=False)

    def as_sent(self, recorded: Assistant, text: str) -> Assistant:
        """The message as a chat request holds it: calls apart, or in the text where the template shows none."""
        if self._dialect.render.form.shows_calls:
            message = message_object(recorded.text, recorded.reasoning, recorded.calls)
        else:
            message = message_object(text, "", ())
        return replace(recorded, wire=encoded(message))


def written(dialect: Dialect, prefix: Prefix, message: Assistant) -> str:
    """The text of a recorded message as the dialect's template writes its newest message, up to what closes it.

    Arguments that are no JSON object stand in it as they were recorded.
    """
    whole = replace(message, calls=tuple(_with_object(call) for call in message.calls))
    before, after = (dialect.rendering(prefix, items) for items in ([_ASKED], [_ASKED, whole]))
    start = common_prefix(before.encode(), after.encode())
    text = after.encode()[start:].decode(errors="replace").removesuffix(dialect.ends.generation)
    if not after.startswith(before) and not message.reasoning:
        text = dialect.thinking.gap + text
    stop = dialect.ends.call_stop if message.calls else dialect.ends.text_stop
    text = text[: text.rfind(stop)] if stop and stop in text else text
    for call, sound in zip(message.calls, whole.calls, strict=True):
        if call is not sound:
            text = re.sub(_PLACE, lambda _, arguments=call.arguments: arguments, text, count=1)
    return text


def _with_object(call: ToolCall) -> ToolCall:
    try:
        is_object = isinstance(json.loads(call.arguments), dict)
    except ValueError:
        is_object = False
    return call if is_object else replace(call, arguments=json.dumps({_STAND_IN: _STAND_IN}))


def _not_forced(wanted: str, got: str) -> str:
    pairs = enumerate(zip(wanted, got, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(wanted), len(got)))
    return (
        f"The server was made to decode a recorded message and wrote {got[at : at + 40]!r} in place of "
        f"{wanted[at : at + 40]!r}. It does not keep to grammars of token ids; update llama.cpp."
    )
