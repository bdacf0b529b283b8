"""The embedded engine's life."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from oasis.engine.embedded import EmbeddedEngine, default_threads
from oasis.engine.gguf_file import trained_context
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import KINDS, tiny
from oasis.errors import EngineFault, ServerUnreachable

pytestmark = pytest.mark.engine


@pytest.fixture
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny("tiny-dense", tmp_path_factory.getbasetemp().parent / "tiny-models")


async def fault(model: Path, folder: Path, slots: int = 1, context: int = 512) -> str:
    """What a start that fails says."""
    with pytest.raises(EngineFault) as caught:
        await EmbeddedEngine.start(model, log=folder / "log", threads=1, slots=slots, context=context)
    return str(caught.value)


async def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = await fault(model, tmp_path / "file")
    assert said.startswith(f"The engine cannot write to {tmp_path / 'file'}: ")
    assert "XDG_STATE_HOME" in said


async def test_an_engine_serves_until_it_is_stopped(model: Path, tmp_path: Path) -> None:
    engine = await EmbeddedEngine.start(model, log=tmp_path / "a" / "log", threads=1, context=256, slots=3)
    client = LlamaClient(engine.url)
    assert [slot["n_ctx"] for slot in await client.slots()] == [256] * 3
    await client.aclose()
    assert engine.is_running
    await engine.stop()
    await engine.stop()
    assert not engine.is_running
    assert not psutil.pid_exists(engine.pid)
    assert "listening on" in engine.log.read_text()


async def test_an_engine_that_dies_while_it_answers_is_unreachable(model: Path, tmp_path: Path) -> None:
    engine = await EmbeddedEngine.start(model, log=tmp_path / "log", threads=1, context=4096)
    client = LlamaClient(engine.url)
    received = 0
    with pytest.raises(ServerUnreachable):
        async for _ in client.complete(b'{"prompt":[65],"stream":true,"n_predict":4000,"ignore_eos":true}'):
            if not received:
                psutil.Process(engine.pid).kill()
            received += 1
    assert received
    await client.aclose()
    await engine.stop()


async def test_what_lies_in_the_working_directory_is_not_imported(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the project')")
    monkeypatch.chdir(tmp_path)
    engine = await EmbeddedEngine.start(model, log=tmp_path / "log", threads=1, context=256)
    await engine.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_engine_ends_when_its_parent_is_killed(model: Path, tmp_path: Path) -> None:
    parent = (
        "import asyncio, sys, time; from pathlib import Path; from oasis.engine.embedded import EmbeddedEngine\n"
        "engine = asyncio.run(EmbeddedEngine.start(Path(sys.argv[1]), log=Path(sys.argv[2]), threads=1, context=256))\n"
        "print(engine.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", parent, str(model), str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        engine = psutil.Process(int(process.stdout.readline()))
        os.kill(process.pid, signal.SIGKILL)
    try:
        engine.wait(30)
    except psutil.TimeoutExpired:
        engine.kill()
        raise


async def test_a_start_that_is_cancelled_leaves_no_process(model: Path, tmp_path: Path) -> None:
    start = asyncio.create_task(EmbeddedEngine.start(model, log=tmp_path / "log", threads=1, context=256))
    here = psutil.Process()
    before = {child.pid for child in here.children()}
    while {child.pid for child in here.children()} <= before:
        await asyncio.sleep(0)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert {child.pid for child in here.children()} <= before


async def test_a_truncated_file_is_explained(model: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model.read_bytes()[:-2000])
    said = await fault(cut, tmp_path)
    assert "is not within the file bounds" in said
    assert "cut short or damaged. Download it again." in said


async def test_a_header_that_is_garbage_is_explained(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.gguf"
    garbage.write_bytes(b"GGUF\x03\0\0\0" + b"garbage" * 20)
    assert trained_context(garbage) is None
    assert "cut short or damaged" in await fault(garbage, tmp_path)


async def test_an_unknown_architecture_is_explained(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(model.read_bytes().replace(b"llama", b"lxama"))
    said = await fault(other, tmp_path)
    assert "unknown model architecture: 'lxama'" in said
    assert "pip install -U 'oasis-agent[engine]'" in said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"version https://git-lfs", "a Git LFS pointer"),
        (b"GGUF\x09\0\0\0", "a version this engine does not read"),
        (b"weights", "not a GGUF file"),
    ],
)
async def test_what_is_no_gguf_is_never_opened(data: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(data)
    assert said in await fault(file, tmp_path)
    assert not (tmp_path / "log").exists()


async def test_a_missing_file_and_a_folder_are_explained(tmp_path: Path) -> None:
    assert "There is no model file" in await fault(tmp_path / "none.gguf", tmp_path)
    assert "is a folder" in await fault(tmp_path, tmp_path)


async def test_a_missing_engine_says_what_to_install(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError(\"No module named 'xllamacpp'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "pip install 'oasis-agent[engine]'" in await fault(model, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="limits memory with a shell")
async def test_too_little_memory_is_explained(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = tmp_path / "python"
    limited.write_text(f'#!/bin/sh\nulimit -v 800000\nexec "{sys.executable}" "$@"\n')
    limited.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(limited))
    assert "not enough memory" in await fault(model, tmp_path, slots=48, context=131072)


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OASIS_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.setenv("OASIS_THREADS", "many")
    with pytest.raises(EngineFault, match="OASIS_THREADS is 'many'"):
        default_threads()


@pytest.mark.parametrize("kind", KINDS)
def test_the_trained_context_is_read_from_the_file(kind: str, tmp_path: Path) -> None:
    assert trained_context(tiny(kind, tmp_path)) == 131072
