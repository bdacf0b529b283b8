"""The session at hand: its file, its agent, its undo, and its hold on the plant."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from oasis.core.items import Notice
from oasis.errors import OasisError
from oasis.ui.terminal.safe_end import SafeEnd

if TYPE_CHECKING:
    from oasis.agent.assembly import Toolbox
    from oasis.agent.loop import Agent
    from oasis.agent.session import Session
    from oasis.agent.undo import Undo


class OpenSession:
    """One session at a time; all of it None where none is open. `say` prints a line, `agree` asks.

    opening  the notices that the session begins with, until its first turn has taken them
    """

    def __init__(self, say: Callable[[str], None], agree: Callable[[str], Awaitable[bool]]) -> None:
        self.session: Session | None = None
        self.agent: Agent | None = None
        self.undo: Undo | None = None
        self.opening: list[Notice] = []
        self.safe_end = SafeEnd(say, agree)
        self._at_plant = AsyncExitStack()

    async def take(
        self,
        session: "Session",
        opening: Sequence[Notice],
        box: "Toolbox",
        over: "Callable[[Session], tuple[Undo, Agent]]",
    ) -> "Agent":
        """Go over to this session. `over` makes its agent. Raises SessionFault; then the file is closed again."""
        from oasis.agent.assembly import at_plant  # noqa: PLC0415

        await self.end()
        try:
            said = partial(self.safe_end.say, box.plant)
            await self._at_plant.enter_async_context(at_plant(box, session, said, is_attended=True))
        except OasisError:
            session.close()
            raise
        self.session, self.opening = session, list(opening)
        await self.decide_end(box)
        self.safe_end.hold(box.plant)
        self.undo, self.agent = over(session)
        return self.agent

    async def decide_end(self, box: "Toolbox") -> None:
        """Ask how the plant is to be left, unless that is decided."""
        await self.safe_end.decide(box.plant, is_said=self.session is not None)

    def take_opening(self) -> list[Notice]:
        """The notices for the first turn; none from then on."""
        taken, self.opening = self.opening, []
        return taken

    async def end(self) -> None:
        """Leave the plant as it should be left, then close the session's file."""
        await self._at_plant.aclose()
        if self.session is not None:
            self.session.close()
        self.session = self.undo = self.agent = None
        self.opening = []
