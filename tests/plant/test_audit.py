"""The audit: what is edited, deleted, inserted or missing is found; a crash is mended and said; sessions share it."""

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.core import chain
from oasis.errors import AuditFault
from oasis.plant import locks
from oasis.plant.audit import Audit, audit_path, read_records, verify
from oasis.plant.audit_writes import writes_of
from oasis.plant.site import Site
from oasis.plant.trail import side


def filled(path: Path, session: str = "s1", lines: int = 4) -> Audit:
    audit = Audit(path, session, now=lambda: datetime(2026, 3, 14, 9, 0, tzinfo=UTC))
    for number in range(lines):
        audit.add("plan", token=f"{number:08x}", tag=f"t{number}")
    return audit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit" / "boiler.jsonl"


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_each_line_says_when_and_which_session_and_follows_from_the_one_before(path: Path):
    mark = filled(path).mark
    records = read_records(path)
    assert [(r["n"], r["kind"], r["at"], r["session"]) for r in records[:2]] == [
        (1, "session", "2026-03-14T09:00:00.000+00:00", "s1"),
        (2, "plan", "2026-03-14T09:00:00.000+00:00", "s1"),
    ]
    assert mark == (5, json.loads(lines_of(path)[-1])["chain"])
    assert verify(path, [mark]) == []


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_the_audit_is_its_owner_s_alone(path: Path):
    filled(path)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (path, side(path))] == [0o600, 0o600]


def test_a_session_that_writes_nothing_leaves_no_line(path: Path):
    audit = Audit(path, "s1")
    audit.close()
    assert not path.exists()


def test_an_edited_line_is_found(path: Path):
    filled(path)
    path.write_bytes(path.read_bytes().replace(b'"t1"', b'"t9"'))
    assert verify(path) == ["line 3 was edited, or the line before it"]


def test_an_edited_line_with_a_chain_of_its_own_is_found_by_the_next(path: Path):
    filled(path)
    lines = lines_of(path)
    before, record = json.loads(lines[1])["chain"], json.loads(lines[2])
    del record["chain"]
    lines[2] = chain.link(before, {**record, "tag": "t9"})[0]
    path.write_bytes(b"".join(lines))
    assert verify(path) == ["line 4 was edited, or the line before it"]


def test_a_deleted_line_is_found_and_counted(path: Path):
    filled(path)
    lines = lines_of(path)
    path.write_bytes(b"".join(lines[:2] + lines[4:]))
    assert "line 3 does not follow from the one before: 2 records before it deleted" in verify(path)


def test_a_deleted_line_is_found_even_where_every_later_line_was_made_anew(path: Path):
    filled(path)
    kept = [json.loads(line) for line in lines_of(path)]
    digest, made = chain.start(), b""
    for record in [*kept[:2], *kept[3:]]:
        del record["chain"]
        line, digest = chain.link(digest, record)
        made += line
    path.write_bytes(made)
    side(path).write_text(json.dumps({"lines": 4, "digest": digest}))
    assert verify(path) == ["line 3 does not follow from the one before: 1 record before it deleted"]


def test_an_inserted_line_is_found(path: Path):
    filled(path)
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:3], lines[1], *lines[3:]]))
    assert (
        "line 4 does not follow from the one before: it is record 2 where 4 was to come; lines were inserted"
        in verify(path)
    )


def test_a_line_that_is_no_record_is_found(path: Path):
    filled(path)
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:3], b"nonsense\n", *lines[3:]]))
    assert verify(path) == ["line 4 is no record: it was edited, or is not of this audit"]


def test_a_missing_last_line_is_found_without_a_session(path: Path):
    filled(path)
    path.write_bytes(b"".join(lines_of(path)[:-1]))
    assert verify(path) == ["the last 1 line is missing: its own count (boiler.last) saw 5 lines"]


def test_a_missing_end_is_found_by_what_a_session_kept_even_without_the_count_beside_it(path: Path):
    mark = filled(path).mark
    path.write_bytes(b"".join(lines_of(path)[:-2]))
    side(path).write_text(json.dumps({"lines": 3, "digest": json.loads(lines_of(path)[-1])["chain"]}))
    assert verify(path) == []
    assert verify(path, [mark]) == ["the last 2 lines are missing: a session saw 5 lines"]


