"""Register maps that others published, as points: what guesses are scored on.

Reads SunSpec model JSON, evcc templates (YAML), mbmd meters (Go) and sunsynk sensors (Python), by the few patterns that
say address, type, scale and unit. None of them is part of Oasis.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oasis.plant.values import Form
from oasis_modbus.codec import TYPES
from oasis_modbus.sunspec_model import parsed

SUNSPEC_AT = 40_070
_UNITS = {"WATT": "W", "VOLT": "V", "AMPS": "A", "HZ": "Hz", "KWH": "kWh", "CELSIUS": "°C"}


@dataclass(frozen=True, slots=True)
class Known:
    """A point of a published map. `registers` counts those of a text; `sf` names the point with its exponent."""

    name: str
    table: str
    address: int
    form: Form
    registers: int
    sf: str = ""

    @property
    def item(self) -> str:
        """Its text in the grammar of items."""
        form = self.form
        span = f"-{self.address + self.registers - 1}" if form.type == "string" else ""
        order = form.order if self.registers > 1 and form.type != "string" else ""
        scale = f"x{form.scale!r}" if form.scale != 1.0 else ""
        offset = f"{form.offset:+g}" if form.offset else ""
        return " ".join(f"{self.table} {self.address}{span} {form.type} {order} {scale} {offset} {form.unit}".split())


def known_maps(folder: Path) -> dict[str, list[Known]]:
    """The maps in a folder by file name, each in order of addresses; empty where there are none."""
    readers = {"*.json": _sunspec, "evcc*.yaml": _evcc, "mbmd*.go": _mbmd, "sunsynk*.py": _sunsynk}
    found: dict[str, list[Known]] = {}
    for pattern, read in readers.items():
        for path in sorted(folder.glob(pattern)):
            points = {(p.table, p.address): p for p in read(path.read_text(encoding="utf-8"))}
            found[path.name] = _apart(sorted(points.values(), key=lambda p: (p.table, p.address)))
    return found


def _apart(points: list[Known]) -> list[Known]:
    """Without points that lie in the one before."""
    kept: list[Known] = []
    for point in points:
        last = kept[-1] if kept else None
        if not last or last.table != point.table or last.address + last.registers <= point.address:
            kept.append(point)
    return kept


def _sunspec(text: str) -> list[Known]:
    model = parsed(json.loads(text))
    return [
        Known(f.name, "holding", SUNSPEC_AT + f.at, Form(f.plain, "ABCD" if f.size > 1 else "", 1.0, 0.0, f.unit),
              f.size, str(f.sf) if isinstance(f.sf, str) else "")
        for f in model.fields if f.plain in TYPES and f.kind != "pad"
    ]  # fmt: skip


def _evcc(text: str) -> list[Known]:
    """A type that ends in `s` has its words swapped; one of a name that is not known is left out."""
    plain = r"address: (\d+)(?: # ([^\n]*))?\n\s+type: (holding|input)\n\s+decode: (\w+)"
    scaled = plain + r"\n(?:(?!register:).*\n){0,4}?\s+scale: (\S+)"
    service = r"read\?address=(\d+)&type=(holding|input)&encoding=(\w+)(?:&scale=([\d.]+))?"
    points = [_evcc_point(m[1], m[2], m[3], m[4], "1") for m in re.finditer(plain, text)]
    points += [_evcc_point(*m.groups()) for m in re.finditer(scaled, text)]
    points += [_evcc_point(m[1], "", m[2], m[3], m[4] or "1") for m in re.finditer(service, text)]
    return [point for point in points if point]


def _evcc_point(address: str, name: str | None, table: str, kind: str, scale: str) -> Known | None:
    kind = kind.removesuffix("nan")
    order = "CDAB" if kind.endswith("s") else "ABCD"
    kind = kind.removesuffix("s")
    if kind not in TYPES or kind in ("string", "bool"):
        return None
    size = TYPES[kind].registers
    form = Form(kind, order if size > 1 else "", float(scale))
    return Known((name or address).strip(), table, int(address), form, size)


def _mbmd(text: str) -> list[Known]:
    found = re.finditer(r"^\s+(\w+):\s+0x([0-9A-F]{4}),", text, re.MULTILINE)
    return [Known(m[1], "input", int(m[2], 16), Form("float32", "ABCD", 1.0, 0.0, _sdm_unit(m[1])), 2) for m in found]


def _sdm_unit(name: str) -> str:
    units: Mapping[str, str] = {
        "Voltage": "V", "Current": "A", "Power": "W", "ApparentPower": "VA", "ReactivePower": "var", "Cosphi": "",
        "PhaseAngle": "°", "Frequency": "Hz", "THD": "%", "Import": "kWh", "Export": "kWh", "Sum": "kWh",
    }  # fmt: skip
    base = re.sub(r"L\d$", "", name)
    return units.get(base, "kvarh" if base.startswith("Reactive") else "")


def _sunsynk(text: str) -> list[Known]:
    """One register is 16 bits, two are 32 with the low word first; a negative factor means that it is signed."""
    kinds, address = r"\b(Sensor|Sensor16|TempSensor|NumberRWSensor)", r"(?:\((\d+), (\d+)\)|(\d+))"
    rest = r"\"([^\"]+)\",\s*([\w\"%Ω]+)(?:,\s*(-?[\d.]+))?"
    return [_sunsynk_point(m) for m in re.finditer(rf"{kinds}\(\s*{address},\s*{rest}", text)]


def _sunsynk_point(match: "re.Match[str]") -> Known:
    kind, first, second, only, name, unit, factor = match.groups()
    scale = float(factor or 1)
    is_pair = second is not None and kind != "Sensor16"
    type_ = ("int" if scale < 0 or kind == "Sensor16" else "uint") + ("32" if is_pair else "16")
    offset = -100.0 if kind == "TempSensor" else 0.0
    form = Form(type_, "CDAB" if is_pair else "", abs(scale), offset, _UNITS.get(unit, unit.strip('"')))
    return Known(name, "holding", int(first or only), form, 2 if is_pair else 1)
