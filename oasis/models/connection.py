"""A model ready to be asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis.models.base import Model

if TYPE_CHECKING:
    from oasis.engine.embedded import EmbeddedEngine
    from oasis.kv.runtime import Runtime

Say = Callable[[str], None]


@dataclass
class Connection:
    """A model ready to be asked, and the engine that was started for it.

    `kv` saves and restores what the engine holds; None where that was not asked for or cannot be.
    """

    model: Model
    engine: "EmbeddedEngine | None" = None
    kv: "Runtime | None" = None

    def is_gone(self) -> bool:
        """Has the engine that was started for it ended?"""
        return self.engine is not None and not self.engine.is_running

    async def close(self) -> None:
        """Save the session's state where there is a KV runtime; end the engine where one was started."""
        try:
            if self.kv is not None:
                await self.kv.close()
        finally:
            await self.model.close()
            if self.engine is not None:
                await self.engine.stop()
