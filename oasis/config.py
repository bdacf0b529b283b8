"""Settings: from flags, the environment, the user's oasis.toml, the project's, or the default, in that order.

A project's file comes with what was cloned, so it may only choose packs and files; whoever wrote it is not the user.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self, cast

from platformdirs import user_config_path, user_log_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from oasis.errors import ConfigError

FILE_NAME = "oasis.toml"
PROJECT_KEYS = frozenset({"packs", "files"})
"""What a project's file may set."""
BUILT_IN_TOOLS = ("read", "write", "edit", "search", "bash", "skill")
"""Every other tool's name has a `_` in it: a pack's, an MCP server's."""

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
_NEVER_SHOWN = ("api_key", "mcp", "hooks")
_WHY_NOT = {
    "server": "it would send your files to a machine the project's author chose",
    "api_key": "it would be in the repository, readable by all",
    "allow": "it would let the project's author decide what runs on your machine without asking",
    "deny": "your rules are yours alone, also those that deny",
    "mode": "it would let the project's author decide what runs on your machine without asking",
    "editor": "it would run the author's command on your machine",
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


class McpServer(BaseModel):
    """One table `[mcp.NAME]`: a server to start (`command`) or to call (`url`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    command: list[str] = []
    """Program and arguments; no shell."""
    url: str = ""
    """Address of a server that speaks streamable HTTP."""
    env: dict[str, SecretStr] = {}
    """Variables for the program. Never printed."""
    headers: dict[str, SecretStr] = {}
    """Headers sent to the address. Never printed."""
    timeout_s: float = Field(default=60.0, gt=0)
    """How long a call may take."""
    start_s: float = Field(default=15.0, gt=0)
    """How long the start may take before the server is left out."""
    read_only: list[str] = []
    """The server's tools that only read and run without being asked about; `*` for all."""

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("either `command` or `url` is needed, and not both")
        return self


HookEvent = Literal["session_start", "before_tool", "after_tool", "turn_end"]


class Hook(BaseModel):
    """One table `[[hooks]]`: a command of the user's that runs at an event (docs/hooks.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    event: HookEvent
    """When it runs."""
    command: list[str] = Field(min_length=1)
    """Program and arguments; no shell. What happened comes as JSON on its standard input."""
    tools: list[str] = []
    """For before_tool and after_tool: the tools it is for, by name or pattern; empty: all."""
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    """How long it may take before it is ended."""


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
    deny: list[str] = []
    """Calls that are never run, written as in `allow`; a denial wins over every allowance."""
    mode: Literal["read_only", "ask", "accept_edits"] = "ask"
    """How the terminal begins: nothing but reading, asking before each change, or changing files without asking."""
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
    keys: Literal["emacs", "vi"] = "emacs"
    """Keys for editing the input."""
    editor: str = ""
    """Program for writing a long input; empty: VISUAL or EDITOR."""
    notify: Literal["auto", "bell", "off"] = "auto"
    """When a long turn ends: a desktop notification where the terminal can, only a bell, or nothing."""
    mcp: dict[str, McpServer] = {}
    """MCP servers whose tools are added after all others."""
    hooks: list[Hook] = []
    """Commands of the user's that run at events."""

    _sources: dict[str, Source] = PrivateAttr(default_factory=dict[str, Source])

    @field_validator("allow", "deny")
    @classmethod
    def _name_tools(cls, rules: list[str]) -> list[str]:
        """A misspelt denial would deny nothing."""
        for rule in rules:
            name = rule.partition(":")[0]
            if name not in BUILT_IN_TOOLS and "_" not in name:
                raise ValueError(f"`{rule}` names no tool. {_meant(name, BUILT_IN_TOOLS)}")
        return rules

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


def user_file() -> Path:
    """The user's oasis.toml, whether it is there or not."""
    return user_config_path("oasis") / FILE_NAME


def load(project: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings for work in `project`. A flag that was not given must be left out of `flags`.

    Raises ConfigError, naming the key and where it stands, for a file that is no TOML, an unknown key, a value
    that does not fit, and a key that a project's file may not set.
    """
    users, project_file = user_file(), project / FILE_NAME
    layers = [
        (Source.PROJECT, str(project_file), _of_project(project_file, project)),
        (Source.USER, str(users), _read(users)),
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
                f"Set it in {user_file()}, or by flag. A project may set: packs, files."
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
            raise ConfigError(f"`{key}` in {place} is no setting. {_meant(key, KEYS)}")
    try:
        Settings(**given)
    except ValidationError as error:
        raise _unusable(error, given, place, names) from None


def _unusable(error: ValidationError, given: Mapping[str, Any], place: str, names: Mapping[str, str]) -> ConfigError:
    """The first thing that is wrong, in words. Nothing of a table is shown: it may hold secrets."""
    first = error.errors()[0]
    key, *inner = first["loc"]
    if inner and first["type"] == "extra_forbidden":
        known = McpServer.model_fields if key == "mcp" else Hook.model_fields
        where = ".".join(str(step) for step in (key, *inner[:-1]))
        return ConfigError(
            f"`{inner[-1]}` of `{where}` in {place} is no setting. {_meant(str(inner[-1]), tuple(known))}"
        )
    name = ".".join([names.get(str(key), str(key)), *(str(step) for step in inner)])
    value = "" if key in _NEVER_SHOWN else f" ({_shown(given[str(key)])})"
    said = first["msg"].removeprefix("Value error, ")
    return ConfigError(f"`{name}` in {place} cannot be used{value}: {said}{'' if said[-1] in '.?' else '.'}")


def _meant(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key.replace("-", "_"), known, n=1)
    return f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(known)}."


def _shown(value: object) -> str:
    text = repr(cast(Any, value))
    return text if len(text) <= 80 else text[:80] + "…"
