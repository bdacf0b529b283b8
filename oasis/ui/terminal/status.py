"""The line at the bottom: model, lane, context, amplification, packs, site and whether writing is possible."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis.ui.terminal.paint import Glyphs, one_line

if TYPE_CHECKING:
    from oasis.agent.session import Session
    from oasis.ui.terminal.conversation import Conversation

Fragments = list[tuple[str, str]]
_FULL = 0.75


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says. `used` and `limit` are tokens; None where not known. `can_write`: devices can be written."""

    model: str = ""
    lane: str = ""
    used: int | None = None
    limit: int | None = None
    amplification: float | None = None
    mode: str = "ask"
    packs: tuple[str, ...] = ()
    site: str = ""
    can_write: bool = False
    is_connecting: bool = False


def status_of(talk: "Conversation", *, is_connecting: bool) -> Status:
    """What there is to say of a conversation now."""
    equipment = talk.equipment
    model = talk.connection.model if talk.connection else None
    plant = equipment.box.plant if equipment else None
    site = plant.site if plant else None
    return Status(
        model=one_line(model.name, 40) if model else "",
        lane=model.lane.value.rstrip("s") if model else "",
        used=context_used(talk.session),
        limit=model.context_tokens if model else None,
        amplification=amplification_of(talk.session),
        mode=equipment.permissions.mode.value.replace("_", " ") if equipment else "ask",
        packs=tuple(equipment.settings.packs) if equipment else (),
        site=one_line(site.name, 30) if site else "",
        can_write=bool(site and any(tag.is_writable for tag in site.tags.values())),
        is_connecting=is_connecting,
    )


def context_used(session: "Session | None") -> int | None:
    """Tokens of the prompt as it stands with the model's last message; None where they are not known."""
    if session is None:
        return None
    counts = [chunk.tokens for chunk in session.transcript.chunks]
    if counts and None not in counts:
        return sum(count or 0 for count in counts)
    last = session.last_usage
    return (last.prompt_tokens + last.decoded_tokens or None) if last else None


def amplification_of(session: "Session | None") -> float | None:
    """Of the session so far; None where it is not known."""
    if session is None or not session.new_tokens or not session.usage.is_cache_known:
        return None
    from oasis.core.usage import amplification  # noqa: PLC0415

    return amplification(session.usage.computed_tokens, session.new_tokens)


def fragments(status: Status, width: int, signs: Glyphs) -> Fragments:
    """The line as styled pieces, at most `width` columns; what matters most comes first."""
    pieces: Fragments = []
    if status.can_write:
        room = width - len(status.mode) - 3
        pieces.append(("class:danger", one_line(f"WRITING POSSIBLE: {status.site}", room)))
    pieces.append(("class:warn" if status.mode == "accept edits" else "class:status", status.mode))
    pieces.append(("class:status", status.model or ("connecting" if status.is_connecting else "no model")))
    if status.lane:
        pieces.append(("class:status", f"{status.lane} lane"))
    if (used := _context(status)) is not None:
        is_full = bool(status.used and status.limit and status.used > _FULL * status.limit)
        pieces.append(("class:warn" if is_full else "class:status", used))
    if status.amplification is not None:
        style = "class:warn" if status.amplification > 1.2 else "class:status"
        pieces.append((style, f"amplification {status.amplification:.2f}"))
    if status.packs:
        pieces.append(("class:status", ", ".join(status.packs)))
    if status.site and not status.can_write:
        pieces.append(("class:status", f"site {status.site}, reading only"))
    return _fitted(pieces, width, f" {signs.dot} ")


def _context(status: Status) -> str | None:
    if status.used is None:
        return f"context of {_short(status.limit)}" if status.limit else None
    if not status.limit:
        return f"context {_short(status.used)}"
    return f"context {_short(status.used)} of {_short(status.limit)} ({100 * status.used // status.limit} %)"


def _short(tokens: int | None) -> str:
    if tokens is None:
        return "?"
    return f"{tokens:,}" if tokens < 10_000 else f"{tokens / 1000:.1f}k"


def _fitted(pieces: Fragments, width: int, joint: str) -> Fragments:
    fitted: Fragments = []
    room = width
    for style, text in pieces:
        need = len(text) + (len(joint) if fitted else 0)
        if need > room:
            if not fitted:
                fitted.append((style, one_line(text, room)))
            break
        if fitted:
            fitted.append(("class:status", joint))
        fitted.append((style, text))
        room -= need
    return fitted
