"""What ordinary harnesses do to a message list between two requests, and a sender for such lists.

These lists are not transcripts: each request is written anew, which is what is being measured.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from oasis.core.usage import Usage
from oasis.engine.faults import explained, refusal
from oasis.engine.http import connect, no_read_limit
from oasis.models.base import Sampling
from oasis.models.tokens import usage_of

Messages = list[dict[str, Any]]
Habit = Callable[[Messages, int], Messages]

KEPT_OUTPUTS = 6
PRUNED = "[old tool output removed to save space]"


def clock(messages: Messages, step: int) -> Messages:
    """The system prompt ends with the time, which has moved on since the last step."""
    first, *rest = copy.deepcopy(messages)
    minute, second = divmod(step * 23, 60)
    first["content"] += f"\nCurrent time: 2026-03-02 09:{minute:02d}:{second:02d}"
    return [first, *rest]


def dropped(messages: Messages, step: int) -> Messages:
    """Reasoning is shown to the user and not sent back."""
    del step
    return [{k: v for k, v in message.items() if k != "reasoning_content"} for message in messages]


def pruned(messages: Messages, step: int) -> Messages:
    """Tool outputs older than the newest KEPT_OUTPUTS give way to a placeholder."""
    del step
    kept = copy.deepcopy(messages)
    outputs = [message for message in kept if message["role"] == "tool" or message["content"].startswith("Output of ")]
    for message in outputs[:-KEPT_OUTPUTS]:
        message["content"] = PRUNED
    return kept


HABITS: Mapping[str, Habit] = {"clock": clock, "dropped": dropped, "pruned": pruned}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server decoded, reasoning and text as it split them, and what it cost."""

    reasoning: str
    text: str
    usage: Usage


class Sender:
    """Sends lists of messages to /v1/chat/completions of a llama.cpp server; use it in an `async with` block."""

    def __init__(self, base_url: str, tools: Sequence[Mapping[str, Any]], extra: Mapping[str, Any]) -> None:
        self._url = base_url
        self._tools = list(tools)
        self._extra = dict(extra)
        self._http = connect(base_url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *ended: object) -> None:
        await self._http.aclose()

    async def send(self, messages: Messages, sampling: Sampling) -> Answer:
        """Ask for the next message. Raises ServerFault, ServerUnreachable."""
        body = {
            "messages": messages,
            "tools": self._tools,
            "tool_choice": "none",  # llama.cpp takes a grammar beside tools with this only; the prompt stays the same
            "grammar": sampling.grammar,
            "temperature": sampling.temperature,
            "cache_prompt": True,
            **self._extra,
        }
        with explained(self._url):
            content = json.dumps(body, ensure_ascii=False).encode()
            response = await self._http.post("/v1/chat/completions", content=content, timeout=no_read_limit())
        if response.status_code >= 400:
            raise refusal(response.status_code, response.text, self._url)
        answer = response.json()
        message, timings = answer["choices"][0]["message"], answer["timings"]
        usage = usage_of(answer, int(timings["prompt_n"]) + int(timings["cache_n"]))
        return Answer(message.get("reasoning_content") or "", message.get("content") or "", usage)
