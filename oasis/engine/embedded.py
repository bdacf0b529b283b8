"""The embedded engine: llama.cpp (xllamacpp) in a child process on a loopback port of its own."""

import asyncio
import errno
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from oasis.engine.gguf_file import check_model, trained_context
from oasis.engine.start_fault import explain
from oasis.errors import EngineFault

DEFAULT_CONTEXT_TOKENS = 32768
DEFAULT_CHECKPOINTS = 32
_TINY_BYTES = 64 << 20
_STOP_S = 10.0


class EmbeddedEngine:
    """A running engine. `url` is where it listens, `log` the file with all it says."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
        self.url = url
        self.log = log
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @classmethod
    async def start(
        cls,
        model: Path,
        *,
        log: Path,
        context: int = 0,
        slots: int = 1,
        threads: int | None = None,
        checkpoints: int = DEFAULT_CHECKPOINTS,
        checkpoint_step: int = 0,
        slot_dir: Path | None = None,
        swa_full: bool = False,
    ) -> "EmbeddedEngine":
        """Load `model` and return when the engine listens.

        context          tokens of each slot; 0: the model's own, at most DEFAULT_CONTEXT_TOKENS
        threads          None: OASIS_THREADS, or one less than the machine's cores
        checkpoints      context checkpoints kept for each slot; 0 turns them off
        checkpoint_step  tokens between checkpoints; 0: the engine's own
        slot_dir         where slots are saved and restored from; None: saving is off
        swa_full         a sliding-window model keeps its whole cache; so it does where slots are saved without
                         checkpoints, since llama.cpp (autumn 2026) goes on from a saved window only with one: it
                         takes the window for one token too short

        The engine ends with this process. Raises EngineFault with the cause in words.
        """
        settings = {
            "slots": slots,
            "threads": threads or default_threads(),
            "checkpoints": checkpoints,
            "checkpoint_step": checkpoint_step,
            "swa_full": swa_full or (slot_dir is not None and not checkpoints),
            **_files(model, context, slot_dir),
        }
        process = _spawn(settings, log)
        try:
            line = await asyncio.to_thread(_first_line, process)
        except asyncio.CancelledError:
            _end(process, 0)
            raise
        answer: dict[str, str] = json.loads(line) if line.endswith(b"\n") else {}
        if "url" in answer:
            return cls(process, answer["url"], log)
        _end(process, _STOP_S)
        raise explain(answer, process.returncode, model, log)

    async def stop(self) -> None:
        """End the engine; nothing happens when it has ended already."""
        await asyncio.to_thread(_end, self._process, _STOP_S)


def default_threads() -> int:
    """OASIS_THREADS, or one less than the cores this process may use, at least one."""
    wanted = os.environ.get("OASIS_THREADS", "")
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise EngineFault(f"OASIS_THREADS is {wanted!r}; it must be a number of threads, 1 or more.")
        return int(wanted)
    return max(1, _cores() - 1)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _files(model: Path, context: int, slot_dir: Path | None) -> dict[str, Any]:
    """Settings that depend on files. A tiny model is not warmed up. Raises EngineFault for what is no model.

    The engine caps a slot at the trained context and allocates what was asked for all the same, so no more is asked.
    """
    model = model.expanduser().absolute()
    check_model(model)
    if slot_dir is not None:
        _make(slot_dir)
    wanted, trained = context or DEFAULT_CONTEXT_TOKENS, trained_context(model)
    return {
        "model": str(model),
        "context": min(wanted, trained) if trained else wanted,
        "slot_dir": f"{slot_dir.absolute()}{os.sep}" if slot_dir else "",
        "warmup": model.stat().st_size > _TINY_BYTES,
    }


def _make(folder: Path) -> None:
    """Make a folder that the engine writes to. Raises EngineFault."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise EngineFault(
            f"The engine cannot write to {folder}: {error.strerror}. Make it writable, or set XDG_STATE_HOME to "
            "one that is."
        ) from error


def _spawn(settings: dict[str, Any], log: Path) -> "subprocess.Popen[bytes]":
    """Start the child in a group of its own, so that Ctrl-C in the terminal does not reach it."""
    _make(log.parent)
    command = [
        sys.executable,
        "-P",
        "-m",
        "oasis.engine.child",
    ]  # -P: nothing is imported from the directory it runs in
    with log.open("wb") as said:
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    if process.stdin:
        with suppress(OSError):  # it died at once: what it said is in the log and the caller explains it
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
    return process


def _first_line(process: "subprocess.Popen[bytes]") -> bytes:
    return process.stdout.readline() if process.stdout else b""


def _end(process: "subprocess.Popen[bytes]", patience_s: float) -> None:
    if process.stdin:
        with suppress(OSError):  # the child closed its end first
            process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