def test_an_audit_written_anew_is_found_by_what_a_session_kept(path: Path):
    mark = filled(path).mark
    path.unlink()
    side(path).unlink()
    filled(path, "forged")
    assert verify(path) == []
    assert verify(path, [mark]) == ["record 5 is not the one that a session saw: the file was rewritten"]


def test_a_removed_audit_is_found_by_the_count_beside_it(path: Path):
    filled(path)
    path.unlink()
    assert verify(path) == ["the last 5 lines are missing: its own count (boiler.last) saw 5 lines"]


@settings(max_examples=80, deadline=None, database=None)
@given(st.data())
def test_any_byte_that_is_changed_or_taken_out_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    if not side(path).exists():
        filled(path)
        path.with_suffix(".whole").write_bytes(path.read_bytes())
    whole = path.with_suffix(".whole").read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    by = data.draw(
        st.sampled_from([b"", b"0", b"\n", b'"', bytes([whole[at] ^ 1])]).filter(lambda b: b != whole[at : at + 1])
    )
    path.write_bytes(whole[:at] + by + whole[at + 1 :])
    assert verify(path) != []


def test_a_removed_count_is_a_fault(path: Path):
    filled(path)
    side(path).unlink()
    assert verify(path) == ["boiler.last, which counts its lines, is missing or damaged"]


def test_a_site_that_was_never_written_has_no_audit(path: Path):
    with pytest.raises(AuditFault, match="nothing has been written to this plant from here"):
        verify(path)


@pytest.mark.parametrize("change", ["edit", "delete", "cut"])
def test_an_audit_that_does_not_hold_together_is_not_added_to(path: Path, change: str):
    filled(path)
    lines = lines_of(path)
    made = {
        "edit": [*lines[:-1], lines[-1].replace(b"t3", b"t4")],
        "delete": [*lines[:2], *lines[3:]],
        "cut": lines[:-1],
    }
    path.write_bytes(b"".join(made[change]))
    with pytest.raises(AuditFault, match=r"is not as it was written(.|\n)*move it and boiler.last away"):
        Audit(path, "s2")


def test_an_audit_that_is_cut_while_it_is_open_is_not_added_to(path: Path):
    audit = filled(path)
    path.write_bytes(b"".join(lines_of(path)[:-1]))
    with pytest.raises(AuditFault, match="lines are missing"):
        audit.add("plan")


def test_a_line_cut_off_by_a_crash_is_mended_by_a_line_that_says_so(path: Path):
    filled(path)
    with path.open("ab") as file:
        file.write(b'{"kind":"plan","n":6,"at"')
    assert verify(path) == [
        "the last line is cut off, as by a crash; the next session that writes says so in the audit"
    ]
    Audit(path, "s2").add("plan")
    kinds = [(record["kind"], record.get("words", "")) for record in read_records(path)]
    assert kinds[5:] == [("mended", "the line before was cut off by a crash"), ("session", ""), ("plan", "")]
    assert verify(path) == []


def test_a_whole_line_without_its_line_feed_is_kept_and_said(path: Path):
    audit = filled(path)
    kept = side(path).read_bytes()
    audit.add("plan")
    path.write_bytes(path.read_bytes()[:-1])
    side(path).write_bytes(kept)
    Audit(path, "s2")
    assert [record["kind"] for record in read_records(path)][5:] == ["plan", "mended"]
    assert verify(path) == []


def test_a_crash_while_mending_is_mended(path: Path):
    filled(path)
    with path.open("ab") as file:
        file.write(b'{"kind":\n')
    Audit(path, "s2")
    assert read_records(path)[-1]["kind"] == "mended"
    assert verify(path) == []


def test_a_mended_line_that_is_edited_afterwards_is_found(path: Path):
    filled(path)
    with path.open("ab") as file:
        file.write(b'{"kind":"plan","n":6')
    Audit(path, "s2")
    path.write_bytes(path.read_bytes().replace(b'"n":6\n', b'"n":7\n'))
    assert verify(path) == ["line 6 is no record: it was edited, or is not of this audit"]


