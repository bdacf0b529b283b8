"""Infer a dialect from a chat template by rendering sentinel conversations and comparing. No table of models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from oasis.core.items import Assistant, Item, Stop, ToolCall, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.dialect.calls import find_syntax
from oasis.dialect.dialect import Dialect
from oasis.dialect.ends import find_ends
from oasis.dialect.entries import BASE, END, KEY, NAME, OTHER_NAME, OUT, SPECS, TWO, Call, Entry, model, user
from oasis.dialect.form import Renderer, find_form
from oasis.dialect.history import default_kwargs, history_kwargs, reuse_of
from oasis.dialect.pieces import Depends
from oasis.dialect.template import Refused, Template
from oasis.dialect.thinking import find_thinking
from oasis.errors import DialectFault


def infer(template: str, bos: str = "<s>", eos: str = "</s>", kwargs: Mapping[str, Any] | None = None) -> Dialect:
    """The dialect of a chat template.

    kwargs   chat_template_kwargs the user set; what the template offers to keep its history is added
    Raises DialectFault, whose text says why the chat lane has to be used.
    """
    source = Template(template, bos, eos)
    given = default_kwargs(source, kwargs)
    render = Renderer(source, find_form(source, given), given)
    try:
        render = Renderer(source, render.form, {**given, **history_kwargs(source, render)})
        return _inferred(render)
    except Refused as error:
        raise DialectFault(
            f"The chat template refused a conversation it has to render ({error}).\n"
            "How this model writes a conversation could not be inferred.\n"
            "The chat lane is used: the server renders the messages."
        ) from error


def _inferred(render: Renderer) -> Dialect:
    """The steps in order: ends, reasoning, calls, then what pieces depend on."""
    ends = find_ends(render)
    thinking = find_thinking(render, ends)
    syntax = find_syntax(render, ends, thinking)
    repeats, any_id, appends = _repeats_tools(render), _takes_any_id(render), reuse_of(render).appends
    dialect = Dialect(render, ends, thinking, syntax, Depends.HISTORY, repeats, any_id, appends)
    return replace(dialect, depends=_depends(dialect))


def _takes_any_id(render: Renderer) -> bool:
    """Some templates refuse a call id that is not nine letters and digits."""
    odd = Call("call_1-a", NAME, {KEY: "x"})
    try:
        render([*BASE, model("", "", odd), Entry("tool", OUT, call_id=odd.id, name=NAME)])
    except Refused:
        return False
    return True


def _repeats_tools(render: Renderer) -> bool:
    """Whether the tools come again before a later user message and can be left out there."""
    entries = [*BASE, model(END), user(TWO)]
    listed = render(entries)
    listed = listed[listed.rindex(END) :]
    if NAME not in listed:
        return False
    try:
        bare = render(entries, ())
    except Refused:
        return False
    bare = bare[bare.rindex(END) :]
    return listed.endswith(bare[len(END) :].lstrip()) or listed.endswith(bare[bare.index(TWO) :])


def _depends(dialect: Dialect) -> Depends:
    """The least that a piece depends on, by writing pieces of a conversation both ways."""
    prefix = Prefix("System.", SPECS)
    samples = _histories(dialect.render.form.is_parallel)
    whole = [dialect.batch(prefix, history, new) for history, new in samples]
    for depends in (Depends.LAST, Depends.CALLS):
        less = replace(dialect, depends=depends)
        try:
            if all(less.batch(prefix, *sample) == made for sample, made in zip(samples, whole, strict=True)):
                return depends
        except (DialectFault, ValueError):
            continue
    return Depends.HISTORY


def _histories(is_parallel: bool) -> list[tuple[list[Item], Sequence[User | ToolOutput]]]:
    """A conversation of three turns, cut at every message of the model."""

    def calls(*numbers: int) -> Assistant:
        made = tuple(ToolCall(f"c{n}", OTHER_NAME if n % 2 else NAME, "{}") for n in numbers)
        return Assistant("", "", made, Stop.END, b"", "")

    def outputs(*numbers: int) -> list[ToolOutput]:
        return [ToolOutput(f"c{n}", OTHER_NAME if n % 2 else NAME, f"out {n}") for n in numbers]

    said = Assistant("Done.", "", (), Stop.END, b"", "")
    pair = (2, 3) if is_parallel else (2,)
    steps: list[tuple[Assistant, list[User] | list[ToolOutput]]] = [
        (calls(1), outputs(1)),
        (calls(*pair), outputs(*pair)),
        (said, [User("Second.")]),
        (calls(4), outputs(4)),
        (said, [User("Third.")]),
        (said, [User("Fourth.")]),
        (calls(5), outputs(5)),
    ]
    made: list[tuple[list[Item], Sequence[User | ToolOutput]]] = []
    history: list[Item] = [User("First.")]
    for message, new in steps:
        history.append(message)
        made.append((list(history), new))
        history += new
    return made
