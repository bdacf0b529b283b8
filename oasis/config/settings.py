"""What a user can set: the keys of oasis.toml, their types and defaults."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from platformdirs import user_log_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    field_validator,
    model_validator,
)

from oasis.config.near import meant

BUILT_IN_TOOLS = ("read", "write", "edit", "search", "bash", "skill")
"""Every other tool's name has a `_` in it: a pack's, an MCP server's."""


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
                raise ValueError(f"`{rule}` names no tool. {meant(name, BUILT_IN_TOOLS)}")
        return rules

    @property
    def api_key(self) -> str:
        """The key itself; kept out of repr, dumps and messages."""
        return self.secret.get_secret_value()

    def came_from(self, sources: Mapping[str, Source]) -> Self:
        """These settings, with where their values came from."""
        self._sources.update(sources)
        return self

    @property
    def sources(self) -> Mapping[str, Source]:
        """Where each key's value came from."""
        return {key: self._sources.get(key, Source.DEFAULT) for key in KEYS}

    @staticmethod
    def engine_log() -> Path:
        """Where the embedded engine of this process writes what it has to say."""
        return user_log_path("oasis") / f"engine-{os.getpid()}.log"


KEYS: tuple[str, ...] = tuple(field.alias or name for name, field in Settings.model_fields.items())
