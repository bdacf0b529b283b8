"""One MCP server as the user's settings name it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from oasis.config import McpServer
from oasis.errors import ConfigError

RESERVED = frozenset({"plant"})
"""Beginnings of names that are Oasis' own: `plant_read` is never a server's."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Server:
    """A server to start (`command`) or to call (`url`); exactly one of the two.

    env        added to the few variables a server inherits (PATH, HOME and the like; no keys, no tokens)
    headers    sent with each request to `url`
    timeout_s  how long a call may take
    start_s    how long the start may take before the server is left out
    read_only  the server's own names of tools that only read, `*` for all: they run without being asked about

    Raises ConfigError for what cannot be used. Values of `env` and `headers` are secrets: they are in no repr.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=_nothing, repr=False)
    headers: Mapping[str, str] = field(default_factory=_nothing, repr=False)
    timeout_s: float = 60.0
    start_s: float = 15.0
    read_only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"The MCP server name {self.name[:40]!r} cannot be used: it is the beginning of its tools' names. "
                "Take letters, digits and - or _, at most 32."
            )
        if self.prefix in RESERVED:
            raise ConfigError(f"An MCP server cannot be called {self.name!r}: Oasis' own tools begin so. Rename it.")
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"The MCP server {self.name} needs either `command` or `url`. Give one of them.")
        if self.url:
            self._check_url()
        if self.command and not self.command[0].strip():
            raise ConfigError(f"The MCP server {self.name} has an empty `command`. Name the program first.")
        if not (self.timeout_s > 0 and self.start_s > 0):
            raise ConfigError(f"The MCP server {self.name} has a time-out that is not above 0 s. Give more.")

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_usable = False
        if not is_usable:
            raise ConfigError(
                f"The MCP server {self.name} has a `url` that is no http or https address. "
                "Write it whole: http://127.0.0.1:8000/mcp."
            )

    @property
    def prefix(self) -> str:
        """What its tools' names begin with: letters and digits only, so the first `_` ends it in every name."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def place(self) -> str:
        """Where it is, for a person: the program or the address, without arguments or passwords."""
        if self.command:
            return self.command[0]
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def only_reads(self, tool: str) -> bool:
        """Did the user say that this tool only reads? What the server says of itself does not count."""
        return tool in self.read_only or "*" in self.read_only


def servers(tables: Mapping[str, McpServer]) -> tuple[Server, ...]:
    """The servers of the user's settings (`[mcp.NAME]`). Raises ConfigError for one that cannot be used."""
    return tuple(
        Server(
            name,
            tuple(table.command),
            table.url,
            {key: value.get_secret_value() for key, value in table.env.items()},
            {key: value.get_secret_value() for key, value in table.headers.items()},
            table.timeout_s,
            table.start_s,
            tuple(table.read_only),
        )
        for name, table in tables.items()
    )
