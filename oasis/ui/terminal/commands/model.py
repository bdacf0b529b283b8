"""/model: go on with another model, after its price was told."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oasis.ui.terminal.commands.base import Command

if TYPE_CHECKING:
    from oasis.ui.terminal.terminal import Terminal


async def _model(terminal: "Terminal", argument: str) -> None:
    talk = terminal.conversation
    if not argument:
        model = talk.connection.model if talk.connection else None
        terminal.say(f"{model.name}, {model.lane} lane." if model else "There is no model.")
        terminal.say("/model URL, /model FILE.gguf or /model NAME goes on with another one; Tab lists those at hand.")
        return
    if not argument.startswith(("http://", "https://")):
        from oasis.engine.weights import find_model  # noqa: PLC0415

        find_model(argument)
    price = talk.price_of_change()
    if price and not await terminal.desk.confirm(f"{price} Change the model"):
        terminal.say("The model stays.")
        return
    await talk.change_model(argument)
    terminal.redraw()


def _names(terminal: "Terminal") -> Sequence[str]:
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
