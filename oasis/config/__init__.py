"""Settings: what can be set, where it comes from, what is wrong with it (docs/configuration.md)."""

from oasis.config.loading import FILE_NAME, VARIABLES, load, user_file
from oasis.config.settings import BUILT_IN_TOOLS, KEYS, Hook, HookEvent, McpServer, Settings, Source

__all__ = [
    "BUILT_IN_TOOLS",
    "FILE_NAME",
    "KEYS",
    "VARIABLES",
    "Hook",
    "HookEvent",
    "McpServer",
    "Settings",
    "Source",
    "load",
    "user_file",
]