def test_a_count_that_a_crash_left_one_behind_is_no_fault(path: Path):
    audit = filled(path)
    kept = side(path).read_bytes()
    audit.add("plan")
    side(path).write_bytes(kept)
    assert verify(path) == []
    assert Audit(path, "s2").mark.lines == 6


def test_sessions_in_turn_write_one_chain(path: Path):
    first, second = filled(path, "s1", 1), Audit(path, "s2")
    for _ in range(3):
        second.add("plan")
        first.add("plan")
    assert [record["session"] for record in first.records()] == ["s1"] * 2 + ["s2", "s2", "s1"] + ["s2", "s1"] * 2
    assert verify(path, [first.mark]) == []


def test_processes_at_once_write_one_chain(path: Path):
    code = "import sys; from pathlib import Path; from oasis.plant.audit import Audit\naudit = Audit(Path(sys.argv[1]), sys.argv[2])\nfor n in range(10): audit.add('plan', tag=str(n))"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), f"s{n}"]) for n in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert len(read_records(path)) == 2 * 11
    assert verify(path) == []


FULL = """
import resource, signal, sys
from pathlib import Path
from oasis.errors import AuditFault
from oasis.plant.audit import Audit, read_records, verify
path = Path(sys.argv[1])
audit = Audit(path, "s1")
audit.add("plan", tag="a")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, resource.RLIM_INFINITY))
try:
    audit.add("plan", tag="b")
except AuditFault as fault:
    print(fault)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
audit.add("plan", tag="c")
print(verify(path), [record["kind"] for record in read_records(path)])
"""


@pytest.mark.skipif(os.name == "nt", reason="no limits of file size there")
def test_a_full_disk_stops_the_audit_and_is_mended_when_there_is_room(path: Path):
    path.parent.mkdir()
    child = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    said, after = child.stdout.splitlines()
    assert "cannot be written: File too large. Without it nothing is written to the plant." in said
    assert after == "[] ['session', 'plan', 'mended', 'plan']"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_place_of_the_audit_is_not_followed(path: Path, tmp_path: Path):
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AuditFault, match="is a link"):
        Audit(path, "s1")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_an_audit_fault(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(AuditFault, match="cannot be written"):
        Audit(tmp_path / "file" / "audit.jsonl", "s1")


def test_an_audit_held_by_another_for_too_long_is_said(path: Path, monkeypatch: pytest.MonkeyPatch):
    audit = filled(path)
    monkeypatch.setattr("oasis.plant.audit._WAIT_S", 0.0)
    with locks.held(path.with_suffix(".lock"), 0), pytest.raises(AuditFault, match="Another Oasis has held the audit"):
        audit.add("plan")


@pytest.mark.parametrize("value", [{"hex": "xyz"}, {"float": "much"}, [1], {}])
def test_what_is_no_value_in_an_audit_is_said(value: object):
    with pytest.raises(AuditFault, match="it was edited"):
        writes_of([{"kind": "plan", "token": "1", "before": value}])


def test_text_that_is_no_unicode_does_not_keep_a_line_from_being_written(path: Path):
    Audit(path, "s1").add("outcome", words="half \ud83d", notes=["\ud83d"])
    assert read_records(path)[-1]["words"] == "half \ufffd"


def test_a_file_that_is_no_audit_is_not_taken_for_one_without_writes(path: Path):
    path.parent.mkdir()
    path.write_text("date,who\n2026-03-14,Ada\n")
    with pytest.raises(AuditFault, match="is no audit: none of its lines is a record"):
        read_records(path)


def test_a_site_file_whose_plant_is_called_otherwise_now_keeps_its_audit(tmp_path: Path):
    def site(name: str) -> Site:
        return Site(tmp_path / "plant.toml", "", name, {}, {})

    before = audit_path(tmp_path / "audit", site("Boiler house"))
    filled(before)
    assert audit_path(tmp_path / "audit", site("Boiler house 1")) == before
    other = Site(tmp_path / "other.toml", "", "Boiler house", {}, {})
    assert audit_path(tmp_path / "audit", other) != before
