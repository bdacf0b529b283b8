"""A recorded job: what was asked, what the model wrote, what the tools gave. It drives a real engine again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oasis.core.items import Assistant, NewItem, Notice, Status, Stop, ToolCall, ToolOutput, User
from oasis.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Step:
    """What is new when the model is asked, and what it wrote. `turn` and `number` count from 1."""

    number: int
    turn: int
    new: tuple[NewItem, ...]
    written: Assistant


@dataclass(frozen=True, slots=True)
class Job:
    """The steps, and in words what was left out of the recording."""

    steps: tuple[Step, ...]
    shortened: str = ""

    @property
    def turns(self) -> int:
        return self.steps[-1].turn

    def first(self, steps: int) -> "Job":
        """The job's first steps (all of them for 0). Raises ConfigError where it has fewer."""
        if steps > len(self.steps) or steps < 0:
            raise ConfigError(f"The recorded job has {len(self.steps)} steps; {steps} cannot be run. Give fewer.")
        return replace(self, steps=self.steps[:steps]) if steps else self

    def scaled(self, share: int) -> "Job":
        """With each tool output cut to one part in `share` of its characters, at least 80."""
        if share == 1:
            return self
        steps = tuple(replace(s, new=tuple(_cut(item, share) for item in s.new)) for s in self.steps)
        return Job(steps, f"tool outputs are cut to 1/{share} of what was recorded, at least 80 characters")

    def text(self) -> str:
        """All that is said in it, for counting tokens."""
        return "\n".join(part for step in self.steps for part in _texts(step))


def load(path: Path) -> Job:
    """Read a job: one JSON object a line, `user`, `notice`, `assistant` or `output` (fixtures/jobs/README.md)."""
    return Job(tuple(_steps(path.read_text(encoding="utf-8").splitlines())))


def _steps(lines: Sequence[str]) -> Iterator[Step]:
    new: list[NewItem] = []
    number = turn = 0
    for line in lines:
        record: dict[str, Any] = json.loads(line)
        if said := record.get("assistant"):
            number += 1
            calls = tuple(ToolCall(**call) for call in said["calls"])
            yield Step(number, turn, tuple(new), Assistant(said["text"], said["reasoning"], calls, Stop.END, b""))
            new = []
            continue
        turn += "user" in record
        new.append(_item(record))


def _item(record: dict[str, Any]) -> NewItem:
    if "user" in record:
        return User(record["user"])
    if "notice" in record:
        return Notice(record["notice"])
    output = record["output"]
    return ToolOutput(output["call_id"], output["name"], output["text"], Status(output["status"]))


def _cut(item: NewItem, share: int) -> NewItem:
    if not isinstance(item, ToolOutput):
        return item
    return replace(item, text=item.text[: max(80, len(item.text) // share)])


def _texts(step: Step) -> list[str]:
    calls = [f"{call.name} {call.arguments}" for call in step.written.calls]
    return [*(item.text for item in step.new), step.written.reasoning, step.written.text, *calls]
