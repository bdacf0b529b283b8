"""Prompts written piece by piece equal the template's own rendering."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from jinja2.sandbox import SandboxedEnvironment

from oasis.core.items import Assistant, Item, NewItem, Notice, Stop, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.dialect.check import template_raw, variants
from oasis.dialect.clock import strftime
from oasis.dialect.dialect import Dialect
from oasis.dialect.parts import text_of
from tests.dialect.conversations import PREFIX, TOOLS, answer, call, first, follow, said, with_raw
from tests.dialect.templates import WRITTEN, dialect, every, real

PLAIN_USER = "Map the device."


def rendered_apart(source: str, kwargs: dict[str, Any], tools: bool = True) -> str:
    """The first prompt by a jinja environment of this test's own."""
    env = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    env.filters["tojson"] = lambda x, **k: json.dumps(x, ensure_ascii=False, **k)
    env.globals.update(strftime_now=strftime, raise_exception=lambda text: (_ for _ in ()).throw(ValueError(text)))
    messages = [{"role": "system", "content": PREFIX.system}, {"role": "user", "content": PLAIN_USER}]
    listed = [tool.function() for tool in TOOLS] if tools else None
    given = {"datetime": "2025-01-01", "functions": json.dumps(listed)} | kwargs
    return env.from_string(source).render(
        messages=messages, tools=listed, add_generation_prompt=True, bos_token="<s>", eos_token="</s>", **given
    )


@pytest.mark.parametrize("name", ["hermes", "parameters", "brackets", "counted", "forgetful", "dated"])
def test_the_first_prompt_is_the_templates_own(name: str) -> None:
    made = dialect(name)
    assert first(made, PLAIN_USER) == rendered_apart(WRITTEN[name], made.render.kwargs)


def test_the_first_prompt_of_every_real_template_is_its_own() -> None:
    wrong = []
    for name, made in every().items():
        form = made.render.form
        if (
            form.shows_calls
            and form.has_system
            and form.content == "text"
            and "generation" not in made.render.template.source
        ):
            apart = rendered_apart(made.render.template.source, made.render.kwargs)
            wrong += [name] if first(made, PLAIN_USER) != apart else []
    assert wrong == []


def test_the_head_is_the_same_for_every_question() -> None:
    for made in every().values():
        head = text_of(made.head(PREFIX))
        for text in ("", " padded ", "\n\nünï {{ x }}"):
            whole = head + text_of(made.batch(PREFIX, [], [User(text)]))
            assert whole == made.rendering(PREFIX, [User(text)])


def test_the_head_grows_at_its_end_when_a_tool_is_added_last() -> None:
    fewer, more = (text_of(dialect("hermes").head(Prefix("You are Oasis.", TOOLS[:n]))) for n in (2, 3))
    same = next(i for i, (a, b) in enumerate(zip(fewer, more, strict=False)) if a != b)
    assert TOOLS[1].description in fewer[:same]
    assert TOOLS[1].description in more[:same]


def job(is_parallel: bool) -> list[tuple[Assistant, list[NewItem]]]:
    one, two, three = call(1, "read", path="a"), call(2, "read", path="b"), call(3, "now")
    four = call(4, "write", path="c", body='x "y" \\ z\nw')
    pair = [two, three] if is_parallel else [two]
    return [
        (said("", "Look.", one), [answer(one, "1\n2")]),
        (said("", "Again.", *pair), [answer(c, f"out {c.id}") for c in pair]),
        (said("It is there.", "Enough."), [Notice("The file changed."), User("Now write.")]),
        (said("", "Write it.", four), [answer(four, "ok"), User("Stop after this.")]),
        (said("Done.", "All."), [User("Thanks.")]),
        (said("Welcome.", "A guest."), [User("Bye.")]),
    ]


def grown(made: Dialect, stop: str) -> tuple[list[str], list[str]]:
    """The prompts of a job as they grow, and the template's own, with the model writing as the template does."""
    history: list[Item] = [User(PLAIN_USER)]
    prompt, own = first(made, PLAIN_USER), made.rendering(PREFIX, history)
    grown, owns = [prompt], [own]
    for message, new in job(made.render.form.is_parallel):
        after = made.rendering(PREFIX, [*history, message, *new])
        raw = template_raw(made, history, message, after, PREFIX)
        assert raw is not None, "the template rewrites"
        raw = dict(variants(made, raw)).get(stop, raw)
        prompt += raw + follow(made, history, with_raw(message, raw), new)
        history += [with_raw(message, raw), *new]
        grown.append(prompt)
        owns.append(after)
    return grown, owns


def appending() -> dict[str, Dialect]:
    return {name: made for name, made in every().items() if made.is_appending}


@pytest.mark.parametrize("stop", ["kept", "left out", "cut"])
def test_every_later_prompt_is_the_templates_own_where_it_appends(stop: str) -> None:
    wrong = []
    for name, made in appending().items():
        prompts, owns = grown(made, stop)
        wrong += [name] if prompts != owns else []
    assert wrong == []


