"""Ctrl-C before the program is there."""

import os
import subprocess
import sys
from pathlib import Path


def test_an_interrupt_while_the_program_loads_ends_it_in_words(tmp_path: Path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    found = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-m", "oasis", "config"],
        env={**os.environ, "PYTHONPATH": found},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "oasis: Interrupted.\n")
