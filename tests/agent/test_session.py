"""The session file: nothing complete is lost, nothing is run twice, nothing changed goes unseen."""

import json
import os
from pathlib import Path

import pytest

from oasis.agent.kept import load
from oasis.agent.session import Session
from oasis.agent.sessions import find_session
from oasis.core.items import Status, Stop, ToolOutput, User
from oasis.errors import SessionFault
from oasis.models.base import Lane
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import build

SCRIPT = [
    reply("", call("look", "c1", text="a"), reasoning="think"),
    reply("two", call("change", "c2", text="b"), call("look", "c3", text="ü \u2028 \x00")),
    reply("done"),
]


async def a_session(folder: Path, lane: Lane = Lane.TOKENS) -> tuple[Path, ScriptedModel]:
    model = ScriptedModel(SCRIPT, lane)
    bench = build(folder, model)
    await bench.agent.turn([User("go"), User("twice")])
    bench.session.close()
    return bench.session.path, model


@pytest.mark.parametrize("lane", list(Lane))
async def test_a_resumed_session_sends_exactly_what_the_slot_holds(tmp_path: Path, lane: Lane):
    path, model = await a_session(tmp_path, lane)
    session, kept = Session.resume(path, model)
    with session:
        request = await session.request()
        assert request.chunks[: len(model.requests[-1].chunks)] == model.requests[-1].chunks
        assert (kept.steps, kept.turns) == (3, 1)
        session.append(User("more"))
        again = await session.request()
        assert again.wire.startswith(request.wire)


async def test_every_cut_of_the_file_keeps_the_complete_records_and_goes_on(tmp_path: Path):
    path, _ = await a_session(tmp_path)
    whole = path.read_bytes()
    whole_items = load(path).items
    ends = [n for n, byte in enumerate(whole, 1) if byte == 10]
    for cut in sorted({*ends[2:], *(end - 3 for end in ends[3:]), *(end + 5 for end in ends[2:-1])}):
        path.write_bytes(whole[:cut])
        session, kept = Session.resume(path, ScriptedModel([]))
        with session:
            items = [
                i for i in session.transcript.items if not (isinstance(i, ToolOutput) and "Oasis stopped" in i.text)
            ]
            assert items == whole_items[: len(items)]
            assert bool(kept.warnings) == (cut not in ends)
            await session.request()
        assert load(path).items[: len(items)] == items


async def test_a_call_that_was_started_is_unknown_and_one_that_was_not_is_cancelled(tmp_path: Path):
    model = ScriptedModel([reply("", call("change", "c1", text="a"), call("change", "c2", text="b"))])
    bench = build(tmp_path, model)
    session = bench.session
    session.append(User("go"))
    await session.request()
    session.append(model._writer.message(model._replies[0]))
    session.start_call(session.transcript.items[-1].calls[0])
    session.close()
    resumed, _ = Session.resume(session.path, model)
    with resumed:
        outputs = [item for item in resumed.transcript.items if isinstance(item, ToolOutput)]
        assert [(o.call_id, o.status) for o in outputs] == [("c1", Status.UNKNOWN), ("c2", Status.CANCELLED)]


async def test_a_killed_request_is_made_again_with_the_same_bytes(tmp_path: Path):
    path, model = await a_session(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    last_chunk = max(n for n, line in enumerate(lines) if b'"kind":"chunk"' in line)
    path.write_bytes(b"".join(lines[:last_chunk]))
    session, _ = Session.resume(path, model)
    with session:
        assert (await session.request()).wire == model.requests[-1].wire


@pytest.mark.parametrize("damage", ["changed", "removed", "swapped"])
async def test_a_file_that_was_changed_is_not_sent_from(tmp_path: Path, damage: str):
    path, model = await a_session(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"kind":"output"' in line)
    if damage == "changed":
        lines[at] = lines[at].replace(b"look did", b"look DID")
    if damage == "removed":
        del lines[at]
    if damage == "swapped":
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    path.write_bytes(b"".join(lines))
    with pytest.raises(SessionFault, match="does not follow"):
        Session.resume(path, model)


async def test_a_session_is_held_by_one_process(tmp_path: Path):
    path, model = await a_session(tmp_path)
    session, _ = Session.resume(path, model)
    with session, pytest.raises(SessionFault, match="open in another Oasis"):
        Session.resume(path, model)


async def test_another_model_does_not_take_over_a_sessions_tokens(tmp_path: Path):
    path, _ = await a_session(tmp_path)
    with pytest.raises(SessionFault, match="was held with"):
        Session.resume(path, ScriptedModel([], name="other"))
    Session.resume(path, ScriptedModel([]))[0].close()


async def test_only_the_user_can_read_the_file(tmp_path: Path):
    path, _ = await a_session(tmp_path)
    assert path.stat().st_mode & 0o077 == 0


async def test_usage_and_reason_of_every_step_and_turn_are_kept(tmp_path: Path):
    path, _ = await a_session(tmp_path)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [r["new_tokens"] for r in records if r["kind"] == "step"] == [
        r["usage"]["prompt_tokens"] - r["usage"]["cached_tokens"] for r in records if r["kind"] == "step"
    ]
    assert [r["reason"] for r in records if r["kind"] == "turn"] == ["done"]


async def test_a_cancelled_message_is_read_back_as_one(tmp_path: Path):
    model = ScriptedModel([reply("half", stop=Stop.CANCELLED), reply("whole")])
    bench = build(tmp_path, model)
    session = bench.session
    session.append(User("go"))
    await session.request()
    session.append(model.partial())
    session.close()
    assert load(session.path).items[-1].stop is Stop.CANCELLED


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"hello", b"\x00" * 100, b'{"kind":"session","version":99}\n']
)
def test_what_is_no_session_file_says_so(tmp_path: Path, content: bytes):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionFault):
        load(path)


def test_last_is_the_session_that_was_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("oasis.agent.sessions.sessions_folder", lambda: tmp_path)
    for name, written_s in (("20260101-080000-aaaaaa", 2_000), ("20260102-080000-bbbbbb", 1_000)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"project": str(tmp_path)}))
        os.utime(path, (written_s, written_s))
    assert find_session("last", tmp_path).stem == "20260101-080000-aaaaaa"
