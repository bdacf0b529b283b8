"""The first start without a model: what was found, at most three questions, and fetching what was chosen."""

from typing import TYPE_CHECKING

from oasis.ui.terminal.live import Running
from oasis.ui.terminal.paint import one_line

if TYPE_CHECKING:
    from oasis.agent.first_start import Question
    from oasis.config import Settings
    from oasis.ui.terminal.workplace import Workplace

BAR_CELLS = 24


async def choose_model(place: "Workplace") -> "Settings | None":
    """The settings with the model that the person chose; None where they want none. Raises EngineFault, ConfigError."""
    from oasis.agent.first_start import carry_out, choose, look  # noqa: PLC0415

    async def ask(question: "Question") -> int | None:
        texts = [f"{c.label}  ({c.detail})" if c.detail else c.label for c in question.choices]
        return await place.desk.pick(question.text, texts)

    settings = place.conversation.equipped.settings
    chosen = await choose(await look(), ask)
    if chosen is None:
        return None
    began_s = place.clock()

    def progress(done: int, whole: int) -> None:
        signs = place.brush.signs
        filled = BAR_CELLS * done // max(1, whole)
        bar = f"{signs.full * filled}{signs.empty * (BAR_CELLS - filled)}"
        text = f"fetching {bar} {done / 1e6:,.0f} of {whole / 1e6:,.0f} MB"
        place.live.running["fetch"] = Running(one_line(text, 70), began_s)
        place.redraw()

    try:
        kept_in = await carry_out(chosen, progress)
    finally:
        place.live.running.pop("fetch", None)
    if kept_in is not None:
        place.say(f"Kept in {kept_in}.")
    return settings.model_copy(update=dict(chosen.settings))
