"""Fetching from a hub that cuts connections, moves files, lies and knows no ranges."""

import asyncio
import hashlib
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from oasis.engine import hub
from oasis.engine.catalogue import GB, HUB, HubModel, fitting, hub_model
from oasis.engine.hub import fetch
from oasis.errors import EngineFault
from tests.connections import closed, ended

DATA = b"GGUF" + bytes(range(256)) * 40
COMMIT = "c" * 40
MODEL = HubModel("tiny", "owner/tiny-GGUF", "tiny-Q4_K_M.gguf", 0, 4, "")
RESOLVE = "/owner/tiny-GGUF/resolve"


@dataclass
class Hub:
    """A hub with one file. Each answer with bytes is cut after the next number of `cuts`; None is not cut."""

    data: bytes = DATA
    sha256: str = field(default_factory=lambda: hashlib.sha256(DATA).hexdigest())
    cuts: list[int | None] = field(default_factory=list)
    knows_ranges: bool = True
    renamed: bool = False
    has_own_bytes: bool = False
    busy: int = 0
    statuses: list[str] = field(default_factory=list)
    url: str = ""
    host: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                await self._answer(await reader.readuntil(b"\r\n\r\n"), writer)
        except (ConnectionError, asyncio.IncompleteReadError, EOFError):
            pass
        finally:
            await closed(writer)

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        line, *rest = head.decode().split("\r\n")
        method, path, _ = line.split()
        headers = {name.lower(): value for name, _, value in (r.partition(": ") for r in rest) if name}
        self.seen.append((method, path))
        self.keys.append((path, headers.get("authorization", "")))
        about = {"X-Linked-ETag": f'"{self.sha256}"', "X-Linked-Size": str(len(DATA)), "X-Repo-Commit": COMMIT}
        if self.statuses:
            self._write(writer, self.statuses.pop(0))
        elif self.renamed and "/owner/" in path:
            self._write(writer, "307 Temporary Redirect", Location=self.host + path.replace("/owner/", "/new/"))
        elif method == "HEAD":
            self._write(
                writer, "302 Found", Location="/x" if self.has_own_bytes else "http://elsewhere.invalid/", **about
            )
        elif "/resolve/" in path:
            self._write(writer, "302 Found", Location=f"http://localhost:{self.url.rsplit(':', 1)[1]}/bytes")
        else:
            await self._give(headers.get("range", ""), writer)

    async def _give(self, wanted: str, writer: asyncio.StreamWriter) -> None:
        self.ranges.append(wanted)
        if self.busy:
            self.busy -= 1
            self._write(writer, "503 Busy")
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.knows_ranges else 0
        status = "206 Partial Content" if start else "200 OK"
        more = {"Content-Range": f"bytes {start}-{len(self.data) - 1}/{len(self.data)}"} if start else {}
        self._write(writer, status, length=len(self.data) - start, **more)
        cut = self.cuts.pop(0) if self.cuts else None
        writer.write(self.data[start:] if cut is None else self.data[start : start + cut])
        await writer.drain()
        if cut is not None:
            raise ConnectionError

    def _write(self, writer: asyncio.StreamWriter, status: str, length: int = 0, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        writer.write("\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode())


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch):
    @asynccontextmanager
    async def run(**about: object) -> AsyncIterator[Hub]:
        served = Hub(**about)
        listener = await asyncio.start_server(served.handle, "127.0.0.1", 0)
        served.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", served.url + "/")
        async with listener:
            try:
                yield served
            finally:
                await ended(served.tasks)

    monkeypatch.delenv("HF_TOKEN", raising=False)
    return run


async def no_wait(seconds: float) -> None:
    """Where a test does not wait between two tries."""


async def test_a_file_is_fetched_whole_from_the_commit_that_was_verified(serving, tmp_path: Path):
    seen: list[tuple[int, int]] = []
    async with serving() as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", lambda *at: seen.append(at), sleep=no_wait)
    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert served.seen == [
        ("HEAD", f"{RESOLVE}/main/tiny-Q4_K_M.gguf"),
        ("GET", f"{RESOLVE}/{COMMIT}/tiny-Q4_K_M.gguf"),
        ("GET", "/bytes"),
    ]
    assert sorted(file.name for file in tmp_path.iterdir() if not file.name.endswith(".lock")) == ["tiny.gguf"]


async def test_a_connection_that_is_cut_again_and_again_is_gone_on_from(serving, tmp_path: Path):
    async with serving(cuts=[1000, 0, 3000, 1]) as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA
    assert served.ranges == ["", "bytes=1000-", "bytes=1000-", "bytes=4000-", "bytes=4001-"]


async def test_a_fetch_that_was_given_up_goes_on_the_next_time(serving, tmp_path: Path):
    target = tmp_path / "tiny.gguf"
    async with serving(cuts=[5000, 0, 0, 0, 0, 0]) as served:
        with pytest.raises(EngineFault, match="are kept; run it again"):
            await fetch(MODEL, target, sleep=no_wait)
        assert not target.exists()
        served.ranges.clear()
        await fetch(MODEL, target, sleep=no_wait)
        assert served.ranges == ["bytes=5000-"]
    assert target.read_bytes() == DATA


async def test_a_cancelled_fetch_keeps_what_came(serving, tmp_path: Path):
    async with serving(cuts=[5000]):

        async def cancelled(seconds: float) -> None:
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=cancelled)
    assert (tmp_path / "tiny.gguf.part").read_bytes() == DATA[:5000]


