"""The stream of what a server sends, ended when it is too much."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage

from oasis.tools.mcp.allowance import Allowance, Flooded

Incoming = ReadStream[SessionMessage | Exception]


class Counted:
    """A `ReadStream` that takes each message from the allowance; tells `lost` when it ends, and `why` by a flood."""

    def __init__(self, inner: Incoming, allowance: Allowance, why: list[str], lost: Callable[[], None]) -> None:
        self._inner = inner
        self._allowance = allowance
        self._why = why
        self._lost = lost

    async def receive(self) -> SessionMessage | Exception:
        return await self.__anext__()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item = await self._inner.__anext__()
            self._allowance.take_message()
        except Flooded as flood:
            self._why.append(str(flood))
            self._lost()
            raise StopAsyncIteration from flood
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._lost()
            raise
        return item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        await self.aclose()
