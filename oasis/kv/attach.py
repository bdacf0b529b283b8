"""A runtime for a server: its fingerprint, where its states lie, what it can do."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from oasis.engine.llama import LlamaClient
from oasis.errors import OasisError, ServerFault
from oasis.gguf import metadata
from oasis.kv.fingerprint import Fingerprint, fingerprint_of, model_sha256
from oasis.kv.runtime import Runtime
from oasis.kv.store import Store

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NOT_A_NAME = "/"


@dataclass(frozen=True)
class Own:
    """An engine started by this process: its model file and the settings it was started with."""

    model: Path
    settings: Mapping[str, Any]


async def attach(
    client: LlamaClient,
    props: Mapping[str, Any],
    store: Store,
    *,
    own: Own | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Runtime | None:
    """A runtime with its slot leased; None, with the reason said, where it cannot work. It closes the store.

    With `own` the engine's slot folder is the store's.
    """
    runtime: Runtime | None = None
    try:
        runtime = Runtime(
            client,
            store,
            await fingerprint(client, props, store, own),
            slots=range(int(props.get("total_slots") or 1)),
            place="" if own else client.base_url,
            can_save=bool(own) or await _saves(client, say),
            is_windowed=_is_windowed(own.model if own else _model_here(client.base_url, props)),
            say=say,
        )
        if await runtime.open() is not None:
            return runtime
    except OasisError as fault:
        say(f"Nothing is saved or restored: {fault}")
    if runtime is None:
        store.close()
    else:
        await runtime.close()
    return None


async def fingerprint(
    client: LlamaClient, props: Mapping[str, Any], store: Store, own: Own | None = None
) -> Fingerprint:
    """What is known of the engine. A model file that cannot be read is known by what the server says of it."""
    if own is not None:
        return fingerprint_of(props, await model_sha256(own.model, store.database), own.settings)
    path = _model_here(client.base_url, props)
    if path is not None:
        return fingerprint_of(props, await model_sha256(path, store.database))
    said = [props.get(name) for name in ("model_path", "model_alias", "model_ftype", "build_info", "modalities")]
    unread = hashlib.sha256(json.dumps([client.base_url, said]).encode()).hexdigest()
    return fingerprint_of(props, f"unread:{unread}")


def _model_here(url: str, props: Mapping[str, Any]) -> Path | None:
    """The model file of a server on this machine, where it can be read."""
    path = Path(str(props.get("model_path") or ""))
    is_here = urlsplit(url).hostname in _LOOPBACK and path.is_absolute() and path.is_file()
    return path if is_here else None


def _is_windowed(model: Path | None) -> bool:
    """Does the model file name a sliding window? Where it cannot be read: no."""
    try:
        return model is not None and any(k.endswith(".attention.sliding_window") and v for k, v in metadata(model))
    except (OSError, ValueError):
        return False


async def _saves(client: LlamaClient, say: Callable[[str], None]) -> bool:
    """Can the server save slots? Asked to save under what is no name, it refuses the name, or saving itself."""
    try:
        await client.save(0, _NOT_A_NAME)
    except ServerFault as fault:
        if "filename" in str(fault).lower():
            return True
        say(
            "The server does not save slots, so a new session and a resumed one compute their prompt again. "
            "Start it with --slot-save-path DIR."
        )
    return False
