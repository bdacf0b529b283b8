"""/context, /prefix, /compact: what fills the context, what the head is, beginning a new epoch."""

from typing import TYPE_CHECKING

from rich.text import Text

from oasis.ui.terminal.commands.base import Command
from oasis.ui.terminal.listing import rows
from oasis.ui.terminal.paint import Brush, fitted, one_line

if TYPE_CHECKING:
    from oasis.agent.filling import Filling, Part
    from oasis.ui.terminal.workplace import Workplace

BAR_CELLS = 48
_COLOURS = ("cyan", "blue", "magenta", "green", "yellow", "red", "bright_blue", "bright_magenta", "bright_green")


async def _context(place: "Workplace", argument: str) -> None:
    from oasis.agent.context import fill  # noqa: PLC0415
    from oasis.core.transcript import Transcript  # noqa: PLC0415

    talk = place.conversation
    model, session = talk.model, talk.session
    transcript = session.transcript if session else Transcript(talk.equipped.box.prefix, model.encoder)
    filling = await fill(transcript, model, session.last_usage if session else None)
    place.feed.say(*drawn(place.brush, filling))


def drawn(brush: Brush, filling: "Filling") -> list[Text]:
    """The bar, a line for each part, and how the numbers were got."""
    signs, width = brush.signs, brush.width
    whole = filling.limit or filling.used or 1
    bar, legend = Text(), list[Text]()
    free = f", {filling.free:,} free" if filling.free is not None else ""
    limit = f" of {filling.limit:,}" if filling.limit else ""
    figures = f"  {filling.used:,}{limit} tokens{free}"
    left = room = max(8, min(BAR_CELLS, width - len(figures)))
    for number, part in enumerate(filling.parts):
        colour = _COLOURS[number % len(_COLOURS)]
        cells = min(left, max(1, round(room * part.tokens / whole)))
        left -= cells
        bar.append(signs.full * cells, colour)
        line = f"{part.name:<22}{part.tokens:>9,}  {100 * part.tokens / whole:5.1f} %"
        legend.append(
            Text.assemble((f"{signs.full} ", colour), fitted(line, width - 2), _detail(part, width - len(line) - 2))
        )
    bar.append(signs.empty * left, "dim")
    bar.append(figures)
    return [bar, *legend, Text(filling.said, "dim")]


def _detail(part: "Part", width: int) -> str:
    """What a part is made of, the largest first, as many as have room."""
    told = ""
    for name, tokens in part.detail:
        more = f"{told}, {name} {tokens:,}" if told else f"  {name} {tokens:,}"
        if len(more) > width:
            break
        told = more
    return told


async def _prefix(place: "Workplace", argument: str) -> None:
    from oasis.measure.prefix import count, estimate  # noqa: PLC0415
    from oasis.models.tokens import TokenModel  # noqa: PLC0415

    talk = place.conversation
    prefix = talk.session.transcript.prefix if talk.session else talk.equipped.box.prefix
    model = talk.connection.model if talk.connection else None
    is_counted = isinstance(model, TokenModel)
    costs = await count(model, prefix, prefill=False) if isinstance(model, TokenModel) else estimate(prefix)
    told = [(one_line(part.name, 30), f"{part.tokens:>7,} tokens  {part.text_bytes:>7,} bytes") for part in costs]
    told.append(("the head", f"{sum(part.tokens for part in costs):>7,} tokens  digest {prefix.digest[:16]}"))
    place.feed.say(rows(told))
    if not is_counted:
        place.say("Tokens are estimated from bytes: this server shows none.")
    for event in talk.broken:
        place.say(f"step {event.step}: {event.words()}")
    if not talk.broken:
        place.say("No step of this session has computed more than was new, as far as the server tells.")


async def _compact(place: "Workplace", argument: str) -> None:
    talk = place.conversation
    if talk.session is None:
        place.say("There is nothing to compact yet.")
        return
    if await talk.compact():
        place.say("Summarised. The new epoch begins with your next message; what it cost is told then.")
    else:
        place.say("Nothing was left out: there is too little to summarise, or it was interrupted.")


COMMANDS = (
    Command("context", "", "what fills the context, by part", _context),
    Command("prefix", "", "what the head of the prompt costs, and where the prefix broke", _prefix),
    Command("compact", "", "summarise, and go on in a new epoch", _compact, is_for_idle=True),
)