async def test_a_server_without_ranges_begins_anew(serving, tmp_path: Path):
    async with serving(cuts=[5000], knows_ranges=False) as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA
    assert served.ranges == ["", "bytes=5000-"]


async def test_what_was_kept_of_another_file_is_not_gone_on_from(serving, tmp_path: Path):
    (tmp_path / "tiny.gguf.part").write_bytes(b"other" * 100)
    (tmp_path / "tiny.gguf.part.json").write_text(json.dumps({"sha256": "0" * 64}))
    async with serving() as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA
    assert served.ranges == [""]


async def test_bytes_that_are_not_those_promised_are_not_kept(serving, tmp_path: Path):
    async with serving(data=DATA[:-1] + b"!"):
        with pytest.raises(EngineFault, match="is not what the hub promised"):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert [file.name for file in tmp_path.iterdir() if not file.name.endswith(".lock")] == []


async def test_a_file_without_a_checksum_is_not_fetched(serving, tmp_path: Path):
    async with serving(sha256="d41d8cd9") as served:
        with pytest.raises(EngineFault, match="no sha256, size and commit"):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert [method for method, _ in served.seen] == ["HEAD"]


@pytest.mark.parametrize(("below", "is_absolute"), [("", False), ("/mirror/hub", False), ("", True)])
async def test_a_renamed_repository_is_followed(
    serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, is_absolute: bool
):
    async with serving(renamed=True) as served:
        served.host = served.url if is_absolute else ""
        monkeypatch.setenv("HF_ENDPOINT", f"{served.url}{below}")
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("404 Not Found", "has no owner/tiny-GGUF/tiny-Q4_K_M.gguf"),
        ("401 Unauthorized", "Accept its terms there and set HF_TOKEN"),
        ("500 Oh", "The hub answered 500"),
    ],
)
async def test_a_refusal_says_what_to_do(serving, tmp_path: Path, status: str, said: str):
    async with serving(statuses=[status]):
        with pytest.raises(EngineFault, match=said):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)


async def test_a_mirror_that_keeps_the_bytes_itself_is_believed_before_it_redirects(serving, tmp_path: Path):
    async with serving(has_own_bytes=True) as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA
    assert [method for method, _ in served.seen].count("HEAD") == 1


