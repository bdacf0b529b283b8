"""Undoing a turn's files: bytes, modes, files that it made; never over what somebody changed since."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.agent import snapshots
from oasis.agent.undo import Undo
from oasis.core.items import Status, ToolCall
from oasis.core.tool import Outcome, Risk, Tool, ToolSpec
from oasis.errors import ToolFault
from oasis.tools.builtin import builtin
from oasis.tools.registry import Registry
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


class Bench:
    """A project, its tools watched, and a session's folder of snapshots."""

    def __init__(self, base: Path) -> None:
        self.root = base / "plant"
        self.root.mkdir(exist_ok=True)
        self.folder = base / "state" / "undo" / "s1"
        self.restart()

    def restart(self) -> None:
        workspace = Workspace(self.root, self.root.parent / "spill")
        self.tools = builtin(workspace, Skills(self.root / "none", {}, self.root))
        self.undo = Undo(workspace, self.folder)
        self.registry = Registry(self.undo.watched(self.tools))

    async def call(self, name: str, **arguments: object) -> str:
        import json

        found = self.registry.find(ToolCall("c", name, json.dumps(arguments)))
        assert isinstance(found, tuple), found
        outcome = await found[0].run(found[1])
        assert outcome.status is Status.OK, outcome.text
        return outcome.text

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def edit(bench: Bench, name: str, old: str, new: str) -> None:
    await bench.call("read", path=name)
    await bench.call("edit", path=name, old=old, new=new)


def test_watching_leaves_what_the_model_is_told_as_it_is(bench: Bench):
    assert bench.registry.specs == Registry(bench.tools).specs


async def test_a_turn_is_undone_to_the_byte_with_its_modes(bench: Bench):
    file = bench.root / "a.st"
    file.write_bytes(b"\xef\xbb\xbfA := 1;\r\nB := 2;\r\n")
    file.chmod(0o754)
    await edit(bench, "a.st", "A := 1;", "A := 3;")
    await edit(bench, "a.st", "B := 2;", "B := 4;")
    file.chmod(0o754)
    undone = bench.undo.undo()
    assert undone is not None and undone.restored == ("a.st",)
    assert file.read_bytes() == b"\xef\xbb\xbfA := 1;\r\nB := 2;\r\n"
    assert file.stat().st_mode & 0o777 == 0o754


async def test_a_mode_that_a_command_changed_is_put_back(bench: Bench):
    file = bench.root / "run.sh"
    file.write_text("echo\n")
    file.chmod(0o640)
    await bench.call("read", path="run.sh")
    await bench.call("bash", command="chmod 777 run.sh")
    assert bench.undo.undo().restored == ("run.sh",)
    assert file.stat().st_mode & 0o777 == 0o640


async def test_a_file_that_the_turn_made_is_removed_with_the_folders_made_for_it(bench: Bench):
    await bench.call("write", path="new/deep/b.st", content="B\n")
    undone = bench.undo.undo()
    assert undone.removed == ("new/deep/b.st",)
    assert list(bench.root.iterdir()) == []


async def test_a_file_changed_since_is_left_and_named_and_the_others_are_put_back(bench: Bench):
    for name in ("a.st", "b.st"):
        (bench.root / name).write_text("A\n")
        await edit(bench, name, "A", "B")
    (bench.root / "b.st").write_text("mine\n")
    undone = bench.undo.undo()
    assert (undone.restored, [(k.name, k.why) for k in undone.kept]) == (("a.st",), [("b.st", "it was changed since")])
    assert (bench.text("a.st"), bench.text("b.st")) == ("A\n", "mine\n")
    assert undone.kept[0].copy.read_text() == "A\n"
    assert "b.st (it was changed since)" in undone.words
    assert "b.st (it was changed since)" in undone.notice.text


async def test_a_file_left_alone_is_named_once_with_where_its_old_bytes_lie(bench: Bench):
    (bench.root / "a.st").write_text("A\n")
    await edit(bench, "a.st", "A", "B")
    (bench.root / "a.st").write_text("mine\n")
    undone = bench.undo.undo()
    assert undone.elsewhere == ()
    assert f"a.st before the turn: {undone.kept[0].copy}" in undone.words
    assert str(undone.kept[0].copy) not in undone.notice.text
    assert "Read a file again" in undone.notice.text


async def test_a_file_changed_by_somebody_else_within_the_turn_is_left(bench: Bench):
    (bench.root / "a.st").write_text("A\nB\n")
    await edit(bench, "a.st", "A", "C")
    (bench.root / "a.st").write_text("C\nmine\n")
    await edit(bench, "a.st", "C", "D")
    undone = bench.undo.undo()
    assert [kept.name for kept in undone.kept] == ["a.st"]
    assert bench.text("a.st") == "D\nmine\n"


