"""A project folder with the built-in tools over it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oasis import resources
from oasis.core.items import Status, ToolCall
from oasis.core.tool import Outcome, Preview
from oasis.errors import ToolFault
from oasis.tools.builtin import builtin
from oasis.tools.registry import Registry
from oasis.tools.skill import Skills
from oasis.tools.workspace import Workspace


@dataclass(frozen=True)
class Project:
    """A folder and the way a model acts on it: a call by name with JSON arguments."""

    root: Path
    workspace: Workspace
    registry: Registry

    def put(self, name: str, data: bytes | str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    async def call(self, name: str, /, **arguments: Any) -> Outcome:
        return await self.send(ToolCall("1", name, json.dumps(arguments)))

    async def send(self, call: ToolCall) -> Outcome:
        found = self.registry.find(call)
        if isinstance(found, Outcome):
            return found
        try:
            await found[0].preview(found[1])
            return await found[0].run(found[1])
        except ToolFault as fault:
            return Outcome(str(fault), Status.ERROR)

    async def preview(self, name: str, /, **arguments: Any) -> Preview:
        found = self.registry.find(ToolCall("1", name, json.dumps(arguments)))
        assert isinstance(found, tuple)
        return await found[0].preview(found[1])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    skills = Skills(resources.skills_folder(), (), root)
    workspace = Workspace(root, tmp_path / "spill", skills.folders(), (tmp_path / "settings",))
    return Project(workspace.root, workspace, Registry(builtin(workspace, skills)))
