"""What a template gets: its lane, why, and what was inferred."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oasis.dialect.check import check
from oasis.dialect.dialect import Dialect
from oasis.dialect.history import Reuse, default_kwargs, expected_reuse, kept_history, reuse_of
from oasis.dialect.infer import infer
from oasis.errors import DialectFault


@dataclass(frozen=True, slots=True)
class Report:
    """One template, examined.

    reason   why the chat lane is used, empty in the token lane
    reuse    what to expect where the server renders the messages; None when the template does not render
    kwargs   the chat_template_kwargs with which the template keeps its history
    """

    name: str
    lane: Literal["tokens", "chat"]
    reason: str
    dialect: Dialect | None
    reuse: Reuse | None
    kwargs: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        reuse = self.reuse
        shown = reuse and {
            "within_turn": reuse.within_turn,
            "across_turn": reuse.across_turn,
            "keeps_reasoning": reuse.keeps_reasoning,
            "kept": round(reuse.kept, 3),
        }
        return {
            "name": self.name,
            "lane": self.lane,
            "reason": self.reason,
            "digest": self.dialect.digest if self.dialect else "",
            "stops": list(self.dialect.stops) if self.dialect else [],
            "marks": list(self.dialect.marks) if self.dialect else [],
            "facts": self.dialect.facts if self.dialect else {},
            "chat_lane": {"chat_template_kwargs": dict(self.kwargs), "reuse": shown or None},
        }


def examine(name: str, template: str, bos: str = "<s>", eos: str = "</s>") -> Report:
    """Infer and check a template's dialect; a fault becomes the reason for the chat lane."""
    dialect, reason = None, ""
    try:
        dialect = infer(template, bos, eos)
        check(dialect)
    except DialectFault as fault:
        reason = str(fault)
    if dialect:
        given = default_kwargs(dialect.render.template, None)
        kept = {name: value for name, value in dialect.render.kwargs.items() if name not in given}
        return Report(name, "chat" if reason else "tokens", reason, dialect, reuse_of(dialect.render), kept)
    try:
        kept = kept_history(template)
        return Report(name, "chat", reason, None, expected_reuse(template, kept), kept)
    except DialectFault:
        return Report(name, "chat", reason, None, None, {})
