"""Fetching a model file from the hub: resumed where it was cut, verified, stored whole or not at all.

The hub's address is HF_ENDPOINT, https://huggingface.co unless set; HF_TOKEN is sent to that address alone.
A file's `resolve` address answers with its sha256 and size before it redirects to where the bytes lie
(https://huggingface.co/docs/huggingface_hub/package_reference/file_download).
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from oasis.engine.catalogue import HubModel
from oasis.engine.faults import explained
from oasis.engine.http import connect, read_limit
from oasis.errors import ConfigError, EngineFault, OasisError, ServerUnreachable

if TYPE_CHECKING:
    import httpx

ENDPOINT = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_STALLED_S = 60.0
_TRIES = 5
_RENAMED = 3
_BLOCK_BYTES = 1 << 20

Progress = Callable[[int, int], None]
"""Told the bytes that are here and the bytes there will be."""


class Digest(Protocol):
    """A hash being made."""

    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the hub says of a file: the commit it is taken from, its size and its sha256."""

    repository: str
    file: str
    commit: str
    size_bytes: int
    sha256: str


def unheard(here: int, whole: int) -> None:
    """For a caller that shows no progress."""


def endpoint() -> str:
    """The hub's address."""
    return os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or ENDPOINT


def _shown() -> str:
    """The hub's address as it may be printed: without a name and password in it."""
    return re.sub(r"(?<=//)[^/@]*@", "", endpoint())


