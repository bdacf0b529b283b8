"""Why an embedded engine did not start, in words."""

import re
import signal
from collections.abc import Mapping
from pathlib import Path

from oasis.errors import EngineFault

_TAIL_BYTES = 64 << 10
_CAUSES = (
    (
        r"unknown model architecture: '([^']*)'",
        "Its architecture is one this version of the engine does not know. Update it: "
        "pip install -U 'oasis-agent[engine]'.",
    ),
    (
        r"is not within the file bounds|corrupt|truncated|unexpectedly reached end of file|failed to read|read error",
        "The file is cut short or damaged. Download it again.",
    ),
    (
        r"failed to allocate|out of memory|bad_alloc|cannot allocate memory|unable to allocate",
        "There is not enough memory for the model and its context. Choose a smaller model or quantisation, "
        "or a smaller context (--context 8192).",
    ),
    (
        r"error loading model vocabulary|unknown (?:pre-)?tokenizer",
        "Its tokenizer is one this version of the engine does not know.",
    ),
    (
        r"std::system_error|Resource temporarily unavailable",
        "The system gave it no more threads or memory. Use fewer slots, or raise the limits of this user.",
    ),
    (r"couldn't bind|failed to bind|address already in use", "No loopback port could be opened."),
)
_LOUD = re.compile(r"^[\d.]+ E |^(?:\S+ )?(?:error|terminate called|fatal)", re.IGNORECASE)
_STAMP = re.compile(r"^[\d.]+ E +(?:\w+ +)?(?:\w+: )*")


def explain(answer: Mapping[str, str], code: int | None, model: Path, log: Path) -> EngineFault:
    """The fault for a child that said `answer` and ended with exit code `code`."""
    detail = answer.get("detail", "")
    if answer.get("fault") == "import":
        return EngineFault(f"The embedded engine is not installed ({detail}). Run: pip install 'oasis-agent[engine]'")
    said = _said(log)
    cause = next((words for pattern, words in _CAUSES if re.search(pattern, said, re.IGNORECASE)), "")
    if not cause and code is not None and code == -getattr(signal, "SIGKILL", 9):
        cause = "The system ended it, most often because memory ran out. Choose a smaller model or context."
    line = _first_loud_line(said) or detail or f"it ended with exit code {code}"
    return EngineFault(
        f"The model {model.name} could not be loaded: {line}. {cause or 'The log says more.'} Log: {log}"
    )


def _said(log: Path) -> str:
    with log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL_BYTES))
        return file.read().decode(errors="replace")


def _first_loud_line(said: str) -> str:
    """The first line of the log that names a fault: what follows it only repeats that loading failed."""
    for line in said.splitlines():
        if _LOUD.search(line):
            return _STAMP.sub("", line).strip().rstrip(".")[:300]
    return ""
