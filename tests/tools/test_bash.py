"""`bash`: returns when the shell does, ends what it must, sends what can be read."""

import asyncio
import json
import os
import re
import select
import shutil
import socket
import sys
import tracemalloc
from pathlib import Path

import psutil
import pytest

from oasis.core.items import Status, ToolCall
from oasis.core.tool import Outcome
from oasis.errors import ToolFault
from oasis.tools import bash, spill
from tests.tools.conftest import Project

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")


async def test_output_and_exit_code_are_given(project: Project):
    assert await project.call("bash", command="echo a; echo b >&2; exit 3") == Outcome("a\nb\n[exit 3]", Status.ERROR)


async def test_it_runs_in_the_project(project: Project):
    assert (await project.call("bash", command="pwd")).text == f"{project.root}\n[exit 0]"


async def test_colours_and_nul_are_not_sent_and_what_was_lost_is_said(project: Project):
    outcome = await project.call("bash", command=r"printf '\x1b[31mERR\x1b[0m \x00\xff'")
    assert outcome == Outcome(
        "ERR ÿ\n[exit 0; colour and cursor codes removed; 1 NUL left out; "
        "1 bytes that are not UTF-8 shown as Windows-1252]"
    )


async def test_titles_links_and_overwritten_lines_are_removed(project: Project):
    command = r"printf '\x1b]0;title\x07A\x1b]8;;http://x\x1b\\B\n10%%\r20%%\r100%%\nC\r\n'"
    text = "AB\n100%\nC\n[exit 0; colour and cursor codes removed; lines that were overwritten left out]"
    assert (await project.call("bash", command=command)).text == text


async def test_standard_input_is_empty(project: Project):
    assert await project.call("bash", command="cat") == Outcome("[exit 0]")


async def test_a_background_child_does_not_hold_it(project: Project):
    outcome = await project.call("bash", command="sleep 60 & echo done")
    shown = re.fullmatch(
        r"done\n\[exit 0; process (\d+) runs on in the background; what it writes is in .*\]", outcome.text
    )
    assert shown
    child = psutil.Process(int(shown[1]))
    assert child.is_running()
    child.kill()


