"""What a template does with history: whether it appends, and what it offers to keep everything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from oasis.dialect.entries import BASE, KEY, NAME, Call, Entry, call_id, model, output, user
from oasis.dialect.form import Renderer, find_form
from oasis.dialect.template import Refused, Template

THINKING: Final = "enable_thinking"


@dataclass(frozen=True, slots=True)
class Reuse:
    """What to expect of a server that renders the messages itself.

    within_turn      each step's prompt begins with the one before it
    across_turn      so does the first prompt of the next turn
    keeps_reasoning  reasoning of earlier turns stays in the prompt
    kept             of a sample conversation, the share of the last turn's first prompt that was there before
    """

    within_turn: bool
    across_turn: bool
    keeps_reasoning: bool
    kept: float

    @property
    def appends(self) -> bool:
        return self.within_turn and self.across_turn

    def sentence(self) -> str:
        """One line for a person."""
        within = "appends within a turn" if self.within_turn else "rewrites the prompt within a turn"
        across = "appends across turns" if self.across_turn else f"keeps {self.kept:.0%} of a prompt at a new turn"
        reasoning = "keeps reasoning" if self.keeps_reasoning else "drops or hides earlier reasoning"
        return f"The chat template {within}, {across} and {reasoning}."


def _sample() -> list[list[Entry]]:
    """A conversation of two turns with calls and reasoning: the entries of each step."""

    def step(number: int, value: str) -> list[Entry]:
        one = Call(call_id(number), NAME, {KEY: value})
        return [model("", f"ZqWhy{number}qZ", one), output(f"out {number}", NAME, number)]

    return [
        step(1, "a"),
        step(2, "b"),
        [model("Done.", "ZqWhy3qZ"), user("Now the second.")],
        step(4, "d"),
        step(5, "e"),
    ]


def measure_reuse(render: Renderer) -> Reuse:
    """Render a sample conversation step by step and compare. Raises Refused."""
    return _compare(_walk(render))


def _walk(render: Renderer) -> list[str]:
    """The prompts of the sample conversation."""
    entries = list(BASE)
    prompts = [render(entries)]
    for step in _sample():
        entries += step
        prompts.append(render(entries))
    return prompts


def _compare(prompts: Sequence[str]) -> Reuse:
    pairs = list(pairwise(prompts))
    appends = [after.startswith(before) for before, after in pairs]
    within = all(appends[:2]) and all(appends[3:])
    before, after = pairs[2]
    same = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    keeps = all(f"ZqWhy{n}qZ" in prompts[-1] for n in (1, 2, 3, 4, 5))
    return Reuse(within, appends[2], keeps, same / max(1, len(before)))


def default_kwargs(template: Template, kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The caller's arguments, with thinking on as llama.cpp has it when nothing is said."""
    given = dict(kwargs or {})
    if THINKING in template.variables:
        given.setdefault(THINKING, True)
    return given


def history_kwargs(template: Template, render: Renderer) -> dict[str, Any]:
    """The arguments that make the template keep more of its history and change nothing of a first prompt."""
    chosen: dict[str, Any] = {}
    try:
        usual = _walk(render)
    except Refused:
        return chosen
    best = _rank(_compare(usual))
    for name in sorted(template.variables - render.kwargs.keys()):
        if best[:3] == (True, True, True):
            break
        for value in (True, False):
            tried = Renderer(template, render.form, {**render.kwargs, **chosen, name: value})
            try:
                prompts = _walk(tried) if tried(BASE) == usual[0] else usual
            except Refused:
                continue
            rank = _rank(_compare(prompts))
            if rank > best and len(prompts[-1]) >= len(usual[-1]):
                chosen[name], best = value, rank
    return chosen


def _rank(reuse: Reuse) -> tuple[bool, bool, bool, float]:
    return reuse.within_turn, reuse.across_turn, reuse.keeps_reasoning, reuse.kept


def renderer(source: str, kwargs: Mapping[str, Any] | None, bos: str = "<s>", eos: str = "</s>") -> Renderer:
    """A renderer for the template's own form of messages. Raises DialectFault."""
    template = Template(source, bos, eos)
    given = default_kwargs(template, kwargs)
    return Renderer(template, find_form(template, given), given)


def kept_history(template: str) -> dict[str, Any]:
    """The `chat_template_kwargs` with which the template keeps its history; empty when it offers none.

    Raises DialectFault when the template cannot be rendered.
    """
    render = renderer(template, None)
    return history_kwargs(render.template, render)


def expected_reuse(template: str, kwargs: Mapping[str, Any] | None = None) -> Reuse:
    """What reuse to expect of a server that renders with these arguments. Raises DialectFault."""
    return reuse_of(renderer(template, kwargs))


def reuse_of(render: Renderer) -> Reuse:
    """What reuse to expect; none where the template refuses a conversation with tools."""
    try:
        return measure_reuse(render)
    except Refused:
        return Reuse(False, False, False, 0.0)