async def test_a_repository_that_moved_to_another_machine_is_not_followed(serving, tmp_path: Path):
    async with serving(renamed=True) as served:
        served.host = served.url.replace("127.0.0.1", "localhost")
        with pytest.raises(EngineFault, match="no sha256, size and commit"):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert len(served.seen) == 1


async def test_a_hub_that_is_overloaded_is_asked_again(serving, tmp_path: Path):
    async with serving(busy=2) as served:
        path = await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert path.read_bytes() == DATA
    assert len(served.ranges) == 3


async def test_no_hub_at_all_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EngineFault, match=r"The hub at http://127\.0\.0\.1:9 was not reached .*HF_ENDPOINT"):
        await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)


async def test_a_password_in_the_hubs_address_is_not_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_ENDPOINT", " http://me:secret@127.0.0.1:9/ ")
    with pytest.raises(EngineFault, match=r"The hub at http://127\.0\.0\.1:9 was not reached") as told:
        await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert "secret" not in str(told.value)


async def test_a_folder_that_cannot_be_made_is_told_in_words(serving, tmp_path: Path):
    (tmp_path / "file").touch()
    async with serving():
        with pytest.raises(EngineFault, match=r"was not stored in .*: Not a directory"):
            await fetch(MODEL, tmp_path / "file" / "models" / "tiny.gguf", sleep=no_wait)


async def test_a_disk_that_fills_up_keeps_what_came(serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file that may grow to 5,000 bytes only stands in for the disk."""
    resource = pytest.importorskip("resource")
    limits, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with serving():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
        try:
            with pytest.raises(EngineFault, match=r"was not stored in .*: File too large"):
                await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
        assert DATA.startswith((tmp_path / "tiny.gguf.part").read_bytes())
        assert (await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)).read_bytes() == DATA


async def test_the_token_goes_to_the_hub_and_not_to_where_the_bytes_lie(
    serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    async with serving() as served:
        await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert [bool(key) for _, key in served.keys] == [True, True, False]


async def test_a_disk_that_is_too_full_is_said_before_anything_comes(
    serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    usage = hub.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: usage._replace(free=10))
    async with serving() as served:
        with pytest.raises(EngineFault, match="Make room"):
            await fetch(MODEL, tmp_path / "tiny.gguf", sleep=no_wait)
    assert served.ranges == []


def test_every_model_of_the_list_can_be_chosen_by_name_and_fits_a_size_of_memory():
    assert {model.memory_gb for model in HUB} == {4, 8, 16, 24, 48}
    assert all(hub_model(model.name.upper()) is model for model in HUB)
    assert all(model.size_bytes < model.memory_gb * GB for model in HUB)


@pytest.mark.parametrize(
    ("memory_gb", "name"),
    [
        (2, None),
        (4, "qwen3.5-4b"),
        (8, "qwen3.5-9b"),
        (16, "gpt-oss-20b"),
        (24, "glm-4.7-flash"),
        (64, "qwen3.6-35b-a3b"),
    ],
)
def test_the_largest_that_fits_is_proposed(memory_gb: int, name: str | None):
    found = fitting(memory_gb * GB)
    assert (found.name if found else None) == name


def test_any_file_of_the_hub_can_be_named():
    found = hub_model("Owner/Some-GGUF/sub/Model-Q8_0.gguf")
    assert found == replace(
        MODEL, name="model-q8_0", repository="Owner/Some-GGUF", file="sub/Model-Q8_0.gguf", memory_gb=0
    )


@pytest.mark.parametrize("name", ["a/b/../../etc.gguf", "a/b/c.bin", "a//c.gguf"])
def test_what_is_no_file_of_the_hub_is_refused(name: str):
    with pytest.raises(EngineFault, match="names no file of the hub"):
        hub_model(name)


def test_the_documentation_lists_the_models_with_their_sizes():
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [f"| `{m.name}` | {m.size_bytes / GB:.1f} GB | {m.memory_gb} GB |" for m in HUB]
    assert [row for row in rows if row not in text] == []
