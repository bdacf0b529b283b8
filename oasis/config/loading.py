"""Settings from flags, the environment, the user's oasis.toml, the project's, or the default, in that order.

A project's file comes with what was cloned, so it may only choose packs and files; whoever wrote it is not the user.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from oasis.config.faults import check
from oasis.config.settings import KEYS, Settings, Source
from oasis.errors import ConfigError

FILE_NAME = "oasis.toml"
PROJECT_KEYS = frozenset({"packs", "files"})
"""What a project's file may set."""

VARIABLES = {
    "server": "OASIS_SERVER",
    "model": "OASIS_MODEL",
    "api_key": "OASIS_API_KEY",
    "context": "OASIS_CONTEXT",
    "threads": "OASIS_THREADS",
    "temperature": "OASIS_TEMPERATURE",
    "checkpoints": "OASIS_CHECKPOINTS",
    "kv": "OASIS_KV",
}
"""The environment's names of keys."""
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
        check(given, place, VARIABLES if source is Source.ENVIRONMENT else {})
        values |= given
        sources |= dict.fromkeys(given, source)
    _keep_nearer(values, sources)
    return Settings(**values).came_from(sources)


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
    return {key: os.environ[name] for key, name in VARIABLES.items() if os.environ.get(name)}


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
