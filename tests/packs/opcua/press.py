"""The third-party server of these tests: npm node-opcua, where node and the package are."""

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".js")
START_S = 120


@dataclass(frozen=True, slots=True)
class Press:
    """A press that runs. `pki` is the server's folder of certificates."""

    url: str
    pki: Path
    process: subprocess.Popen[str]

    def seen(self) -> tuple[int, int]:
        """Writes and calls that the server has seen."""
        assert self.process.stdin
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        _, writes, calls = _line(self.process, "SEEN").split()
        return int(writes), int(calls)


def absent() -> str:
    """Why the press cannot run here, empty where it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    found = subprocess.run(
        ["node", "-e", "require.resolve('node-opcua')"], cwd=SCRIPT.parent, capture_output=True, check=False
    )
    return "npm node-opcua is not installed (npm install node-opcua, and NODE_PATH)" if found.returncode else ""


@contextmanager
def running_press(folder: Path) -> Generator[Press]:
    """Run the press with its keys in `folder`."""
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    process = subprocess.Popen(
        ["node", str(SCRIPT), str(folder / "pki")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        port = _line(process, "READY").split()[1]
        yield Press(f"opc.tcp://127.0.0.1:{port}/press", folder / "pki", process)
    finally:
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def _line(process: subprocess.Popen[str], first: str) -> str:
    """The next line that begins with a word; node-opcua says much between."""
    assert process.stdout
    for line in process.stdout:
        if line.startswith(first):
            return line.strip()
    raise AssertionError(f"the press ended before it said {first}")
