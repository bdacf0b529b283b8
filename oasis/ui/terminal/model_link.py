"""The model that a conversation goes on with: found, warmed up while the person types, let go."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from oasis.core.events import Event, Prefill, Said
from oasis.errors import ConfigError, OasisError

if TYPE_CHECKING:
    from oasis.config import Settings
    from oasis.core.prefix import Prefix
    from oasis.models.base import Model
    from oasis.models.connect import Connection

NO_MODEL = "There is no model yet. /model FILE.gguf, /model NAME or /model URL connects one."


class ModelLink:
    """The connection there is, and the task that has the head computed. `show` gets what is to be told of it."""

    def __init__(self, lane: str, show: Callable[[Event], None]) -> None:
        self.connection: Connection | None = None
        self._lane, self._show = lane, show
        self._warming: asyncio.Task[None] | None = None

    @property
    def model(self) -> "Model":
        """The model. Raises ConfigError where there is none."""
        if self.connection is None:
            raise ConfigError(NO_MODEL)
        return self.connection.model

    @property
    def is_gone(self) -> bool:
        """Has the embedded engine behind the model ended?"""
        return self.connection is not None and self.connection.is_gone()

    @property
    def warming(self) -> "asyncio.Task[None] | None":
        """What has the head computed just now."""
        return self._warming if self._warming and not self._warming.done() else None

    async def connect(self, settings: "Settings") -> "Connection | None":
        """Find the model; the connection before it, still open. Raises ConfigError, EngineFault, ServerFault."""
        from oasis.models.base import Lane  # noqa: PLC0415
        from oasis.models.connect import connect  # noqa: PLC0415

        lane = Lane(self._lane) if self._lane else None
        found = await connect(settings, lane, lambda text: self._show(Said(text)), with_kv=True)
        before, self.connection = self.connection, found
        if found.kv is not None:
            found.kv.tell_progress(self._show_prefill)
        return before

    def warm(self, prefix: "Prefix") -> None:
        """Have the head in the model's slot while the person still types."""
        if self.connection is not None and self.connection.kv is not None:
            self._warming = asyncio.ensure_future(self._warm(self.connection, prefix))

    async def close(self) -> None:
        """Save the model's state; end the engine."""
        if (task := self.warming) is not None:
            task.cancel()
            await asyncio.wait([task])
        connection, self.connection = self.connection, None
        if connection is not None:
            await connection.close()

    async def _warm(self, connection: "Connection", prefix: "Prefix") -> None:
        """A fault comes again, and is told, with the turn."""
        from oasis.kv.chain import ids_of  # noqa: PLC0415

        with suppress(OasisError):
            head = await connection.model.encoder.head(prefix)
            if connection.kv is not None:
                await connection.kv.open_head(ids_of(head.wire))

    def _show_prefill(self, total_tokens: int, cached_tokens: int, done_tokens: int) -> None:
        self._show(Prefill(total_tokens, cached_tokens, done_tokens))