def test_where_a_template_rewrites_the_newest_turn_is_the_templates_own() -> None:
    wrong = []
    for name, made in every().items():
        if made.is_appending:
            continue
        history: list[Item] = [User(PLAIN_USER)]
        for message, new in job(made.render.form.is_parallel):
            stop = made.ends.call_stop if message.calls else made.ends.text_stop
            piece = follow(made, history, with_raw(message, stop), new)
            history += [with_raw(message, stop), *new]
            if not made.rendering(PREFIX, history).endswith(piece) or not piece:
                wrong.append((name, piece))
    assert wrong == []


def test_at_least_53_of_the_real_templates_pass_their_check() -> None:
    from oasis.dialect.check import verify

    real("Qwen3-Coder")
    passed = [name for name, made in every().items() if name not in WRITTEN and not list(verify(made))]
    assert len(passed) >= 53


def test_a_history_of_one_turn_and_of_many_give_the_same_piece() -> None:
    one = call(7, "read", path="a")
    message, new = said("", "", one), [answer(one, "ok")]
    for made in (dialect("hermes"), dialect("parameters"), dialect("brackets")):
        raw = made.ends.call_stop
        long: list[Item] = []
        for number in range(50):
            long += [
                User(f"Question {number}."),
                said(f"Answer {number}.", raw=f"Answer {number}.{made.ends.text_stop}"),
            ]
        assert follow(made, [User("Go.")], with_raw(message, raw), new) == follow(
            made, [*long, User("Go.")], with_raw(message, raw), new
        )


def test_a_counter_over_the_conversation_goes_on() -> None:
    made = dialect("counted")
    prompts, owns = grown(made, "kept")
    assert prompts == owns
    assert "functions.now:2" in prompts[-1]


def test_a_cancelled_message_is_closed() -> None:
    message = said("I was about", stop=Stop.CANCELLED, raw="I was about")
    piece = follow(dialect("hermes"), [User("Go.")], message, [User("Never mind.")])
    assert piece == "<|im_end|>\n<|im_start|>user\nNever mind.<|im_end|>\n<|im_start|>assistant\n"


def test_reasoning_cut_off_is_closed_before_the_message_is() -> None:
    message = said("", "Let me", stop=Stop.LENGTH, raw="Let me")
    piece = follow(dialect("parameters"), [User("Go.")], message, [User("Go on.")])
    assert piece.startswith("\n</think>\n\n<|im_end|>\n<|im_start|>user\nGo on.")


def test_a_message_cancelled_before_its_first_token_is_closed() -> None:
    piece = follow(dialect("hermes"), [User("Go.")], said(stop=Stop.CANCELLED), [User("Again.")])
    assert piece.startswith("<|im_end|>\n<|im_start|>user\nAgain.")


def test_another_models_end_token_counts_as_the_stop() -> None:
    piece = follow(dialect("hermes"), [User("Go.")], said("Done.", raw="Done.<|endoftext|>"), [User("Again.")])
    assert piece.startswith("\n<|im_start|>user\nAgain.")


def test_tools_that_a_template_repeats_before_every_question_come_once() -> None:
    made = dialect("brackets")
    assert text_of(made.head(PREFIX)).count("[AVAILABLE_TOOLS]") == 1
    assert follow(made, [User("Go.")], said("Done.", raw="Done.</s>"), [User("More.")]) == "[INST]More.[/INST]"


def test_roles_alternate_where_a_template_wants_it() -> None:
    one = call(1, "read", path="a")
    made = dialect("plain")
    raw = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call><end_of_turn>'
    piece = follow(made, [User("Go.")], with_raw(said("", "", one), raw), [answer(one, "x"), User("Faster.")])
    assert piece.count("<start_of_turn>user") == 1
    assert "Faster." in piece


def test_a_call_syntax_of_oasis_own_is_explained_in_the_head() -> None:
    head = text_of(dialect("plain").head(PREFIX))
    assert '"arguments": {"argument": "value"}' in head
    assert all(tool.description in head for tool in TOOLS)


def test_a_template_without_a_system_role_gets_it_in_the_first_message() -> None:
    head = text_of(dialect("plain").head(PREFIX))
    assert head.startswith("<start_of_turn>user\nYou are Oasis.")


def test_a_refused_conversation_says_what_to_do() -> None:
    from oasis.errors import DialectFault

    made = replace(dialect("brackets"), any_id=True)
    one = replace(call(1, "read", path="a"), id="odd")
    with pytest.raises(DialectFault, match="--lane chat"):
        follow(made, [User("Go.")], said("", "", one), [ToolOutput("odd", "read", "x")])


def test_a_thousand_messages_cost_no_more_rendering_than_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    made = dialect("hermes")
    rendered: list[int] = []
    render = made.render.template.render

    def counted(messages: Sequence[Any], *rest: Any) -> str:
        rendered.append(len(messages))
        return render(messages, *rest)

    monkeypatch.setattr(made.render.template, "render", counted)
    history: list[Item] = []
    for number in range(500):
        history += [User(f"{number}"), said("x", raw="x<|im_end|>")]
    made.batch(PREFIX, history, [User("Now.")])
    assert max(rendered) <= 4
