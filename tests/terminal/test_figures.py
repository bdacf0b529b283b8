"""The figures of a step and the bar of a prefill."""

import pytest

from oasis.core.events import Prefill, Recomputed, StepFinished, TurnFinished
from oasis.core.usage import Usage
from oasis.ui.terminal.figures import Pace, duration, prefill_bar, step_line, turn_line
from oasis.ui.terminal.paint import ASCII, Glyphs

SIGNS = Glyphs()


def test_a_prefill_says_what_is_done_what_is_left_and_for_how_long():
    pace = Pace(10.0, 8_400, Prefill(12_704, 8_400, 9_604))
    assert prefill_bar(pace, 14.0, SIGNS) == (
        "prefill ██████░░░░░░░░░░░░░░░░░░ 1,204 done · 3,100 to do · 10 s left · 8,400 reused"
    )


def test_seconds_are_not_told_before_there_is_a_rate():
    pace = Pace(10.0, 100, Prefill(1_000, 100, 100))
    assert prefill_bar(pace, 12.0, ASCII).endswith(" 0 done - 900 to do - 2 s so far - 100 reused")
    assert "#" not in prefill_bar(pace, 12.0, ASCII)


def test_an_earlier_prefill_tells_how_long_this_one_takes_until_it_has_a_rate_of_its_own():
    pace = Pace(10.0, 100, Prefill(1_100, 100, 100), ms_per_token=10.0)
    assert pace.seconds_left(13.0) == 7.0
    assert pace.seconds_left(99.0) == 0.0


@pytest.mark.parametrize(
    ("usage", "new", "said"),
    [
        (Usage(71_000, 70_858, 85, 310.4, 2500.0), 142, "reuse 99.8 % · 142 new · 310 ms · 85 written, 34/s"),
        (Usage(100_000, 99_999, 1), 1, "reuse 99.9 % · 1 new · 1 written"),
        (Usage(500, 0, 10, 40.0), 500, "reuse 0.0 % · 500 new · 40 ms · 10 written"),
        (Usage(500, 480, 0), None, "reuse 96.0 % · 20 computed"),
        (Usage(0, 0, 0, is_cache_known=False), None, ""),
    ],
)
def test_a_step_says_what_it_reused_what_was_new_and_how_long_it_took(usage: Usage, new: int | None, said: str):
    assert step_line(StepFinished(1, usage, new), SIGNS) == said


def test_a_turn_says_its_amplification():
    event = TurnFinished(2, "done", "text", Usage(1000, 900, 10), 80)
    said = "turn 2 · 1 min 05 s · 100 of 1,000 tokens computed · amplification 1.25"
    assert turn_line(event, 65.0, SIGNS) == said


def test_a_broken_prefix_says_where_why_and_what_it_cost():
    event = Recomputed(3, 400, 9_000, 8_600, 12_300.0, "your message “do it”", "the server was started again")
    assert event.words() == (
        "the prefix broke after 400 of 9,000 tokens, at your message “do it”: the server was started again. "
        "It cost 8,600 tokens computed again, 12.3 s"
    )


def test_durations():
    assert [duration(s) for s in (0.0123, 0.85, 12.4, 185)] == ["12 ms", "850 ms", "12 s", "3 min 05 s"]
