"""The safe state: what was shown and approved, of the tags this session wrote, each sent once."""

import subprocess
import sys
from pathlib import Path

from oasis.plant import safe_state
from oasis.plant.audit import Audit
from oasis.plant.audit_writes import writes_of
from oasis.plant.driver import Effect
from tests.plant.device import Memory
from tests.plant.plants import MEMORY_SITE, Desk, memory_desk

ALL = frozenset({"set_point", "pump"})


def test_what_would_be_written_is_shown_at_the_start(desk: Desk):
    assert safe_state.shown(desk.site).splitlines()[1:3] == [
        "  set_point → 60 °C  (cell sp of mem://boiler)",
        "  pump → false  (cell pump of mem://boiler)",
    ]
    assert "no substitute for a hardware emergency stop" in safe_state.shown(desk.site)


def test_a_site_without_safe_values_shows_nothing(tmp_path: Path, memory: Memory):
    text = MEMORY_SITE.replace("safe = 60\n", "").replace("safe = false\n", "")
    assert safe_state.shown(memory_desk(tmp_path, memory, text=text).site) == ""


def test_where_nobody_can_be_asked_only_unattended_tags_may_be_set(desk: Desk):
    assert safe_state.approvable(desk.site, is_attended=True) == ALL
    assert safe_state.approvable(desk.site, is_attended=False) == {"pump"}


async def test_only_tags_that_this_session_wrote_are_set(desk: Desk, memory: Memory):
    await desk.write("set_point", 75)
    said = await safe_state.apply(desk.writer, ALL)
    assert said == ["Safe state. Written and read back: set_point: 75 → 60 °C. It reads 60 °C."]
    assert memory.writes == [("sp", 750.0), ("sp", 600.0)]


async def test_a_tag_that_was_not_approved_is_left_and_said(desk: Desk, memory: Memory):
    await desk.write("set_point", 75)
    assert await safe_state.apply(desk.writer, frozenset()) == [
        "set_point is left as it is: its safe value 60 °C was not approved."
    ]
    assert len(memory.writes) == 1


async def test_the_way_to_safety_is_one_write_beyond_step_and_rate(desk: Desk, memory: Memory):
    await desk.write("set_point", 80)
    memory.cells["sp"] = 950
    await safe_state.apply(desk.writer, ALL)
    assert memory.writes[-1] == ("sp", 600.0)
    last = writes_of(desk.audit.records())[-1]
    assert (last.by, last.effect) == (safe_state.BY, Effect.WRITTEN)


async def test_a_tag_that_is_safe_already_is_not_written(desk: Desk, memory: Memory):
    await desk.write("set_point", 65)
    memory.cells["sp"] = 600
    assert await safe_state.apply(desk.writer, ALL) == ["set_point is safe already: it reads 60 °C."]
    assert len(memory.writes) == 1


async def test_after_an_unknown_outcome_the_safe_value_is_sent_even_if_it_reads_so(desk: Desk, memory: Memory):
    memory.effect = Effect.UNKNOWN
    await desk.write("set_point", 65)
    memory.cells["sp"], memory.effect = 600, Effect.WRITTEN
    await safe_state.apply(desk.writer, ALL)
    assert [write for write in memory.writes if write[0] == "sp"] == [("sp", 650.0), ("sp", 600.0)]


async def test_one_that_fails_does_not_keep_the_others_from_being_set(desk: Desk, memory: Memory):
    await desk.write("set_point", 65)
    await desk.write("pump", True)
    del memory.cells["sp"]
    said = await safe_state.apply(desk.writer, ALL)
    assert said[0].startswith("set_point was NOT set to its safe value 60 °C: ")
    assert said[1].startswith("Safe state. Written and read back: pump: true → false.")


async def test_an_edited_site_file_is_not_followed_even_to_safety(desk: Desk, memory: Memory):
    await desk.write("set_point", 65)
    desk.file.write_text(MEMORY_SITE.replace("safe = 60", "safe = 90"), encoding="utf-8")
    (said,) = await safe_state.apply(desk.writer, ALL)
    assert "was NOT set" in said
    assert "was changed since this session began" in said
    assert len(memory.writes) == 1


ELSEWHERE = """
import sys
from pathlib import Path
from oasis.plant.audit import Audit
audit = Audit(Path(sys.argv[1]), sys.argv[2])
for line in sys.argv[3:]:
    tag, last = line.split(":")
    common = {"token": f"{sys.argv[2]}-{tag}", "tag": tag}
    audit.add("plan", **common, url="mem://e", address=tag, unit="V", before=1, after=2)
    audit.add("sending", **common)
    if last != "sending":
        audit.add("outcome", **common, effect=last, words="")
        audit.add("read back", **common, value=2)
"""


def crash(path: Path, session: str, *writes: str) -> None:
    """Leave an audit as a process leaves it that ended without an end line."""
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(path), session, *writes], check=True, timeout=60)


def test_what_a_crash_left_is_said_at_the_next_start(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    crash(path, "lost", "p:written", "q:sending", "r:rejected")
    said = safe_state.left_behind(path)
    assert len(said) == 2
    assert said[0].startswith("Session lost did not end as it should: p (p of mem://e) was written, 1 → 2 V at ")
    assert said[0].endswith("and read back as 2 V.")
    assert "whether q (q of mem://e) was written" in said[1]
    assert said[1].endswith("is UNKNOWN. Look at the plant.")


def test_what_was_written_since_is_no_longer_said(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    crash(path, "lost", "p:written", "q:written")
    audit = Audit(path, "next")
    audit.add("plan", token="t", tag="p", url="mem://e", address="p", before=2, after=1)
    audit.add("sending", token="t")
    assert [line.split(":")[1][:3] for line in safe_state.left_behind(path)] == [" q "]
    audit.close()
    assert safe_state.left_behind(path) == []


async def test_a_session_that_ended_as_it_should_leaves_nothing_to_say(desk: Desk):
    await desk.write("set_point", 65)
    desk.audit.close()
    assert safe_state.left_behind(desk.path) == []


async def test_a_session_that_still_runs_is_not_taken_for_a_crash(desk: Desk):
    await desk.write("set_point", 65)
    assert safe_state.left_behind(desk.path) == []


def test_a_plant_that_was_never_written_has_nothing_left(tmp_path: Path):
    assert safe_state.left_behind(tmp_path / "none.jsonl") == []
