"""/model: go on with another model, after its price was told."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command

if TYPE_CHECKING:
    from oasis.agent.session import Session
    from oasis.ui.terminal.workplace import Workplace


async def _model(place: "Workplace", argument: str) -> None:
    talk = place.conversation
    if not argument:
        model = talk.connection.model if talk.connection else None
        place.say(f"{model.name}, {model.lane} lane." if model else "There is no model.")
        place.say("/model URL, /model FILE.gguf or /model NAME goes on with another one; Tab lists those at hand.")
        return
    if not argument.startswith(("http://", "https://")):
        from oasis.engine.weights import find_model  # noqa: PLC0415

        find_model(argument)
    price = _price(talk.session)
    if price and not await place.desk.confirm(f"{price} Change the model?"):
        place.say("The model stays.")
        return
    await talk.change_model(argument)
    place.redraw()


def _price(session: "Session | None") -> str:
    """What going on with another model costs, in words; empty where nothing was said yet."""
    from oasis.agent.other_model import price, seed_for  # noqa: PLC0415

    if session is None or not session.transcript.items:
        return ""
    usage = session.usage
    rate = usage.prefill_ms / usage.computed_tokens if usage.computed_tokens and usage.prefill_ms else None
    seed = seed_for(session.transcript.items, None)
    return price(session.transcript.prefix, seed, rate).words()


def _names(place: "Workplace") -> Sequence[str]:
    from oasis.engine.weights import models_here  # noqa: PLC0415

    return [path.stem for path in models_here()]


COMMANDS = (
    Command(
        "model",
        "[URL|FILE|NAME]",
        "the model; with a name, change it (its price is told first)",
        _model,
        _names,
        is_for_idle=True,
        bare_shows=True,
    ),
)
