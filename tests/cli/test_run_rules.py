"""`oasis run` keeps to the user's settings: what is denied, hooks, and what can be undone afterwards."""

import json
import sys
from pathlib import Path

from oasis.agent.folders import sessions_folder, undo_folder
from oasis.agent.undo import Undo
from oasis.config import user_file
from oasis.tools.workspace import Workspace
from tests.cli.test_run import DONE, calling, run
from tests.models.server import ScriptedServer, serving


def settings(text: str) -> Path:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)
    return user_file().parent


def sent(server: ScriptedServer) -> str:
    return json.dumps(server.requests[-1]["messages"])


async def test_a_denial_of_the_settings_holds_against_an_allowance_by_flag(tmp_path: Path):
    settings('deny = ["write:safety/*"]')
    async with serving(calling("write", path="safety/a.st", content="A"), DONE) as server:
        code, _, _ = await run(tmp_path, "run", "go", "--allow", "write", "--server", server.url)
        told = sent(server)
    assert code == 0 and not (tmp_path / "safety").exists()
    assert "settings deny `write:safety/*`" in told


async def test_hooks_of_the_settings_run_and_a_headless_turn_can_be_undone(tmp_path: Path):
    project = tmp_path / "plant"
    project.mkdir()
    command = json.dumps([sys.executable, "hook.py"])
    folder = settings("".join(f'[[hooks]]\nevent = "{e}"\ncommand = {command}\n' for e in ("after_tool", "turn_end")))
    (folder / "hook.py").write_text(
        "import json, sys\nwhat = json.load(sys.stdin)\nopen(what['event'], 'w').write(what['session'])\nprint('checked')\n"
    )
    async with serving(calling("write", path="a.st", content="A"), DONE) as server:
        code, _, _ = await run(project, "run", "go", "--allow", "write", "--server", server.url)
        told = sent(server)
    [session] = sessions_folder().glob("*.jsonl")
    assert code == 0 and "[hook hook.py at after_tool]\\nchecked" in told
    assert (folder / "after_tool").read_text() == (folder / "turn_end").read_text() == session.stem
    undone = Undo(Workspace(project, tmp_path / "spill"), undo_folder() / session.stem).undo()
    assert undone is not None and undone.removed == ("a.st",)
    assert list(project.iterdir()) == []


async def test_a_projects_file_sets_no_hook(tmp_path: Path):
    (tmp_path / "oasis.toml").write_text('[[hooks]]\nevent = "turn_end"\ncommand = ["touch", "ran"]\n')
    async with serving(DONE) as server:
        code, _, err = await run(tmp_path, "run", "go", "--server", server.url)
    assert code == 1 and "sets `hooks`, which a project's file may not: it would run the author's commands" in err
    assert not (tmp_path / "ran").exists()
