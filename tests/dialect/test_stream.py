"""What a person sees while a message arrives."""

import pytest

from oasis.core.events import Reasoning, Text
from oasis.dialect.dialect import Dialect
from tests.dialect.conversations import call, raw_of, read_back, said
from tests.dialect.templates import dialect, every


def shown(made: Dialect, raw: str, size: int) -> tuple[str, str]:
    """Reasoning and text of a message fed in pieces of `size` characters."""
    streamer = made.streamer()
    events = [event for at in range(0, len(raw), size) for event in streamer.feed(raw[at : at + size])]
    events += streamer.close()
    return (
        "".join(e.text for e in events if isinstance(e, Reasoning)),
        "".join(e.text for e in events if isinstance(e, Text)),
    )


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_reasoning_and_text_come_apart_however_they_are_cut(size: int) -> None:
    raw = "<think>\nFirst <b>this</b>.\n\nThen that.\n</think>\n\nA < b, and <i>so</i> on.\n\nEnd.<|im_end|>"
    assert shown(dialect("hermes"), raw, size) == (
        "First <b>this</b>.\n\nThen that.",
        "A < b, and <i>so</i> on.\n\nEnd.",
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_calls_are_hidden_and_text_around_them_is_not(size: int) -> None:
    raw = 'Before.\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>\nAfter.<|im_end|>'
    assert shown(dialect("hermes"), raw, size) == ("", "Before.\nAfter.")


@pytest.mark.parametrize("size", [1, 7])
def test_an_unfinished_call_shows_nothing(size: int) -> None:
    assert shown(dialect("hermes"), 'Look.\n<tool_call>\n{"name": "read", "argu', size) == ("", "Look.")


def test_reasoning_that_the_prompt_opened_is_reasoning_from_the_first_letter() -> None:
    assert dialect("parameters").streamer().feed("Hm, ") == [Reasoning("Hm,")]


def test_a_piece_shows_as_soon_as_it_cannot_be_a_mark() -> None:
    streamer = dialect("hermes").streamer()
    assert [streamer.feed(piece) for piece in ("Hel", "lo <", "b>!", " <|im")] == [
        [Text("Hel")],
        [Text("lo")],
        [Text(" <b>!")],
        [],
    ]


def test_the_text_of_every_dialect_is_what_the_parser_reads() -> None:
    wrong = []
    for name, made in every().items():
        for message in (said("The answer is 4.", "Because."), said("", "Because.", call(1, "read", path="a"))):
            raw = raw_of(made, message)
            parsed = read_back(made, raw)
            seen = shown(made, raw, 3)
            if seen != (parsed.reasoning, parsed.text):
                wrong.append((name, seen, (parsed.reasoning, parsed.text)))
    assert wrong == []
