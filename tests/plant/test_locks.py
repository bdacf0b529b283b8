"""Locks: one writer of an endpoint at a time, in whatever process, and none left by one that was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from oasis.errors import WriteRefused
from oasis.plant.locks import endpoint_held

URL = "modbus://127.0.0.1:502/1"
HOLDER = """
import asyncio, sys
from pathlib import Path
from oasis.plant.locks import endpoint_held
async def main():
    async with endpoint_held(Path(sys.argv[1]), sys.argv[2]):
        print("held", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


async def test_an_endpoint_held_by_another_process_is_refused_until_that_one_is_killed(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), URL], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(WriteRefused, match=r"Another Oasis has been writing to modbus://.*nothing was sent"):
            async with endpoint_held(tmp_path, URL, 0.0):
                pass
        async with endpoint_held(tmp_path, "modbus://127.0.0.1:503/1", 0.0):
            pass
        other.kill()
    async with endpoint_held(tmp_path, URL, 5.0):
        pass


async def test_a_folder_that_cannot_be_made_is_a_refusal(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteRefused, match="cannot be taken"):
        async with endpoint_held(tmp_path / "file" / "locks", URL):
            pass
