"""What is wrong with a setting, in words for the user."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from oasis.config.near import meant
from oasis.config.settings import KEYS, Hook, McpServer, Settings
from oasis.errors import ConfigError

_NEVER_SHOWN = ("api_key", "mcp", "hooks")


def check(given: Mapping[str, Any], place: str, names: Mapping[str, str]) -> None:
    """Raise ConfigError for the first key or value of one place that cannot be used.

    `names`: what the keys are called there, where that differs.
    """
    for key in given:
        if key not in KEYS:
            raise ConfigError(f"`{key}` in {place} is no setting. {meant(key, KEYS)}")
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
            f"`{inner[-1]}` of `{where}` in {place} is no setting. {meant(str(inner[-1]), tuple(known))}"
        )
    name = ".".join([names.get(str(key), str(key)), *(str(step) for step in inner)])
    is_table = isinstance(given[str(key)], Mapping)
    value = "" if key in _NEVER_SHOWN or is_table else f" ({_shown(given[str(key)])})"
    said = _form(str(key), bool(inner), first["type"]) or first["msg"].removeprefix("Value error, ")
    return ConfigError(f"`{name}` in {place} cannot be used{value}: {said}{'' if said[-1] in '.?' else '.'}")


def _form(key: str, is_inner: bool, fault: str) -> str:
    """How a list or a table is written, where that is what is wrong; otherwise empty."""
    if fault == "list_type":
        return "write it as tables, `[[hooks]]`" if key == "hooks" and not is_inner else 'write a list, ["one", "two"]'
    if fault in ("dict_type", "model_type"):
        return "write it as a table, `[mcp.NAME]`" if key == "mcp" else "write it as a table"
    return ""


def _shown(value: object) -> str:
    text = repr(cast(Any, value))
    return text if len(text) <= 80 else text[:80] + "…"
