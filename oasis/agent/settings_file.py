"""Writing single settings into the user's oasis.toml, everything else in it left as it is."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oasis.config import KEYS, Settings, user_file
from oasis.errors import ConfigError, ToolFault
from oasis.tools import atomic

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def write_settings(values: Mapping[str, Any]) -> Path:
    """Set these keys in the user's file, which is made where there is none; comments and other keys stay.

    Values are texts, numbers, booleans or lists of texts. Raises ConfigError for a key or value that is no setting,
    for a file that is no TOML or cannot be written, and where a key stands in a form that is not changed safely.
    """
    for key in values:
        if key not in KEYS:
            raise ConfigError(f"`{key}` is no setting.")
    Settings(**values)
    file = user_file()
    before = _read(file)
    text = before
    for key, value in values.items():
        text = _with(text, key, _toml(value))
    wanted = {**_parsed(before, file), **values}
    if not _says(text, wanted):
        names = ", ".join(f"{key} = {_toml(value)}" for key, value in values.items())
        raise ConfigError(f"{file} could not be changed safely. Write it there yourself: {names}")
    _write(file, text)
    return file


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}. Mend or remove it.") from error


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is no TOML: {error}. Mend or remove it.") from error


def _with(text: str, key: str, value: str) -> str:
    """The text with the top-level line `key = value`, in place of the one there is or before the first table."""
    first_table = _TABLE.search(text)
    end = first_table.start() if first_table else len(text)
    top, tables = text[:end], text[end:]
    line = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=[^\r\n]*$", re.MULTILINE)
    ending = "\r\n" if "\r\n" in text else "\n"
    if line.search(top):
        return line.sub(lambda _: f"{key} = {value}", top, count=1) + tables
    if top and not top.endswith("\n"):
        top += ending
    return f"{top}{key} = {value}{ending}{tables}"


def _toml(value: Any) -> str:
    """A value in TOML; JSON's spelling of texts, numbers, booleans and lists is TOML's too."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
        atomic.replace(file, text.encode(), str(file))
    except OSError as error:
        raise ConfigError(f"{file} was not written: {error.strerror}.") from error
    except ToolFault as fault:
        raise ConfigError(str(fault)) from fault
