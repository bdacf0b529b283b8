"""The pieces of a sample site file: what is known of the simulated units, and what may be written."""

import json
import re
from collections.abc import Sequence

from oasis_modbus.simulator.cells import BIT_TABLES, Cell


def site_piece(name: str, url: str, cells: Sequence[Cell], identity: str = "", prefix: str = "") -> str:
    """The endpoint, what it must say it is, and its tags as TOML.

    Tags' names begin with `prefix`, since a name stands once in a file.
    """
    endpoint = re.sub(r"\W+", "_", name)
    pinned = f"identity = {json.dumps(identity)}\n" if identity else ""
    parts = [f"[endpoints.{endpoint}]\nurl = {json.dumps(url)}\n{pinned}"]
    parts.extend(_tag(endpoint, cell, prefix) for cell in cells if cell.tag and cell.type != "string")
    return "\n".join(parts)


def _tag(endpoint: str, cell: Cell, prefix: str) -> str:
    is_bit = cell.table in BIT_TABLES
    keys: dict[str, object] = {
        "endpoint": endpoint,
        "address": f"{cell.table} {cell.address}",
        "type": "bool" if is_bit else cell.type,
    }
    if cell.registers > 1:
        keys["order"] = cell.order
    if cell.scale != 1.0:
        keys["scale"] = cell.scale
    if cell.unit:
        keys["unit"] = cell.unit
    if cell.step:
        keys["write"] = True
        if not is_bit:
            keys |= {"min": cell.low, "max": cell.high, "max_step": cell.step}
    if cell.safe is not None:
        keys["safe"] = cell.safe
    if cell.is_unattended:
        keys["unattended"] = True
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([f"[tags.{prefix}{cell.tag}]", *lines, ""])
