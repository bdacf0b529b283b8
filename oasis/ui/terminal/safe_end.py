"""How a session is to leave the plant: asked once, before the first message is sent."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis.plant.plant import Plant


class SafeEnd:
    """The person's decision on the safe values. `say` prints a line, `agree` asks."""

    def __init__(self, say: Callable[[str], None], agree: Callable[[str], Awaitable[bool]]) -> None:
        self._say, self._agree = say, agree
        self._is_approved: bool | None = None

    def forget(self) -> None:
        """Ask again: another session begins."""
        self._is_approved = None

    async def decide(self, plant: "Plant | None", *, is_said: bool) -> None:
        """Ask, unless it was asked; `is_said`: what would be written was printed already."""
        if plant is None or self._is_approved is not None or not plant.safe_state:
            return
        if not is_said:
            self._say(plant.safe_state)
        self._is_approved = await self._agree(f"at the end {plant.safe_changes}, where this session wrote to it")

    def hold(self, plant: "Plant | None") -> None:
        """Hold the plant, whose session has begun, to the decision."""
        if plant is not None and self._is_approved is not None:
            (plant.approve_safe if self._is_approved else plant.deny_safe)()

    def say(self, plant: "Plant | None", text: str) -> None:
        """Print what the plant has to say, but not again what was asked about."""
        if self._is_approved is None or plant is None or text != plant.safe_state:
            self._say(text)
