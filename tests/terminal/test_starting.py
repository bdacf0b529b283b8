"""The first start without a model, changing the model, and settings that a session begins with."""

import asyncio
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from oasis.agent.assembly import Toolbox
from oasis.agent.gate import nobody_to_ask
from oasis.ui.terminal import conversation
from oasis.ui.terminal.equipment import Equipment, Start
from tests.models.server import serving
from tests.terminal.pty_session import terminal
from tests.terminal.script import text


@pytest.fixture
def nothing_there(tmp_path: Path) -> dict[str, str]:
    """Environment of a machine without model files."""
    return {"HOME": str(tmp_path / "empty"), "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}


async def test_a_first_start_asks_and_a_model_named_later_is_used_and_exchanged(
    project: Path, nothing_there: dict[str, str], tmp_path: Path
):
    answer = text("Hello yourself.")
    async with (
        serving(answer) as first,
        serving(text("Still here.")) as second,
        terminal(project, **nothing_there) as session,
    ):
        await session.until("No model is set. What should Oasis run on?", "Fetch")
        session.send("\x1b")
        await session.until("Nothing can be sent yet", "no model")
        session.send("hello\r")
        await session.until("There is no model yet", "› hello")
        session.send("\x15")
        session.send(f"/model {first.url}\r")
        await session.until("m · chat lane")
        session.send("hello\r")
        await session.until("Hello yourself.", "turn 1")

        session.send(f"/model {second.url}\r")
        await session.until("A new epoch begins: about", "Change the model", "> y  yes")
        session.send("y")
        await session.until("turn 1", gone="Change the model")
        session.send("are you there?\r")
        await session.until("Still here.", "turn 2")
        session.send("/quit\r")
        assert await session.ended() == 0
    told = second.requests[0]["messages"]
    assert [message["role"] for message in told] == ["system", "user"]
    assert "Engineer: hello" in told[1]["content"]
    assert "Model: Hello yourself." in told[1]["content"]
    assert told[1]["content"].endswith("are you there?")


async def test_a_session_begins_as_the_settings_say(project: Path, private_user_folders: Path):
    settings = private_user_folders / "xdg_config_home" / "oasis" / "oasis.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('mode = "accept_edits"\nkeys = "vi"\nno_such = 1\n')
    async with serving(text("ok")) as server:
        async with terminal(project, "--server", server.url) as session:
            assert await session.ended() == 1
            assert "`no_such`" in session.text
            assert session.is_sane
        settings.write_text('mode = "accept_edits"\nkeys = "vi"\n')
        async with terminal(project, "--server", server.url) as session:
            await session.until("accept edits · m · chat lane")
            session.send("hxllo\x1b")
            session.send("0lre$a\r")
            await session.until("› hello", "turn 1")
            session.send("\x1b[Z")
            await session.until("read only · m · chat lane")
            session.send("\x03")
            await session.until("Ctrl-C again")
            session.send("\x03\x03")
            assert await session.ended() == 0
    assert server.requests[0]["messages"][1]["content"].endswith("hello")


@pytest.mark.parametrize(("flags", "said"), [(["--lane", "x"], "tokens or chat"), (["--compact-at", "x"], "no number")])
async def test_a_misspelt_flag_is_told_before_the_prompt(project: Path, flags: list[str], said: str):
    async with terminal(project, *flags) as session:
        assert await session.ended() == 2
        assert said in session.text
        assert "›" not in session.text


async def test_what_is_sent_while_servers_start_waits_and_the_screen_says_why(
    project: Path, private_user_folders: Path
):
    settings = private_user_folders / "xdg_config_home" / "oasis" / "oasis.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[mcp.silent]\ncommand = ['{sys.executable}', '-c', 'input()']\nstart_s = 600\n")
    async with serving() as server, terminal(project, "--server", server.url) as session:
        await session.until("m · chat lane", "● MCP servers start")
        session.send("hello\r")
        await session.until("↳ hello", "● MCP servers start")
        session.send("/mcp\r")
        await session.until("The MCP servers are still being started.")
        session.send("/quit\r")
        assert await session.ended() == 0
        assert session.is_sane


async def test_a_model_chosen_while_servers_start_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch):
    begun, started = asyncio.Event(), asyncio.Event()

    async def slow(equipment: Equipment, *_: object) -> Toolbox:
        begun.set()
        await started.wait()
        return equipment.box

    async def agree(title: str) -> bool:
        return False

    monkeypatch.setattr(conversation, "with_servers", slow)
    talk = conversation.Conversation(Start(project), [], lambda event: None, nobody_to_ask(()), agree)
    async with serving() as server:
        await talk.load()
        servers = asyncio.ensure_future(talk.start_servers())
        await begun.wait()
        await talk.connect(talk.equipped.settings.model_copy(update={"server": server.url}))
        started.set()
        await servers
        assert talk.equipped.settings.server == server.url
        await talk.close()
