"""The demonstration's recorded decisions against the simulated plant: each of them does what it says it did."""

from pathlib import Path

import pytest

from oasis.agent.sessions import audited
from oasis.config import Settings
from oasis.core.events import CallFinished, Event
from oasis.core.items import Status
from oasis.errors import ConfigError
from oasis.measure import demo as demonstration
from oasis.measure.demo import Demo
from oasis.models.scripted import ScriptedModel
from oasis.plant.audit import verify


async def played(project: Path) -> tuple[list[CallFinished], list[str]]:
    """Every call of the recorded jobs with its output, and what was said."""
    demo, events, said = Demo(Settings(), project, is_live=False), list[Event](), list[str]()
    async with demo.plant(said.append) as (box, jobs):
        for job in jobs:
            model = ScriptedModel([step.written for step in job.steps])
            await demo.session(model, box, job, events.append, said.append)
        audit = box.plant.audit_path
    assert verify(audit, audited(audit)) == []
    return [event for event in events if isinstance(event, CallFinished)], said


async def test_every_recorded_call_succeeds_and_proves_what_devices_md_says(tmp_path: Path):
    calls, said = await played(tmp_path)
    assert [call.text for call in calls if call.status is not Status.OK] == []
    written = (tmp_path / "devices.md").read_text(encoding="utf-8")
    outputs = "\n".join(call.text for call in calls)
    assert "set_point: 82 → 75 degC. It reads 75 degC" in outputs
    assert "flame (discrete 0): false" in outputs
    assert "written 75.0, read back 75.0" in written
    for value in ("BK-200", "12.3"):
        assert value in written
        assert value in outputs
    if "EtherCAT segment" in "\n".join(line for line in said if "answers at" in line):
        assert "drive_speed: 0 → 5000 counts/s" in outputs
        assert "OX-DRIVE" in written
        assert any(line.startswith("Safe state") or "safe already" in line for line in said)


async def test_without_any_pack_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demonstration, "find_packs", dict)
    with pytest.raises(ConfigError, match="pip install"):
        async with Demo(Settings(), tmp_path, is_live=False).plant(lambda line: None):
            pass
