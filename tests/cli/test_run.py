"""`oasis run` as a process: tasks in, answers and exit codes out, whatever happens to it."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from tests.models.server import Part, ScriptedServer, answer, delta, serving, sse, stream

DONE = stream(sse(delta(content="All done."), delta("stop")))


def calling(name: str, **arguments: object) -> list[Part]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return stream(
        sse(delta(tool_calls=[{"index": 0, "id": f"call_{name}", "function": function}]), delta("tool_calls"))
    )


async def start(folder: Path, *arguments: str, stdin: int | None = asyncio.subprocess.DEVNULL) -> Process:
    """The command as a shell's background job, which begins with SIGINT ignored."""
    command = [sys.executable, "-m", "oasis.cli.main", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=environment, stdin=stdin, stdout=PIPE, stderr=PIPE
        )
    finally:
        signal.signal(signal.SIGINT, before)


async def run(folder: Path, *arguments: str, text: str | None = None) -> tuple[int, str, str]:
    process = await start(folder, *arguments, stdin=PIPE if text is not None else asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(100):
        out, err = await process.communicate(text.encode() if text is not None else None)
    return process.returncode or 0, out.decode(), err.decode()


def events(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


async def test_the_answer_goes_to_standard_output_and_nothing_else(tmp_path: Path):
    async with serving(DONE) as server:
        code, out, err = await run(tmp_path, "run", "do it", "--server", server.url)
    assert (code, out) == (0, "All done.\n")
    assert "chat lane" in err
    assert "\x1b" not in out + err


@pytest.mark.parametrize("way", ["argument", "file", "stdin"])
async def test_a_task_comes_as_an_argument_from_a_file_or_from_standard_input(tmp_path: Path, way: str):
    (tmp_path / "task.md").write_text("convert the thing")
    arguments = {"argument": ["convert the thing"], "file": ["-f", "task.md"], "stdin": []}[way]
    async with serving(DONE) as server:
        text = "convert the thing" if way == "stdin" else None
        code, _, _ = await run(tmp_path, "run", *arguments, "--server", server.url, text=text)
    assert code == 0
    assert server.requests[0]["messages"][1]["content"].endswith("convert the thing")


async def test_json_gives_one_versioned_event_a_line(tmp_path: Path):
    (tmp_path / "a.txt").write_text("hello")
    async with serving(calling("read", path="a.txt"), DONE) as server:
        code, out, _ = await run(tmp_path, "run", "do it", "--json", "--server", server.url)
    found = events(out)
    assert code == 0
    assert {event["v"] for event in found} == {1}
    assert [e["event"] for e in found if e["event"] != "said"] == [
        "turn_started",
        "step_started",
        "step_finished",
        "call_started",
        "call_finished",
        "step_started",
        "text",
        "step_finished",
        "turn_finished",
    ]


@pytest.mark.parametrize(
    ("code", "answers", "arguments"),
    [
        (2, [], []),
        (2, [], ["--no-such-flag"]),
        (1, [], ["task", "--pack", "nonsense"]),
        (3, [calling("read", path="a")] * 2, ["task", "--max-steps", "2"]),
        (
            4,
            [answer("400 Bad", {"error": {"type": "exceed_context_size_error", "message": "x", "n_ctx": 9}})],
            ["task"],
        ),
        (5, [calling("read", path="a")] * 3, ["task"]),
        (6, [stream(sse({"error": {"message": "broken", "code": 500}}))] * 3, ["task"]),
    ],
)
async def test_every_way_to_end_has_its_exit_code(tmp_path: Path, code: int, answers: list, arguments: list[str]):
    async with serving(*answers) as server:
        got, _, err = await run(tmp_path, "run", *arguments, "--server", server.url)
    assert got == code, err
    assert "Traceback" not in err


async def test_a_proxy_s_web_page_ends_the_run_at_once(tmp_path: Path):
    page = answer("200 OK", b"<!DOCTYPE html><title>Sign in</title>")
    async with serving(page) as server:
        code, _, err = await run(tmp_path, "run", "do it", "--server", server.url)
    assert (code, len(server.requests)) == (6, 1)
    assert "A web page came in place of a model's answer" in err


async def test_what_would_be_asked_is_denied_unless_a_rule_allows_it(tmp_path: Path):
    script = [calling("write", path="new.txt", content="x"), DONE]
    async with serving(*script) as server:
        await run(tmp_path, "run", "do it", "--server", server.url)
    assert not (tmp_path / "new.txt").exists()
    assert "--allow" in server.requests[1]["messages"][-1]["content"]
    async with serving(*script) as server:
        await run(tmp_path, "run", "do it", "--allow", "write", "--server", server.url)
    assert (tmp_path / "new.txt").read_text() == "x"


async def until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupt_is_a_valid_session_that_goes_on(tmp_path: Path, number: signal.Signals):
    never = asyncio.Event()
    async with serving(stream(sse(delta(content="half")), never), DONE) as server:
        process = await start(tmp_path, "run", "do it", "--json", "--server", server.url)
        async with asyncio.timeout(100):
            while b'"event": "text"' not in await process.stdout.readline():
                pass
            process.send_signal(number)
            _, err = await process.communicate()
        assert (process.returncode, b"Traceback" in err) == (130, False)
        code, out, _ = await run(tmp_path, "run", "go on", "--resume", "last", "--server", server.url)
        never.set()
    assert (code, out) == (0, "All done.\n")
    roles = [message["role"] for message in server.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.requests[1]["messages"][2]["content"] == "half"


@pytest.mark.skipif(os.name == "nt", reason="a named pipe holds the tool")
async def test_after_kill_9_what_ran_is_unknown_and_is_not_run_again(tmp_path: Path):
    os.mkfifo(tmp_path / "gate")
    command = "echo x >> ran.txt; read line < gate"
    async with serving(calling("bash", command=command), DONE) as server:
        process = await start(tmp_path, "run", "do it", "--allow", "bash", "--server", server.url)
        await until((tmp_path / "ran.txt").exists)
        process.kill()
        await process.communicate()
        with (tmp_path / "gate").open("w") as gate:
            gate.write("go\n")
        code, out, _ = await run(tmp_path, "run", "--resume", "last", "--server", server.url)
    assert (code, out) == (0, "All done.\n")
    assert "unknown" in server.requests[1]["messages"][-1]["content"]
    assert (tmp_path / "ran.txt").read_text() == "x\n"


async def test_a_resumed_run_sends_the_bytes_it_sent_before(tmp_path: Path):
    async with serving(DONE, DONE) as server:
        await run(tmp_path, "run", "first", "--server", server.url)
        code, _, _ = await run(tmp_path, "run", "second", "--resume", "last", "--server", server.url)
    assert code == 0
    first, second = (_messages(server, n) for n in (0, 1))
    assert second.startswith(first[:-1])


def _messages(server: ScriptedServer, number: int) -> bytes:
    body = server.bodies[number]
    return body[body.index(b'"messages":') : body.index(b',"tools":')]


async def test_a_finished_session_without_a_task_has_nothing_to_do(tmp_path: Path):
    async with serving(DONE) as server:
        await run(tmp_path, "run", "first", "--server", server.url)
        code, _, err = await run(tmp_path, "run", "--resume", "last", "--server", server.url)
    assert code == 2
    assert "nothing left to do" in err


async def test_sessions_are_listed_shown_exported_and_removed(tmp_path: Path):
    async with serving(DONE) as server:
        await run(tmp_path, "run", "first \x1b[31mred", "--server", server.url)
    _, listed, _ = await run(tmp_path, "sessions", "--json")
    row = json.loads(listed)
    assert (row["steps"], row["turns"]) == (1, 1)
    assert "All done." in (await run(tmp_path, "sessions", "show", row["id"]))[1]
    assert "\x1b" not in (await run(tmp_path, "sessions", "show"))[1]
    await run(tmp_path, "sessions", "export", "last", "-o", "out.md")
    assert "All done." in (tmp_path / "out.md").read_text()
    assert (await run(tmp_path, "sessions", "rm", row["id"]))[0] == 0
    assert (await run(tmp_path, "sessions", "--json"))[1] == ""


async def test_without_a_server_it_says_where_it_looked(tmp_path: Path):
    code, _, err = await run(tmp_path, "run", "do it", "--server", "http://127.0.0.1:9")
    assert code == 6
    assert "127.0.0.1:9" in err
    assert "Traceback" not in err
