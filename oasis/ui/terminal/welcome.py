"""The first start without a model: what was found, at most three questions, and fetching what was chosen."""

from typing import TYPE_CHECKING

from oasis.ui.terminal.paint import one_line

if TYPE_CHECKING:
    from oasis.agent.first_start import Question
    from oasis.config import Settings
    from oasis.ui.terminal.terminal import Terminal

BAR_CELLS = 24


async def choose_model(terminal: "Terminal") -> "Settings | None":
    """The settings with the model that the person chose; None where they want none. Raises EngineFault, ConfigError."""
    from oasis.agent.first_start import carry_out, choose, look  # noqa: PLC0415

    async def ask(question: "Question") -> int | None:
        texts = [f"{c.label}  ({c.detail})" if c.detail else c.label for c in question.choices]
        return await terminal.desk.pick(question.text, texts)

    settings = terminal.conversation.equipped.settings
    chosen = await choose(await look(), ask)
    if chosen is None:
        return None
    began_s = terminal.clock()

    def progress(done: int, whole: int) -> None:
        signs = terminal.brush.signs
        filled = BAR_CELLS * done // max(1, whole)
        bar = f"{signs.full * filled}{signs.empty * (BAR_CELLS - filled)}"
        text = f"fetching {bar} {done / 1e6:,.0f} of {whole / 1e6:,.0f} MB"
        terminal.live.running["fetch"] = (one_line(text, 70), began_s)
        terminal.redraw()

    try:
        kept_in = await carry_out(chosen, progress)
    finally:
        terminal.live.running.pop("fetch", None)
    if kept_in is not None:
        terminal.say(f"Kept in {kept_in}.")
    return settings.model_copy(update=dict(chosen.settings))
