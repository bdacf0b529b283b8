"""Settings as they may be shown: values, where they came from, no secret."""

import re
from collections.abc import Sequence
from typing import Any

from oasis.config import Settings, Source

_SET = "(set, not shown)"
_SPEAKS_OF_SECRETS = r"(?:key|token|secret|passw|pwd|auth)"


def shown(settings: Settings) -> dict[str, tuple[Any, Source]]:
    """Every setting's value as plain data, and where it came from. Of a secret only whether it is set."""
    values = settings.model_dump(mode="json", by_alias=True)
    values["api_key"] = _SET if settings.api_key else ""
    values["server"] = _without_password(settings.server)
    for server in values["mcp"].values():
        server["env"] = dict.fromkeys(server["env"], _SET)
        server["headers"] = dict.fromkeys(server["headers"], _SET)
        server["url"] = _without_password(server["url"])
        server["command"] = _without_secrets(server["command"])
    for hook in values["hooks"]:
        hook["command"] = _without_secrets(hook["command"])
    return {key: (values[key], source) for key, source in settings.sources.items()}


def _without_password(url: str) -> str:
    """The address without a password or a key in it."""
    url = re.sub(r"(://[^/\s:@]*:)[^/\s@]+(?=@)", rf"\g<1>{_SET}", url)
    return re.sub(rf"([?&][^=&#]*{_SPEAKS_OF_SECRETS}[^=&#]*=)[^&#]+", rf"\g<1>{_SET}", url, flags=re.IGNORECASE)


def _without_secrets(command: Sequence[str]) -> list[str]:
    """A command's arguments without the values of options that speak of a secret."""
    told: list[str] = []
    is_value = False
    for part in command:
        found = re.fullmatch(rf"(-[^=]*{_SPEAKS_OF_SECRETS}[^=]*)(=.*)?", part, re.IGNORECASE | re.DOTALL)
        told.append(_SET if is_value else f"{found[1]}={_SET}" if found and found[2] else _without_password(part))
        is_value = bool(found and not found[2] and not is_value)
    return told