async def test_a_removed_file_is_not_made_again(bench: Bench):
    (bench.root / "a.st").write_text("A\n")
    await edit(bench, "a.st", "A", "B")
    (bench.root / "a.st").unlink()
    assert [(k.name, k.why) for k in bench.undo.undo().kept] == [("a.st", "it was removed since")]


async def test_undo_goes_back_a_turn_at_a_time(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await edit(bench, "a.st", "1", "2")
    bench.undo.begin_turn()
    await edit(bench, "a.st", "2", "3")
    seen = []
    for _ in range(2):
        assert bench.undo.undo() is not None
        seen.append(bench.text("a.st"))
    assert seen == ["2\n", "1\n"]
    assert bench.undo.undo() is None


async def test_undo_survives_a_restart(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await edit(bench, "a.st", "1", "2")
    bench.restart()
    await edit(bench, "a.st", "2", "3")
    bench.restart()
    bench.undo.undo()
    assert bench.text("a.st") == "2\n"
    bench.restart()
    bench.undo.undo()
    assert bench.text("a.st") == "1\n"


async def test_a_journal_cut_in_a_line_still_gives_what_is_before_the_cut(bench: Bench):
    for name in ("a.st", "b.st"):
        (bench.root / name).write_text("1\n")
        await edit(bench, name, "1", "2")
    journal = bench.folder / "000001" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    bench.restart()
    undone = bench.undo.undo()
    assert undone.restored == ("a.st",)
    assert [k.name for k in undone.kept] == ["b.st"]
    assert "it is not known who changed it" in undone.kept[0].why


async def test_what_a_command_changed_is_put_back_where_it_was_read_and_named_where_not(bench: Bench):
    for name in ("seen.st", "gone.st", "unseen.st"):
        (bench.root / name).write_text("1\n")
    await bench.call("read", path="seen.st")
    await bench.call("read", path="gone.st")
    await bench.call("bash", command="echo 22 > seen.st; rm gone.st; echo 22 > unseen.st; echo x > made.st")
    undone = bench.undo.undo()
    assert sorted(undone.restored) == ["gone.st", "seen.st"]
    assert (bench.text("seen.st"), bench.text("gone.st"), bench.text("unseen.st")) == ("1\n", "1\n", "22\n")
    assert undone.strays == ("made.st", "unseen.st")
    assert "echo 22 > seen.st" in undone.commands[0]
    assert "Changed meanwhile and not put back: made.st, unseen.st." in undone.notice.text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in a folder")
async def test_a_file_that_a_command_made_a_pipe_of_is_put_back_and_one_that_is_a_folder_is_left(bench: Bench):
    for name in ("a.st", "b.st", "c.st"):
        (bench.root / name).write_text("1\n")
        await bench.call("read", path=name)
    await bench.call("bash", command="rm a.st b.st; mkfifo a.st; mkdir b.st; echo 2 > c.st")
    await bench.call("bash", command="true")
    undone = bench.undo.undo()
    assert sorted(undone.restored) == ["a.st", "c.st"]
    assert [kept.name for kept in undone.kept] == ["b.st"]
    assert bench.text("a.st") == bench.text("c.st") == "1\n" and (bench.root / "b.st").is_dir()


async def test_a_turn_that_only_ran_a_command_says_that_it_is_not_undone(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await edit(bench, "a.st", "1", "2")
    bench.undo.begin_turn()
    await bench.call("bash", command="true")
    assert bench.undo.undo().words == "No file had to be put back.\nWhat was run is not undone: true."
    assert bench.text("a.st") == "2\n"
    bench.undo.undo()
    assert bench.text("a.st") == "1\n"


async def test_a_device_write_is_named_as_not_undone(bench: Bench):
    approved = []

    async def actuate(token: str, by: str) -> Outcome:
        approved.append((token, by))
        return Outcome("written")

    async def never(arguments: object) -> Outcome:
        raise AssertionError("what actuates is run by actuate")

    tool = Tool(ToolSpec("plant_write", "writes", {}), Risk.ACTUATE, never, never, actuate)
    await bench.undo.watched((tool,))[0].actuate("t1", "engineer")
    assert approved == [("t1", "engineer")]
    assert bench.undo.undo().commands == ("plant_write",)


async def test_a_cancelled_command_is_noted_too(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await bench.call("read", path="a.st")
    running = asyncio.create_task(bench.call("bash", command="echo 2 > a.st; echo > ready; sleep 60"))
    while not (bench.root / "ready").exists():
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert bench.undo.undo().restored == ("a.st",)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
async def test_snapshots_are_the_owners_alone(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await edit(bench, "a.st", "1", "2")
    modes = {file.stat().st_mode & 0o777 for file in (bench.folder / "000001").iterdir()}
    assert modes == {0o600}
    assert (bench.folder / "000001").stat().st_mode & 0o777 == 0o700


async def test_what_cannot_be_kept_is_not_changed(bench: Bench):
    (bench.root / "a.st").write_text("1\n")
    await bench.call("read", path="a.st")
    bench.folder.parent.mkdir(parents=True)
    bench.folder.write_text("in the way")
    with pytest.raises(ToolFault, match=r"a\.st was not changed: what it was before could not be kept"):
        await bench.call("edit", path="a.st", old="1", new="2")
    assert bench.text("a.st") == "1\n"


async def test_old_turns_make_room_for_new_ones(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(snapshots, "MAX_KEPT_BYTES", 3_000)
    for turn in range(4):
        bench.undo.begin_turn()
        await bench.call("write", path=f"{turn}.st", content="x" * 10)
        await bench.call("read", path=f"{turn}.st")
        bench.undo.begin_turn()
        (bench.root / f"{turn}.st").write_text("y" * 1500)
        await bench.call("read", path=f"{turn}.st")
        await bench.call("write", path=f"{turn}.st", content="z")
    left = [folder.name for folder in snapshots.turns(bench.folder)]
    assert "000001" not in left and "000008" in left


async def test_a_file_that_is_too_large_to_keep_is_not_changed(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("oasis.agent.undo.MAX_FILE_BYTES", 3)
    (bench.root / "a.st").write_text("1234\n")
    await bench.call("read", path="a.st")
    with pytest.raises(ToolFault, match="larger than 64 MiB"):
        await bench.call("edit", path="a.st", old="1", new="2")
    assert bench.text("a.st") == "1234\n"
    assert bench.undo.undo() is None


async def test_a_link_is_undone_where_it_leads(bench: Bench):
    (bench.root / "real.st").write_text("1\n")
    (bench.root / "link.st").symlink_to("real.st")
    await edit(bench, "link.st", "1", "2")
    assert bench.undo.undo().restored == ("real.st",)
    assert (bench.root / "link.st").is_symlink() and bench.text("real.st") == "1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
async def test_a_name_that_is_no_utf8_is_undone(bench: Bench):
    name = os.fsdecode(b"F\xf6rder.st")
    (bench.root / name).write_text("1\n")
    shown = bench.undo._workspace.shown(bench.root / name)
    await edit(bench, shown, "1", "2")
    bench.restart()
    assert bench.undo.undo().restored == (shown,)
    assert bench.text(name) == "1\n"


async def test_the_notice_tells_other_changes_that_the_model_has_not_heard_of(bench: Bench):
    for name in ("a.st", "b.st"):
        (bench.root / name).write_text("1\n")
    await bench.call("read", path="b.st")
    await edit(bench, "a.st", "1", "2")
    (bench.root / "b.st").write_text("333\n")
    undone = bench.undo.undo()
    assert undone.notice.text == (
        "The engineer undid your last changes to files. As before: a.st. Changed on disk for another reason: b.st. "
        "Read a file again before you rely on it."
    )
    assert bench.undo._workspace.changed() == []


NAMES = ("a.st", "b.st", "sub/c.st")
STEPS = st.lists(
    st.tuples(st.sampled_from(("write", "bash", "person", "turn", "restart", "undo")), st.sampled_from(NAMES)),
    max_size=14,
)


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_whatever_happens_undo_gives_back_a_turns_beginning_and_never_touches_a_persons_change(steps: list):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_played(Bench(Path(folder)), steps))


async def _played(bench: Bench, steps: list) -> None:
    """Plays the steps; beside them keeps what each file is, what it was before the turn, and who else changed it."""
    now: dict[str, str | None] = dict.fromkeys(NAMES)
    before: dict[str, str | None] = {}
    known, foreign, has_run = set(), set(), False
    for number, (step, name) in enumerate(steps):
        file, text = bench.root / name, f"{number}\n"
        if step in ("turn", "restart"):
            bench.undo.begin_turn() if step == "turn" else bench.restart()
            before, foreign, has_run = ({}, set(), False) if has_run or before else (before, foreign, False)
            known = set() if step == "restart" else known
        elif step == "person":
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
            now[name] = text
            foreign |= {name} & before.keys()
        elif step in ("write", "bash"):
            if file.exists():
                await bench.call("read", path=name)
                known.add(name)
            if step == "write":
                await bench.call("write", path=name, content=text)
                known.add(name)
            else:
                await bench.call("bash", command=f"mkdir -p sub; echo {number} > {name}")
                has_run = True
            if name in known:
                before.setdefault(name, now[name])
            now[name] = text
        elif before or has_run:
            bench.undo.undo()
            assert {each: _text(bench, each) for each in NAMES} == {
                each: now[each] if each in foreign else before.get(each, now[each]) for each in NAMES
            }
            return


def _text(bench: Bench, name: str) -> str | None:
    file = bench.root / name
    return file.read_text() if file.exists() else None