async def fetch(
    model: HubModel,
    target: Path,
    progress: Progress = unheard,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Path:
    """Fetch a model's file to `target`; what is fetched already is kept beside it and gone on from.

    Raises EngineFault where the hub does not answer, has no such file or no checksum of it, where the bytes are not
    those it promised (nothing is kept then), where the disk is full, and where another Oasis fetches it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415

    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with lock.acquire(timeout=0):
            async with connect(endpoint(), api_key=os.environ.get("HF_TOKEN", "")) as http:
                await _Fetch(http, await _wanted(http, model), target, progress, sleep).run()
    except Timeout as error:
        raise EngineFault(f"Another Oasis is fetching {model.name}. Wait for it.") from error
    except OSError as error:
        raise EngineFault(f"{model.name} was not stored in {target.parent}: {error.strerror or error}.") from error
    return target


async def _wanted(http: "httpx.AsyncClient", model: HubModel) -> Wanted:
    """What the hub promises of the file. Raises EngineFault."""
    where = f"{model.repository}/{model.file}"
    try:
        with explained(_shown()):
            answer = await _head(http, _address(model.repository, "main", model.file))
    except ConfigError:
        raise
    except OasisError as fault:
        raise EngineFault(
            f"The hub at {_shown()} was not reached ({fault.__cause__ or fault}). Set HF_ENDPOINT for a mirror, or "
            "put a .gguf that you have from elsewhere into the models folder (`oasis models path --folder`)."
        ) from fault
    if answer.status_code in (401, 403):
        raise EngineFault(f"The hub does not give {where} to everyone. Accept its terms there and set HF_TOKEN.")
    if answer.status_code == 404:
        raise EngineFault(f"The hub at {_shown()} has no {where}. `oasis models list` shows what can be fetched.")
    if answer.status_code >= 400:
        raise EngineFault(f"The hub answered {answer.status_code} for {where}. Nothing was stored.")
    headers = answer.headers
    digest = headers.get("x-linked-etag", headers.get("etag", "")).removeprefix("W/").strip('"').lower()
    commit, size = headers.get("x-repo-commit", ""), headers.get("x-linked-size", headers.get("content-length", ""))
    if not (_SHA256.fullmatch(digest) and _COMMIT.fullmatch(commit) and size.isdecimal()):
        raise EngineFault(
            f"The hub at {_shown()} gives no sha256, size and commit of {where}, so it cannot be verified. Nothing "
            "was fetched. Try another HF_ENDPOINT."
        )
    return Wanted(model.repository, model.file, commit, int(size), digest)


async def _head(http: "httpx.AsyncClient", path: str) -> "httpx.Response":
    """The headers of a file, followed within the hub's own host until they say what the bytes are.

    So a repository that was renamed is found, and a mirror's http address that sends to its https one.
    """
    answer = await http.head(path, headers=_PLAIN)
    for _ in range(_RENAMED):
        place = answer.headers.get("location", "")
        if not (300 <= answer.status_code < 400 and place) or "x-linked-etag" in answer.headers:
            break
        here, there = answer.url, answer.url.join(place)
        is_same_place = (there.scheme, there.port) == (here.scheme, here.port)
        if there.host != here.host or not (is_same_place or there.scheme == "https"):
            break
        answer = await http.head(there, headers=_PLAIN)
    return answer


_PLAIN = {"Accept-Encoding": "identity"}


def _address(repository: str, revision: str, file: str) -> str:
    return f"/{repository}/resolve/{revision}/{file}"


@dataclass
class _Fetch:
    """One file on its way. `part` holds what is here, `about` what it belongs to."""

    http: "httpx.AsyncClient"
    wanted: Wanted
    target: Path
    progress: Progress
    sleep: Callable[[float], Awaitable[None]]

    @property
    def part(self) -> Path:
        return self.target.with_name(f"{self.target.name}.part")

    @property
    def about(self) -> Path:
        return self.target.with_name(f"{self.target.name}.part.json")

    async def run(self) -> None:
        digest, here = await asyncio.to_thread(self._begin)
        free = shutil.disk_usage(self.target.parent).free
        if free < self.wanted.size_bytes - here:
            raise EngineFault(
                f"{self.target.name} needs {(self.wanted.size_bytes - here) / 1e9:.1f} GB more and "
                f"{self.target.parent} has {free / 1e9:.1f} GB free. Make room, then run it again."
            )
        digest = await self._take(digest, here)
        if digest != self.wanted.sha256:
            self._drop()
            raise EngineFault(
                f"What came for {self.target.name} is not what the hub promised (sha256 {digest}, not "
                f"{self.wanted.sha256}). It was removed. Run it again."
            )
        self.part.replace(self.target)
        self.about.unlink(missing_ok=True)

    def _begin(self) -> tuple["Digest", int]:
        """The digest and length of what is here already of this very file; nothing where it is of another."""
        known: Any = None
        with suppress(OSError, ValueError):
            known = json.loads(self.about.read_text(encoding="utf-8"))
        digest = hashlib.sha256()
        if known != asdict(self.wanted) or not self.part.is_file() or self.part.stat().st_size > self.wanted.size_bytes:
            self._drop()
            self.about.write_text(json.dumps(asdict(self.wanted)), encoding="utf-8")
            self.part.touch()
            return digest, 0
        with self.part.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
        return digest, self.part.stat().st_size

    async def _take(self, digest: "Digest", here: int) -> str:
        """Fetch what is missing, again where a connection breaks; the digest of the whole."""
        fails = 0
        with self.part.open("r+b") as file:
            file.seek(here)
            while here < self.wanted.size_bytes:
                before = here
                try:
                    async with aclosing(self._blocks(here)) as blocks:
                        async for block, start in blocks:
                            if start != here:
                                digest, here = hashlib.sha256(), start
                                file.seek(start)
                                file.truncate()
                            file.write(block)
                            digest.update(block)
                            here += len(block)
                            self.progress(here, self.wanted.size_bytes)
                except ServerUnreachable as fault:
                    fails = 0 if here > before else fails + 1
                    if fails >= _TRIES:
                        raise EngineFault(
                            f"{fault} {here / 1e9:.2f} of {self.wanted.size_bytes / 1e9:.2f} GB are kept; run it again "
                            "to go on."
                        ) from fault
                    await self.sleep(min(2.0**fails, 30.0))
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        return digest.hexdigest()

    async def _blocks(self, here: int) -> AsyncGenerator[tuple[bytes, int], None]:
        """What comes from byte `here` on, each block with the byte it begins at.

        Raises ServerUnreachable where the connection breaks or ends too early, EngineFault where the server refuses.
        """
        import httpx  # noqa: PLC0415

        url = _address(self.wanted.repository, self.wanted.commit, self.wanted.file)
        asked = {**_PLAIN, **({"Range": f"bytes={here}-"} if here else {})}
        with explained(_shown()):
            async with self.http.stream(
                "GET", url, headers=asked, timeout=read_limit(_STALLED_S), follow_redirects=True
            ) as answer:
                start = _start(answer, here)
                async for block in answer.aiter_raw():
                    room = self.wanted.size_bytes - start
                    if not room:
                        break
                    yield block[:room], start
                    start += len(block[:room])
        if start < self.wanted.size_bytes:
            raise ServerUnreachable(f"The connection to {httpx.URL(endpoint()).host} ended early.")

    def _drop(self) -> None:
        self.part.unlink(missing_ok=True)
        self.about.unlink(missing_ok=True)


def _start(answer: "httpx.Response", asked: int) -> int:
    """The byte that an answer begins at: 0 where the server knows no ranges. Raises for a refusal."""
    if answer.status_code == 206:
        found = re.match(r"bytes (\d+)-", answer.headers.get("content-range", ""))
        if found is None or int(found[1]) != asked:
            raise EngineFault("The hub answered with another part of the file than was asked for.")
        return asked
    if answer.status_code == 200:
        return 0
    if answer.status_code >= 500 or answer.status_code == 429:
        raise ServerUnreachable(f"The hub answered {answer.status_code}.")
    raise EngineFault(f"The hub refused the file ({answer.status_code}). Run it again later.")