async def test_a_time_out_ends_the_whole_group_and_frees_its_port(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as ready:
        listen = (
            "import socket; s = socket.create_server(('127.0.0.1', 0)); "
            f"c = socket.create_connection(('127.0.0.1', {ready.getsockname()[1]})); "
            "c.send(str(s.getsockname()[1]).encode()); c.recv(1)"
        )
        command = f'{sys.executable} -c "{listen}" & wait'
        for limit_s in (2, 8, 32):
            outcome = await project.call("bash", command=command, timeout_s=limit_s)
            if select.select([ready], [], [], 0)[0]:
                break
        connection, _ = ready.accept()
        with connection:
            port = int(connection.recv(10))
            assert connection.recv(1) == b""
    assert outcome.status is Status.ERROR
    assert f"[ended by Oasis after {limit_s} s, with all its child processes; set timeout_s for more]" in outcome.text
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.skipif(not shutil.which("setsid"), reason="no setsid")
async def test_a_command_that_is_ended_takes_its_daemons_with_it(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as ready:
        ready.settimeout(60)
        daemon = f"exec 3<>/dev/tcp/127.0.0.1/{ready.getsockname()[1]}; cat <&3"
        running = asyncio.create_task(project.call("bash", command=f"(setsid bash -c '{daemon}' &); exec sleep 600"))
        connection, _ = await asyncio.to_thread(ready.accept)
        with connection:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            connection.settimeout(60)
            assert await asyncio.to_thread(connection.recv, 1) == b""


async def test_cancelling_ends_the_whole_group(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as ready:
        ready.settimeout(60)
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{ready.getsockname()[1]}; cat <&3"
        running = asyncio.create_task(project.call("bash", command=f"({connect}) & {connect}"))
        first, _ = await asyncio.to_thread(ready.accept)
        second, _ = await asyncio.to_thread(ready.accept)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        for connection in (first, second):
            with connection:
                assert await asyncio.to_thread(connection.recv, 1) == b""
    assert not list(project.workspace.spill.iterdir())


async def test_200_megabytes_keep_head_and_tail_and_the_rest_can_be_read(project: Project):
    outcome = await project.call("bash", command="echo first; yes 12345678 | head -c 199999998; echo; echo last")
    assert len(outcome.text) < 17_000
    assert outcome.text.startswith("first\n12345678\n")
    shown = re.search(r"\nlast\n\[exit 0; whole output: (\S+) \(read or search it\)\]$", outcome.text)
    assert shown
    read = await project.call("read", path=shown[1], **{"from": 10_000_000, "lines": 2})
    assert read.text.split("\n")[1:] == ["12345678", "12345678", "[more: from=10000002]"]


async def test_memory_stays_bounded_whatever_a_command_writes(project: Project):
    tracemalloc.start()
    try:
        await project.call("bash", command=r"head -c 60000000 /dev/zero | tr '\0' x; printf '\x1b[0m'")
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 32 << 20


async def test_output_without_end_is_ended(project: Project):
    tool = bash.tool(project.workspace, max_output_bytes=1 << 20)
    outcome = await tool.run({"command": "yes"})
    assert outcome.status is Status.ERROR
    assert "ended by Oasis: it wrote more than 1,048,576 bytes" in outcome.text


async def test_secrets_do_not_reach_a_command_and_pagers_do_not_wait(project: Project, monkeypatch: pytest.MonkeyPatch):
    for name in ("OASIS_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "MY_SECRET_X", "AWS_ACCESS_KEY_ID"):
        monkeypatch.setenv(name, "hidden-value")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "kept")
    monkeypatch.setenv("PLANT_NAME", "kept")
    text = (await project.call("bash", command="env | sort")).text
    assert "hidden-value" not in text
    assert {"PLANT_NAME=kept", "TOKENIZERS_PARALLELISM=kept", "PAGER=cat", "TERM=dumb"} <= set(text.split("\n"))


async def test_utf16_output_is_text(project: Project):
    project.put("a.csv", "Förder;1\n".encode("utf-16"))
    assert (await project.call("bash", command="cat a.csv")).text == "Förder;1\n[exit 0]"


async def test_two_commands_at_once_do_not_share_a_file(project: Project):
    command = "for i in $(seq 9000); do echo {}; done"
    outcomes = await asyncio.gather(*(project.call("bash", command=command.format(c)) for c in "ab"))
    files = [re.search(r"whole output: (\S+)", o.text) for o in outcomes]
    assert [{*Path(f[1]).read_text().split()} for f in files if f] == [{"a"}, {"b"}]


async def test_old_outputs_make_room_for_new_ones(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spill, "MAX_KEPT_BYTES", 50_000)
    for _ in range(4):
        await project.call("bash", command="seq 5000")
    kept = sum(file.stat().st_size for file in project.workspace.spill.iterdir())
    assert 23_893 <= kept <= 50_000 + 23_893


async def test_a_command_with_a_nul_is_an_error_in_words(project: Project):
    outcome = await project.call("bash", command="echo \0")
    assert outcome.status is Status.ERROR
    assert outcome.text.startswith("The command has the control character U+0000 in it; nothing was run.")


async def test_a_backspace_that_json_made_of_one_backslash_is_not_run(project: Project):
    outcome = await project.send(ToolCall("1", "bash", r'{"command": "grep \bMotor a.st; touch ran"}'))
    assert outcome.text.startswith("The command has the control character U+0008 in it; nothing was run.")
    assert r"\\b, not \b" in outcome.text
    assert not (project.root / "ran").exists()


@pytest.mark.parametrize("command", ["", "  ", "\n"])
async def test_an_empty_command_is_named_so_before_anyone_is_asked(project: Project, command: str):
    found = project.registry.find(ToolCall("1", "bash", json.dumps({"command": command})))
    assert isinstance(found, tuple)
    with pytest.raises(ToolFault, match="The command is empty"):
        await found[0].preview(found[1])


async def test_the_preview_s_title_names_what_would_run_on_one_bounded_line(project: Project):
    assert (await project.preview("bash", command="python3 -c 'x'")).title == "run: python3 -c 'x'"
    long = await project.preview("bash", command="echo a\n\x1b[2J" + "b" * 500)
    assert long.title.startswith(r"run: echo a\n\x1b[2Jbbb")
    assert len(long.title) < 140
    assert "\x1b" not in long.body


async def test_the_preview_is_the_whole_command(project: Project):
    preview = await project.preview("bash", command="rm -r x\necho")
    assert (preview.subject, preview.body) == ("rm -r x\necho", "rm -r x\necho")
