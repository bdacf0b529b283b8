"""A long job that states facts early and asks for them late, and a stand-in for the mind that works on it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.core.items import Assistant, Stop, ToolCall

FACTS = 30
TASK = (
    "Read facts/00.txt to facts/29.txt, then every file in log/, one after the other. Keep the set points that the "
    "files in facts/ state; I ask for them at the end."
)
_STATED = re.compile(r"FACT (\d\d): (\S+) = (\S+ \S+)")
_ASKED = re.compile(r"What is the set point of (\S+)\?")
_LOG_LINES = 8


@dataclass(frozen=True, slots=True)
class Fact:
    """A set point: its loop's name, and value with unit."""

    number: int
    name: str
    value: str

    @property
    def line(self) -> str:
        return f"FACT {self.number:02d}: {self.name} = {self.value}"


def facts() -> list[Fact]:
    """The thirty set points; no value follows from another."""
    units = ("degC", "bar", "l/min", "rpm", "mm")
    return [
        Fact(n, f"{'TPFSL'[n % 5]}IC-{100 + 7 * n}.SP", f"{(n * 7919 + 2711) % 9973 / 10} {units[n % 5]}")
        for n in range(FACTS)
    ]


def stated_in(text: str) -> set[Fact]:
    """The facts that stand in a text word for word."""
    found = {(int(number), name, value) for number, name, value in _STATED.findall(text)}
    return {fact for fact in facts() if (fact.number, fact.name, fact.value) in found}


def known_in(text: str) -> set[Fact]:
    """The facts whose name and value both stand in a text, in whatever words."""
    return {fact for fact in facts() if fact.name in text and fact.value in text}


def write_files(project: Path, logs: int) -> None:
    """The files the job reads."""
    for folder in ("facts", "log"):
        (project / folder).mkdir(parents=True, exist_ok=True)
    for fact in facts():
        (project / f"facts/{fact.number:02d}.txt").write_text(f"Loop data sheet.\n{fact.line}\n", encoding="utf-8")
    for n in range(logs):
        (project / f"log/{n:03d}.txt").write_text("\n".join(_log(n)) + "\n", encoding="utf-8")


def _log(number: int) -> list[str]:
    return [
        f"{number:03d}.{n} pump {(number * 31 + n * 17) % 97} runs {(number * n * 13) % 89}" for n in range(_LOG_LINES)
    ]


READ_ALL = Assistant("Every file was read.", "", (), Stop.END, b"")
"""What the model writes when the reading is done."""


def reads(steps: int) -> list[Assistant]:
    """One message for each step: a call that reads the next file. Raises ValueError for too few steps."""
    logs = steps - FACTS
    if logs < 0:
        raise ValueError(f"the job needs at least {FACTS} steps")
    paths = [*(f"facts/{n:02d}.txt" for n in range(FACTS)), *(f"log/{n:03d}.txt" for n in range(logs))]
    return [
        Assistant("", "", (ToolCall(f"r{n}", "read", json.dumps({"path": path})),), Stop.END, b"")
        for n, path in enumerate(paths)
    ]


def questions() -> list[tuple[Fact, str]]:
    return [(fact, f"What is the set point of {fact.name}?") for fact in facts()]


def recited(prompt: str) -> Assistant:
    """What a mind that reads well and remembers nothing makes of a prompt: an answer, or a summary.

    It knows what stands in the prompt and nothing else.
    """
    asked = _ASKED.findall(prompt)
    found = sorted(stated_in(prompt), key=lambda fact: fact.number)
    if asked and prompt.rfind("?") > prompt.rfind("Do not call a tool."):
        value = next((fact.value for fact in found if fact.name == asked[-1]), "unknown")
        return _text(value)
    return _text(summary(found))


def summary(found: Sequence[Fact]) -> str:
    return "\n".join(
        ["TASK: read the files in facts/ and log/, keep the set points.", "FACTS:", *(f.line for f in found)]
    )


def _text(text: str) -> Assistant:
    return Assistant(text, "", (), Stop.END, b"")
