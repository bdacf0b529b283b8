"""What stands between this machine and full reuse: settings, packs, server, model, lane, memory."""

import importlib.util
import json
import platform
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from oasis import __version__
from oasis.config import Settings
from oasis.engine.llama import LlamaClient
from oasis.errors import OasisError
from oasis.models.base import Lane
from oasis.models.connect import Connection, connect
from oasis.packs import find_packs

_PROBE_TOKENS = 600
_APPENDED_TOKENS = 32


class Verdict(StrEnum):
    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing seen. `advice` says what to do, empty when nothing needs to be done."""

    verdict: Verdict
    subject: str
    text: str
    advice: str = ""


async def examine(settings: Settings, probes: bool) -> AsyncIterator[Finding]:
    """Everything that was seen, as it is seen. `probes`: also measure reuse with a prompt of some 600 tokens."""
    yield Finding(Verdict.OK, "oasis", f"{__version__} on Python {platform.python_version()}, {platform.system()}")
    for finding in _installed(settings):
        yield finding
    notes: list[str] = []
    try:
        connection = await connect(settings, say=notes.append)
    except OasisError as fault:
        yield Finding(Verdict.FAULT, "model", str(fault))
        return
    try:
        async for finding in _model(connection, notes, probes or connection.engine is not None):
            yield finding
    except OasisError as fault:
        yield Finding(Verdict.FAULT, "model", str(fault))
    finally:
        await connection.close()


def _installed(settings: Settings) -> list[Finding]:
    sources = ", ".join(f"{key} ({source})" for key, source in settings.sources.items() if source != "default")
    found = [Finding(Verdict.OK, "settings", sources or "all at their defaults")]
    if importlib.util.find_spec("xllamacpp"):
        found.append(Finding(Verdict.OK, "engine", "the embedded engine is installed"))
    else:
        advice = "pip install 'oasis-agent[engine]' to run GGUF files without a server"
        found.append(Finding(Verdict.NOTE, "engine", "the embedded engine is not installed", advice))
    packs = ", ".join(sorted(find_packs())) or "none"
    found.append(Finding(Verdict.OK, "packs", f"installed: {packs}; chosen: {', '.join(settings.packs) or 'none'}"))
    return found


async def _model(connection: Connection, notes: list[str], probes: bool) -> AsyncIterator[Finding]:
    model = connection.model
    for note in notes:
        yield Finding(Verdict.OK if model.lane is Lane.TOKENS else Verdict.NOTE, "model", note)
    context = model.context_tokens
    if context is None:
        yield Finding(Verdict.NOTE, "context", "the server does not say how long its context is")
    elif context < 16_384:
        advice = "start the server with -c 32768 or more, or give --context"
        yield Finding(Verdict.NOTE, "context", f"{context:,} tokens: short for a job of many tool calls", advice)
    else:
        yield Finding(Verdict.OK, "context", f"{context:,} tokens")
    client = getattr(model, "client", None)
    if not isinstance(client, LlamaClient):
        return
    for finding in _server(await client.props(), await client.slots()):
        yield finding
    if probes:
        yield await _reuse(client, getattr(model, "slot", None))
    else:
        advice = "`oasis doctor --probe` measures it (it takes one free slot's cache)"
        yield Finding(Verdict.NOTE, "reuse", "not measured on a server that others may use", advice)


def _server(props: Mapping[str, Any], slots: list[dict[str, Any]]) -> list[Finding]:
    found = [
        Finding(Verdict.OK, "server", f"llama.cpp {props.get('build_info', '')}, {len(slots)} slots".replace("  ", " "))
    ]
    if props.get("is_sleeping"):
        found.append(Finding(Verdict.NOTE, "server", "it sleeps; the first call wakes it and finds an empty cache"))
    return found


async def _reuse(client: LlamaClient, slot: int | None) -> Finding:
    """Measure an append and a rewind; what a rewind costs tells the model's kind of memory."""
    sentence = "The pump of station twelve was checked, its bearings are dry and its seal is new. "
    ids = (await client.tokenize(sentence * 60, False))[:_PROBE_TOKENS]
    more = (await client.tokenize("The valve behind it stays closed until the inspection. " * 8, False))[
        :_APPENDED_TOKENS
    ]
    await _computed(client, ids, slot)
    append = await _computed(client, ids + more, slot)
    rewind = await _computed(client, ids + more[::-1], slot)
    said = f"an append of {len(more)} tokens computed {append}; going back {len(more)} tokens computed {rewind}"
    if append > len(more) + 1:
        advice = "start the server without --no-cache-prompt, with a slot for each session (-np N) and --cache-ram 0"
        return Finding(Verdict.FAULT, "reuse", f"{said}: what was held is lost on every call", advice)
    if rewind > len(ids) // 2:
        advice = (
            "a hybrid or sliding-window model without context checkpoints loses everything at an interrupt: "
            "start the server with --ctx-checkpoints 32"
        )
        return Finding(Verdict.NOTE, "reuse", f"{said}: this model's memory cannot be rewound", advice)
    return Finding(Verdict.OK, "reuse", said)


async def _computed(client: LlamaClient, ids: list[int], slot: int | None) -> int:
    """Prompt tokens the server computed for these ids."""
    body = {"prompt": ids, "n_predict": 1, "stream": True, "cache_prompt": True}
    if slot is not None:
        body["id_slot"] = slot
    chunks = [chunk async for chunk in client.complete(json.dumps(body).encode())]
    return int(chunks[-1]["timings"]["prompt_n"])
