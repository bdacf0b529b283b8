"""What must be the same for a saved state to mean the same: model, template, and how the engine computes.

llama.cpp checks almost none of it when it restores a slot.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oasis.errors import KvFault
from oasis.kv.database import Database

_BLOCK_BYTES = 8 << 20
_SHOWN_SETTINGS = (
    "cache_type_k",
    "cache_type_v",
    "flash_attn",
    "swa_full",
    "rope_scaling",
    "rope_freq_base",
    "rope_freq_scale",
    "yarn_orig_ctx",
)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`model` and `template` are sha256; `settings` what is known of context, K/V types, attention, rope, adapters.

    `build` is the engine's own name for itself: shown, not compared.
    """

    model: str
    template: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    build: str = ""

    @property
    def digest(self) -> str:
        parts = [self.model, self.template, dict(self.settings)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def parts(self) -> dict[str, Any]:
        """All of it, for a person."""
        return {"model": self.model, "template": self.template, "settings": dict(self.settings), "build": self.build}


def fingerprint_of(props: Mapping[str, Any], model: str, own: Mapping[str, Any] | None = None) -> Fingerprint:
    """The fingerprint of a server from its /props, the model's sha256 and the settings it was started with, if known.

    A setting that neither shows is the engine's default for that build or unknown; both are the same for one server.
    """
    defaults: Mapping[str, Any] = props.get("default_generation_settings") or {}
    settings: dict[str, Any] = {name: props[name] for name in _SHOWN_SETTINGS if name in props}
    settings["context"] = int(defaults.get("n_ctx", 0))
    settings["adapters"] = (defaults.get("params") or {}).get("lora") or []
    settings |= own or {}
    template = hashlib.sha256(str(props.get("chat_template") or "").encode()).hexdigest()
    return Fingerprint(model, template, settings, str(props.get("build_info") or ""))


async def model_sha256(path: Path, database: Database) -> str:
    """The sha256 of a model file; read once, then remembered until its size, time or inode is another.

    Raises KvFault where it cannot be read.
    """
    try:
        seen = _seen(path)
        known = database.rows(
            "SELECT sha256 FROM model_file WHERE path = ? AND size = ? AND mtime_ns = ? AND inode = ?", *seen
        )
        if known:
            return known[0]["sha256"]
        sha256 = await asyncio.to_thread(file_sha256, path)
    except OSError as error:
        raise KvFault(
            f"The model file {path} was not read: {error.strerror}. No state of it is saved or restored."
        ) from error
    database.change("REPLACE INTO model_file VALUES (?, ?, ?, ?, ?)", *seen, sha256)
    return sha256


def _seen(path: Path) -> tuple[str, int, int, int]:
    """What tells a model file from another one at its path, without reading it."""
    path = path.resolve(strict=True)
    stat = path.stat()
    return str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino & 0x7FFFFFFFFFFFFFFF


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
