"""`--compact-at`, and what is printed of a compaction."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.core.events import Compacted
from oasis.ui.headless import Progress
from tests.cli.test_run import DONE, calling, events, run
from tests.models.server import answer, delta, serving, sse, stream

EVENT = Compacted(
    epoch=1,
    reason="limit",
    tokens_before=12_000,
    tokens_after=4_000,
    computed_tokens=2_500,
    new_tokens=2_500,
    paid_s=3.25,
    cold_s=14.5,
    pays_after_steps=12,
    kept_exchanges=3,
    dropped_exchanges=0,
    has_summary=True,
)


@pytest.mark.parametrize("value", ["much", "1.5", "-3"])
def test_what_is_no_place_to_compact_at_is_wrong_usage(value: str):
    done = CliRunner().invoke(app, ["run", "x", "--server", "http://127.0.0.1:1", f"--compact-at={value}"])
    assert done.exit_code == 2
    assert "number of tokens" in done.output


def test_a_compaction_is_printed_with_what_it_cost_and_when_it_pays():
    err = StringIO()
    Progress(StringIO(), err).show(EVENT)
    assert err.getvalue() == (
        "compacted (limit): prompt 12,000 → 4,000 tokens · computed 2,500 (2,500 new) · 3.2 s, cold 14.5 s · "
        "pays after 12 steps\n"
    )


def test_what_is_not_known_of_a_compaction_is_not_made_up():
    err = StringIO()
    Progress(StringIO(), err).show(replace(EVENT, is_cache_known=False, new_tokens=None))
    assert "· reuse not told by the server · 3.2 s" in err.getvalue()
    err = StringIO()
    Progress(StringIO(), err).show(replace(EVENT, new_tokens=None, cold_s=None, pays_after_steps=None))
    assert err.getvalue() == (
        "compacted (limit): prompt 12,000 → 4,000 tokens · computed 2,500 · 3.2 s · no step is known to be cheaper yet\n"
    )


async def test_a_prompt_the_server_refuses_as_too_long_is_compacted_and_goes_once_more(tmp_path: Path):
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{n} is {n * 7}\n" for n in range(500)))
    too_long = {"type": "exceed_context_size_error", "message": "too long", "n_ctx": 12_000}
    summary = stream(sse(delta(content="FACTS: a7 is 49"), delta("stop")))
    script = [*(calling("read", path=f"{name}.txt") for name in "abcd"), answer("400 Bad", {"error": too_long})]
    async with serving(*script, summary, DONE) as server:
        code, out, err = await run(tmp_path, "run", "do it", "--json", "--server", server.url)
    told = [event for event in events(out) if event["event"] in ("compacting", "compacted")]
    assert (code, [event["reason"] for event in told]) == (0, ["full", "full"]), err
    asked, after = server.requests[-2:]
    assert "Do not call a tool." in asked["messages"][-1]["content"]
    assert asked["messages"][:2] == server.requests[0]["messages"]
    assert [message["role"] for message in after["messages"]] == ["system", "user", "assistant", "tool"]
    assert "FACTS: a7 is 49" in after["messages"][1]["content"]
    assert after["messages"][1]["content"].endswith("do it")
