"""When a compaction is due, and what it takes for it to pay."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis.agent.compaction_policy import CompactAt, Outlook, Rates, due, pays_after, steps_to_pay
from oasis.agent.compaction_seed import Bounds, plan, sizes
from oasis.core.items import Assistant, ToolOutput, User
from oasis.core.prefix import Prefix
from oasis.core.transcript import Transcript
from oasis.core.usage import Usage
from oasis.models.scripted import ByteEncoder, call, reply

LIMIT = 16_000
NOTHING = Rates()


def outlook(prompt: int, after: int = 4_000, steps: int = 50) -> Outlook:
    return Outlook(prompt, after, summary_tokens=1_000, reread_tokens=max(0, after - 1_000), steps=steps)


def measured(ms_per_token: float = 10.0, slope: float = 0.01) -> Rates:
    """A server that prefills a token in 1 ms and writes one in `ms_per_token` and `slope` more for each before it."""
    rates = Rates()
    for prompt in range(2_000, 12_000, 1_000):
        decode_ms = 100 * (ms_per_token + slope * (prompt + 50))
        rates.add(Usage(prompt, prompt - 500, 100, prefill_ms=500, decode_ms=decode_ms))
    return rates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12000", CompactAt(12_000, 0.0)),
        ("0.7", CompactAt(0, 0.7)),
        ("70%", CompactAt(0, 0.7)),
        (" 1 ", CompactAt(0, 1.0)),
        ("0", CompactAt(0, 0.0)),
    ],
)
def test_tokens_a_fraction_or_never(text: str, expected: CompactAt):
    assert CompactAt.parse(text) == expected


@pytest.mark.parametrize("text", ["", "much", "-5", "1.5", "170%", "nan", "inf"])
def test_what_is_neither_is_refused_in_words(text: str):
    with pytest.raises(ValueError, match="no number of tokens"):
        CompactAt.parse(text)


def test_near_the_limit_it_is_due():
    assert due(outlook(11_999), CompactAt(), LIMIT, NOTHING) == ""
    assert due(outlook(12_000), CompactAt(), LIMIT, NOTHING) == "limit"
    assert due(outlook(9_000), CompactAt(9_000), None, NOTHING) == "limit"


def test_it_is_not_due_where_it_would_free_next_to_nothing():
    assert due(outlook(12_100, after=11_000), CompactAt(), LIMIT, NOTHING) == ""


def test_never_is_never():
    assert due(outlook(15_999), CompactAt(0, 0.0), LIMIT, measured()) == ""


def test_it_is_due_where_cheaper_steps_pay_for_it_in_half_the_steps_taken():
    rates = measured(slope=0.05)
    needed = pays_after(outlook(9_000), rates)
    assert needed is not None
    assert due(outlook(9_000, steps=2 * needed), CompactAt(), LIMIT, rates) == "cost"
    assert due(outlook(9_000, steps=2 * needed - 1), CompactAt(), LIMIT, rates) == ""


def test_for_its_cost_alone_it_waits_until_the_prompt_has_doubled():
    assert due(outlook(9_000, after=4_600, steps=1_000), CompactAt(), LIMIT, measured(slope=0.05)) == ""


def test_a_server_whose_tokens_cost_the_same_at_any_length_is_not_compacted_for_cost():
    assert due(outlook(9_000, steps=1_000), CompactAt(), LIMIT, measured(slope=0.0)) == ""


def test_the_slope_is_what_the_server_was_measured_to_do():
    rates = measured(slope=0.02)
    assert rates.decode_slope == pytest.approx(0.02)
    assert rates.prefill_ms_per_token == pytest.approx(1.0)
    assert rates.decode_ms_per_token(5_000) == pytest.approx(10 + 0.02 * 5_000)
    assert steps_to_pay(1_000.0, 1_000, rates) == 1  # 100 tokens a step, 0.02 ms each for 1,000 tokens less: 2,000 ms


def test_few_or_similar_steps_say_nothing_of_the_slope():
    rates = Rates()
    for _ in range(20):
        rates.add(Usage(5_000, 4_000, 100, prefill_ms=900, decode_ms=1_000))
    assert rates.decode_slope is None
    assert steps_to_pay(1.0, 1_000, rates) is None


async def transcript_of(lengths: list[int]) -> Transcript:
    """A turn of calls whose outputs have these lengths; the last output is pending."""
    encoder = ByteEncoder()
    transcript = Transcript(Prefix("You are a test.", ()), encoder)
    transcript.append(User("go"))
    for number, length in enumerate(lengths):
        await transcript.request()
        transcript.append(encoder.message(reply("", call("look", f"c{number}", text=str(number)))))
        transcript.append(ToolOutput(f"c{number}", "look", "x" * length))
    return transcript


@given(
    st.lists(st.integers(0, 3_000), min_size=2, max_size=12),
    st.integers(500, 20_000),
    st.one_of(st.none(), st.integers(500, 30_000)),
    st.sampled_from(["sum up", "sum up " * 100, None]),
)
async def test_no_plan_separates_a_call_from_its_output(
    lengths: list[int], threshold: int, room: int | None, asked: str | None
):
    transcript = await transcript_of(lengths)
    made = plan(transcript, sizes(transcript, None), Bounds.of(threshold, room), asked)
    assert made is not None
    seed = made.seed("summary")
    kept = [item for item in seed if isinstance(item, Assistant | ToolOutput)]
    assert 2 <= len(kept) < 2 * len(lengths)
    assert all(isinstance(one, Assistant) != isinstance(other, Assistant) for one, other in pairwise(kept))
    assert [i.calls[0].id for i in kept[::2]] == [i.call_id for i in kept[1::2]]
    assert kept[-1] == transcript.items[-1]
    if made.shown:
        question = made.question("sum up")
        assert [i.call_id for i in question if isinstance(i, ToolOutput)] == [f"c{made.shown - 1}"]


@given(st.lists(st.integers(0, 3_000), min_size=2, max_size=12), st.integers(500, 20_000), st.integers(500, 30_000))
async def test_an_exchange_is_seen_kept_or_counted_as_dropped(lengths: list[int], threshold: int, room: int):
    transcript = await transcript_of(lengths)
    made = plan(transcript, sizes(transcript, None), Bounds.of(threshold, room), "sum up")
    assert made is not None
    seen = made.shown if made.sees_tail else max(0, made.shown - 1)
    lost = len(set(range(len(lengths))) - set(range(seen)) - set(range(made.tail, len(lengths))))
    assert made.unseen == lost
    assert made.kept == len(lengths) - made.tail
