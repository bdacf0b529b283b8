"""Running one command of a hook: JSON in, exit code and a bounded output back."""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.tools import process
from oasis.tools.clip import visible

MAX_READ_BYTES = 1 << 20
MAX_TEXT_CHARS = 4_000
_BLOCK_BYTES = 1 << 16
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]*[0-~])?")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. `fault` says why it gave no exit code; it is empty when it did."""

    code: int | None
    output: str = ""
    errors: str = ""
    fault: str = ""


async def run(
    command: Sequence[str],
    payload: bytes,
    *,
    folder: Path,
    project: Path,
    environment: Mapping[str, str],
    limit_s: float,
) -> Ran:
    """Run a command in `folder` with `payload` on its standard input; it and its children end after `limit_s`.

    A program that lies in the project is not run: what was cloned, or what a model wrote, is no command of the user's.
    """
    program, fault = _program(command[0], folder, project)
    if fault:
        return Ran(None, fault=fault)
    try:
        child = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            **process.OWN_GROUP,
        )
    except (OSError, ValueError) as error:
        return Ran(None, fault=f"it could not be started: {getattr(error, 'strerror', None) or error}")
    code: int | None = None
    try:
        async with asyncio.timeout(limit_s):
            output, errors, _ = await asyncio.gather(_read(child.stdout), _read(child.stderr), _write(child, payload))
            code = await child.wait()
    except TimeoutError:
        return Ran(None, fault=f"it was ended after {limit_s:g} s")
    finally:
        if code is None:
            await _end(child)
    return Ran(code, _text(output), _text(errors))


def _program(name: str, folder: Path, project: Path) -> tuple[str, str]:
    """The program's file, and why it is not run (empty when it is). Names with a slash are relative to `folder`."""
    path = Path(name).expanduser()
    found = str(folder / path) if any(sign in name for sign in (os.sep, os.altsep or os.sep)) else shutil.which(name)
    if found is None or not Path(found).is_file():
        return "", f"there is no program {name}"
    file = Path(found)
    if file.is_relative_to(project) or file.resolve().is_relative_to(project.resolve()):
        return "", f"{name} lies in the project, and a project's files are not run as hooks"
    return found, ""


async def _write(child: asyncio.subprocess.Process, payload: bytes) -> None:
    """Give it its input; a command that does not read it is not at fault."""
    if child.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        child.stdin.write(payload)
        await child.stdin.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        child.stdin.close()
        await child.stdin.wait_closed()


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """What comes, up to 1 MiB; the rest is read and thrown away."""
    kept = bytearray()
    while stream and (block := await stream.read(_BLOCK_BYTES)):
        kept += block[: MAX_READ_BYTES - len(kept)]
    return bytes(kept)


async def _end(child: asyncio.subprocess.Process) -> None:
    """End the command and what it started; close its pipes, which children that left the group may still hold."""
    process.end_group(child.pid)
    await child.wait()
    transport = getattr(child, "_transport", None)  # asyncio has no public way to it
    if transport is not None:
        transport.close()


def _text(data: bytes) -> str:
    """As text without colours and control characters, at most 4,000 characters: the head, and the tail after it."""
    text = visible(_ESCAPE.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))).strip("\n")
    if len(text) <= MAX_TEXT_CHARS:
        return text
    half = MAX_TEXT_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
