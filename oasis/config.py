"""Settings: from flags, the environment, the user's oasis.toml, the project's, or the default, in that order.

A project's file comes with what was cloned, so it may only choose packs; whoever wrote it is not the user.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from platformdirs import user_config_path, user_log_path
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError

from oasis.errors import ConfigError

FILE_NAME = "oasis.toml"
PROJECT_KEYS = frozenset({"packs", "files"})
"""What a project's file may set."""

_VARIABLES = {
    "server": "OASIS_SERVER",
    "model": "OASIS_MODEL",
    "api_key": "OASIS_API_KEY",
    "context": "OASIS_CONTEXT",
    "threads": "OASIS_THREADS",
    "temperature": "OASIS_TEMPERATURE",
    "checkpoints": "OASIS_CHECKPOINTS",
    "kv": "OASIS_KV",
}
_WHY_NOT = {
    "server": "it would send your files to a machine the project's author chose",
    "api_key": "it would be in the repository, readable by all",
    "allow": "it would let the project's author decide what runs on your machine without asking",
    "hooks": "it would run the author's commands on your machine",
    "mcp": "it would run the author's commands on your machine",
    "rules": "it would let the project's author decide what runs on your machine without asking",
}


class Source(StrEnum):
    """Where a value came from."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    USER = "user's oasis.toml"
    PROJECT = "project's oasis.toml"
    DEFAULT = "default"


class Settings(BaseModel):
    """What a user can set. Field names are the keys of oasis.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    server: str = ""
    """Base URL of a model server; empty: `model`, or the servers found on this machine."""
    model: str = ""
    """A GGUF file or a pulled model's name for the embedded engine; with a server, the model's name there."""
    secret: SecretStr = Field(default=SecretStr(""), alias="api_key")
    """Key for the server, sent as a bearer token. Never printed."""
    context: int = Field(default=0, ge=0)
    """Context of the embedded engine in tokens; 0: the model's own, within bounds."""
    threads: int = Field(default=0, ge=0)
    """Threads of the embedded engine; 0: one less than the cores."""
    temperature: float | None = Field(default=None, ge=0, le=5)
    """How freely to sample; unset: the server's own."""
    packs: list[str] = []
    """Packs whose tools are added, in this order."""
    files: list[str] = []
    """Files inside the project that the session's first notice includes, relative to it."""
    allow: list[str] = []
    """Calls that run without being asked about: `edit`, `write:docs/*`, `bash:pytest *`."""
    max_steps: int = Field(default=0, ge=0)
    """Model calls after which a run stops; 0: no limit."""
    max_minutes: float = Field(default=0, ge=0)
    """Minutes after which a run stops; 0: no limit."""
    checkpoints: int = Field(default=32, ge=0)
    """Context checkpoints the embedded engine keeps; without any, a hybrid model starts anew after an interrupt."""

    kv: bool = True
    """Save what the model has computed and start from it again; off: nothing is saved or restored."""
    kv_budget: int = Field(default=20 << 30, ge=0)
    """Bytes that saved states may take on disk."""

    _sources: dict[str, Source] = PrivateAttr(default_factory=dict[str, Source])

    @property
    def api_key(self) -> str:
        """The key itself; kept out of repr, dumps and messages."""
        return self.secret.get_secret_value()

    @property
    def sources(self) -> Mapping[str, Source]:
        """Where each key's value came from."""
        return {key: self._sources.get(key, Source.DEFAULT) for key in KEYS}

    @staticmethod
    def engine_log() -> Path:
        """Where the embedded engine of this process writes what it has to say."""
        return user_log_path("oasis") / f"engine-{os.getpid()}.log"


KEYS: tuple[str, ...] = tuple(field.alias or name for name, field in Settings.model_fields.items())


def load(project: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings for work in `project`. A flag that was not given must be left out of `flags`.

    Raises ConfigError, naming the key and where it stands, for a file that is no TOML, an unknown key, a value
    that does not fit, and a key that a project's file may not set.
    """
    user_file, project_file = user_config_path("oasis") / FILE_NAME, project / FILE_NAME
    layers = [
        (Source.PROJECT, str(project_file), _of_project(project_file, project)),
        (Source.USER, str(user_file), _read(user_file)),
        (Source.ENVIRONMENT, "the environment", _of_environment()),
        (Source.FLAG, "the command line", dict(flags)),
    ]
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for source, place, given in layers:
        _check(given, place, _VARIABLES if source is Source.ENVIRONMENT else {})
        values |= given
        sources |= dict.fromkeys(given, source)
    _keep_nearer(values, sources)
    settings = Settings(**values)
    settings._sources.update(sources)  # pyright: ignore[reportPrivateUsage]
    return settings


def _keep_nearer(values: dict[str, Any], sources: dict[str, Source]) -> None:
    """Of a server and a model file, which exclude each other, keep the one named nearer to the command line."""
    if not (values.get("server") and str(values.get("model", "")).lower().endswith(".gguf")):
        return
    order = list(Source)
    server, model = order.index(sources["server"]), order.index(sources["model"])
    if server != model:
        further = "model" if server < model else "server"
        del values[further], sources[further]


def _of_environment() -> dict[str, Any]:
    return {key: os.environ[name] for key, name in _VARIABLES.items() if os.environ.get(name)}


def _of_project(file: Path, project: Path) -> dict[str, Any]:
    given = _read(file)
    for key in given:
        if key not in PROJECT_KEYS and (key in KEYS or key in _WHY_NOT):
            why = _WHY_NOT.get(key, "it is the user's to choose")
            raise ConfigError(
                f"{file} sets `{key}`, which a project's file may not: {why}. "
                f"Set it in {user_config_path('oasis') / FILE_NAME}, or by flag. A project may set: packs, files."
            )
    root = project.resolve()
    for name in given.get("files", ()):
        if isinstance(name, str) and not (project / name).resolve().is_relative_to(root):
            raise ConfigError(f"{file} names the file {name!r}, which is outside the project. Name files inside it.")
    return given


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is no TOML: {error}. Mend or remove it.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error


def _check(given: Mapping[str, Any], place: str, names: Mapping[str, str]) -> None:
    """Raise ConfigError for the first key or value of one place that cannot be used.

    `names`: what the keys are called there, where that differs.
    """
    for key in given:
        if key not in KEYS:
            near = difflib.get_close_matches(key.replace("-", "_"), KEYS, n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(KEYS)}."
            raise ConfigError(f"`{key}` in {place} is no setting. {hint}")
    try:
        Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        value = "" if key == "api_key" else f" ({_shown(given[key])})"
        raise ConfigError(f"`{names.get(key, key)}` in {place} cannot be used{value}: {first['msg']}.") from None


def _shown(value: object) -> str:
    text = repr(cast(Any, value))
    return text if len(text) <= 80 else text[:80] + "…"
