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
from typing import Any, BinaryIO


def main() -> None:
    """Serve until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    source = sys.stdin.buffer
    settings: dict[str, Any] = json.loads(source.readline())
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    try:
        server = serve(settings)
    except ImportError as error:
        _tell(out, {"fault": "import", "detail": str(error)})
    except Exception as error:
        _tell(out, {"fault": "start", "detail": str(error)})
    else:
        _tell(out, {"url": server.listening_address})
        threading.Event().wait()
    os._exit(1)


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


def _end_with(source: BinaryIO) -> None:
    while source.read(1 << 16):
        pass
    os._exit(0)


def _tell(out: Any, answer: Mapping[str, str]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
