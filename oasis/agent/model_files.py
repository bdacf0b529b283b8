"""Model files that lie on this machine already: those of Oasis, llama.cpp, LM Studio and the hub's cache."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.engine.weights import models_folder
from oasis.gguf import metadata

_MIN_BYTES = 50_000_000
_MAX_DEPTH = 6
_MAX_ENTRIES = 20_000
_NO_CHAT = ("clip", "bert", "nomic-bert", "jina-bert", "t5encoder", "whisper", "wavtokenizer")
"""Beginnings of architectures that hold no conversation."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF that can hold a conversation, as far as its first bytes say."""

    path: Path
    size_bytes: int


def usual_folders() -> list[Path]:
    """Where model files lie on most machines, those of Oasis first."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    hub = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or cache / "huggingface") / "hub"
    folders = [models_folder(), home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"]
    folders += [Path(os.environ.get("LLAMA_CACHE") or cache / "llama.cpp"), Path(hub), home / "models"]
    if sys.platform == "darwin":
        folders.append(home / "Library" / "Caches" / "llama.cpp")
    if os.name == "nt" and (local := os.environ.get("LOCALAPPDATA")):
        folders.append(Path(local) / "llama.cpp")
    return folders


def model_files(folders: Sequence[Path], min_bytes: int = _MIN_BYTES) -> list[ModelFile]:
    """The model files in these folders, each once, newest first. What cannot be looked at is left out."""
    found: dict[Path, tuple[float, ModelFile]] = {}
    for folder in folders:
        for path in _ggufs(folder):
            try:
                about = path.stat()
                if about.st_size < min_bytes or not _can_chat(path):
                    continue
                found.setdefault(path.resolve(), (about.st_mtime, ModelFile(path, about.st_size)))
            except (OSError, ValueError):
                continue
    return [file for _, file in sorted(found.values(), key=lambda entry: (-entry[0], str(entry[1].path)))]


def _ggufs(folder: Path) -> Iterator[Path]:
    """Files that end in .gguf, the first of several parts only; at most 6 folders deep and 20,000 entries."""
    waiting, seen = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > _MAX_ENTRIES:
                return
            name = entry.name.lower()
            is_other = "-of-" in name and "-00001-of-" not in name
            if name.endswith(".gguf") and "mmproj" not in name and not is_other:
                yield entry
            elif depth < _MAX_DEPTH and entry.is_dir() and not entry.is_symlink():
                waiting.append((entry, depth + 1))


def _can_chat(path: Path) -> bool:
    """Does the file say that it is a language model? Its architecture stands among the first of its keys."""
    architecture = next((value for key, value in metadata(path) if key == "general.architecture"), "")
    return bool(architecture) and not str(architecture).startswith(_NO_CHAT)
