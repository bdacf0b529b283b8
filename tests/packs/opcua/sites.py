"""A writer with a site file for a server, as a session has it."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from oasis_opcua import PACK

from oasis.plant.audit import Audit
from oasis.plant.connections import Connections
from oasis.plant.site_file import load
from oasis.plant.writer import Writer
from tests.packs.opcua.lines import LINE

TAGS = {
    "speed": {"address": f"{LINE};s=Line1.Conveyor.SpeedSetpoint", "type": "Double", "unit": "m/min", "write": True,
              "min": -1000, "max": 1000, "max_step": 1000},
    "heat": {"address": f"{LINE};s=Line1.Sealer.TemperatureSetpoint", "type": "Float", "write": True,
             "min": 80, "max": 220, "max_step": 200},
    "dwell": {"address": f"{LINE};s=Line1.Sealer.DwellMilliseconds", "type": "UInt16", "scale": 0.001, "write": True,
              "min": 0, "max": 1, "max_step": 1},
    "enabled": {"address": f"{LINE};s=Line1.Sealer.Enabled", "type": "Boolean", "write": True},
    "text": {"address": f"{LINE};s=Line1.Identification.DeviceText", "type": "String", "write": True,
             "values": ["Line 1", "Line 2"]},
    "most_weight": {"address": f"{LINE};s=Line1.Checkweigher.Limits [1]", "type": "Float", "unit": "g", "write": True,
                    "min": 0, "max": 1000, "max_step": 1000},
    "measured": {"address": f"{LINE};s=Line1.Conveyor.Speed", "type": "Double", "write": True,
                 "min": 0, "max": 50, "max_step": 50},
    "wrong_type": {"address": f"{LINE};s=Line1.Conveyor.MotorCurrent", "type": "Int32", "write": True,
                   "min": 0, "max": 50, "max_step": 50},
    "start": {"address": f"call {LINE};s=Line1.Start", "type": "Boolean", "write": True, "values": [True]},
    "recipe": {"address": f"call {LINE};s=Line1.SetRecipe", "type": "String", "write": True,
               "values": ['["Rolled oats", 9, 450]', '["Too heavy", 9, 4500]', '["Too few"]', '["Bad number", -1, 5]']},
}  # fmt: skip


@asynccontextmanager
async def writer_for(url: str, folder: Path) -> AsyncGenerator[Writer]:
    """A writer for the tags above at `url`."""
    async with site_writer(url, TAGS, folder) as writer:
        yield writer


@asynccontextmanager
async def site_writer(url: str, tags: Mapping[str, Mapping[str, object]], folder: Path) -> AsyncGenerator[Writer]:
    """A writer for a site file with these tags at `url`."""
    parts = ['[site]\nname = "test"', f"[endpoints.line]\nurl = {json.dumps(url)}"]
    for name, keys in tags.items():
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
        parts.append("\n".join([f"[tags.{name}]", 'endpoint = "line"', *lines]))
    path = folder / "plant.toml"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    connections = Connections([PACK])
    try:
        site = load(path, connections.open)
        yield Writer(site, connections.open, Audit(folder / "audit.jsonl", "test"), locks=folder / "locks")
    finally:
        await connections.close()


async def written(writer: Writer, tag: str, value: object):
    """Plan, approve and carry out."""
    plan = await writer.plan(tag, value)
    return await writer.carry_out(plan.token, "a test")
