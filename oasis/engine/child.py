"""The embedded engine's own process: `python -m oasis.engine.child`.

The first line of standard input is the settings as JSON. Standard output gets one line of JSON when the
engine listens (`url`) or could not start (`fault`). The process ends when standard input does, so it
cannot outlive its parent, however that one ended. Everything else the engine says is on standard error.
"""

import importlib
import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    has_failed = threading.Event()
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(), has_failed), daemon=True).start()
    try:
        server = serve(settings)
    except Exception as error:
        has_failed.set()
        _tell(out, {"fault": "import" if isinstance(error, ImportError) else "start", "detail": str(error)})
        sys.exit(1)  # not at once: the engine writes its log in a thread, which is heard to its end
    _tell(out, {"url": server.listening_address})
    threading.Event().wait()


def serve(settings: Mapping[str, Any]) -> Any:
    """Start xllamacpp's server with the settings EmbeddedEngine writes; it listens when this returns."""
    engine: Any = importlib.import_module("xllamacpp")
    params = engine.CommonParams()
    params.model.path = settings["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.cors_origins = "http://127.0.0.1"
    params.cors_origins_explicit = True
    params.ui = False
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.kv_unified = False
    params.swa_full = settings["swa_full"]
    params.n_ctx_checkpoints = settings["checkpoints"]
    if settings["checkpoint_step"]:
        params.checkpoint_min_step = settings["checkpoint_step"]
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.slot_save_path = settings["slot_dir"]
    params.endpoint_slots = True
    params.warmup = settings["warmup"]
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = settings["threads"]
        threads.poll = 0
    return engine.Server(params)


def _end_with(source: int, has_failed: threading.Event) -> None:
    """End the process when the descriptor ends; read without Python's buffer, whose lock would stop a normal end."""
    while os.read(source, 1 << 16):
        pass
    if not has_failed.is_set():
        os._exit(0)


def _tell(out: Any, answer: Mapping[str, str]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
