"""What was typed goes to the model, one turn after another."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from oasis.errors import OasisError

if TYPE_CHECKING:
    from oasis.ui.terminal.workplace import Workplace


async def send_what_is_queued(place: "Workplace", take_back: Callable[[], None]) -> None:
    """Until the session ends. `take_back` has what could not be sent in the input again."""
    await place.is_ready.wait()
    talk = place.conversation
    while True:
        await place.has_work.wait()
        place.has_work.clear()
        while talk.queued and not talk.is_working:
            try:
                async with place.turns:
                    is_sent = await _turn(place)
            except OasisError as fault:
                place.say(str(fault))
                break
            if not is_sent:
                take_back()
                break


async def _turn(place: "Workplace") -> bool:
    """One turn with what was typed; False where it could not be begun."""
    talk = place.conversation
    if not talk.queued:
        return True
    if not await talk.revive():
        return False
    if talk.connection is None:
        from oasis.ui.terminal.model_link import NO_MODEL  # noqa: PLC0415

        place.say(NO_MODEL)
        return False
    if not await talk.ready():
        return False
    items = talk.take_queued()
    for item in items:
        place.feed.person(item.text)
    place.live.attached.clear()
    await talk.run(items)
    return True


async def count_seconds(place: "Workplace") -> None:
    """While something goes on, its seconds are counted on the screen."""
    while True:
        await asyncio.sleep(1.0)
        if place.live.is_busy or place.live.running:
            place.redraw()
