"""The head of every prompt: the system text and the tools, the same for every project, machine and day."""

import hashlib
import json
from dataclasses import dataclass

from oasis.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Prefix:
    """System text, then the tools in the order they were registered: built-in first, packs and MCP last.

    A pack's skill lines stand at the end of its last tool's description, so nothing of a pack comes
    before its first tool.
    """

    system: str
    tools: tuple[ToolSpec, ...]

    @property
    def wire(self) -> bytes:
        """Canonical bytes: the system text as a JSON string, then one tool a line."""
        system = json.dumps(self.system, ensure_ascii=False).encode()
        return b"\n".join([system, *(tool.wire for tool in self.tools), b""])

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.wire).hexdigest()
