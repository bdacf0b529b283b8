"""The packaging line as the lab runs it, with a piece of a site file."""

import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from oasis.errors import ConfigError
from oasis.plant.pack import Station
from oasis_opcua import keys
from oasis_opcua.simulator.line import PASSWORD, USER, Faults, Line, running_line
from oasis_opcua.simulator.signals import LINE, SIGNALS, Signal

PORT = 48400
"""Where the line is with `fixed_ports`."""
FAULTS = tuple(field.name.replace("_", "-") for field in fields(Faults))
FAULTY = {
    "guarded": Faults(untrusting=True, forwarded=True, secure_only=True, password_only=True),
    "restarted": Faults(reordered=True, other_identity=True, lost_reply=True, unlimited=True),
}
"""Lines that stand beside the plain one with all faults on."""
_WORDS = {
    "guarded": "behind a forwarded port, encrypted endpoints only, named users only, trusts no client yet",
    "restarted": "namespaces in another order, another build, writes and calls carried out and not answered",
}
_STEPS = {"Line1.Conveyor.SpeedSetpoint": (0.0, 40.0, 10.0), "Line1.Sealer.TemperatureSetpoint": (100.0, 180.0, 20.0)}
"""Least, most and largest step of what the sample site file lets be written."""
_TAGS = {
    "Line1.Conveyor.SpeedSetpoint": "belt_speed_setpoint",
    "Line1.Conveyor.Speed": "belt_speed",
    "Line1.Sealer.TemperatureSetpoint": "sealer_setpoint",
    "Line1.Sealer.Temperature": "sealer_temperature",
    "Line1.PacksCounted": "packs",
    "Line1.State": "line_state",
}


@asynccontextmanager
async def packaging_line(options: Mapping[str, Any]) -> AsyncGenerator[tuple[Station, ...]]:
    """The pack's simulator.

    Options: `big` (10,000 nodes more), `nodeset` (NodeSet2 files or folders of them: one, a list, or several with
    commas), `faults` (names; True: further lines that have them), `fixed_ports` (else free ones), `speed` (the line's
    seconds in one). The server's key is kept, so that trust in it lasts. Raises ConfigError for a fault that there is
    none of, ToolFault for a NodeSet that cannot be loaded.
    """
    asked = options.get("faults")
    port = PORT if options.get("fixed_ports") else 0
    speed = float(options.get("speed", 1.0))
    nodesets = _paths(options.get("nodeset"))
    big = bool(options.get("big"))
    folder = keys.folder() / "simulator"
    async with AsyncExitStack() as stack:
        plain = running_line(big=big, nodesets=nodesets, faults=chosen(asked), port=port, folder=folder, speed=speed)
        stations = _stations(await stack.enter_async_context(plain), chosen(asked))
        with suppress(OSError):
            keys.make_trusted()
        for name, faults in FAULTY.items() if asked is True else ():
            line = await stack.enter_async_context(running_line(faults=faults, folder=folder, speed=speed))
            words = f"{_WORDS[name]}; user {USER}, password {PASSWORD}"
            if faults.untrusting:
                words += f". A client's certificate is trusted once a copy of it is in {line.trusted}"
            stations.append(Station(f"packaging line, {name}", line.url, words))
        yield tuple(stations)


def _stations(line: Line, faults: Faults) -> list[Station]:
    """The line's endpoints: open where it has such, and secure."""
    loaded = "".join(f", {count} nodes of {uri}" for uri, count in line.loaded.nodes.items())
    notes = "".join(f"; NodeSet: {note}" for note in line.loaded.notes)
    words = f"a belt, a sealer, a checkweigher, methods, history and events{loaded}{notes}"
    secure = (
        f"the same with security; user {USER}, password {PASSWORD}. Its certificate is {line.certificate}: "
        f"copy it to {keys.trusted()} to trust it"
    )
    stations = [Station("packaging line, secure", f"{line.url}?security=Basic256Sha256", secure)]
    if not faults.secure_only and not faults.password_only:
        stations.insert(0, Station("packaging line", line.url, words, site_piece(line.url)))
    return stations


def chosen(asked: object) -> Faults:
    """The plain line's faults for the option `faults`: names. True leaves it well."""
    names = [] if asked in (None, True, False) else [str(name) for name in cast(Iterable[Any], asked)]
    for name in names:
        if name not in FAULTS:
            raise ConfigError(f"There is no fault {name[:40]!r}. There are: {', '.join(FAULTS)}.")
    return Faults(**{name.replace("-", "_"): True for name in names})


def site_piece(url: str) -> str:
    """The endpoint and its tags as TOML: signals with limits, and the methods that start and stop the line."""
    parts = [f"[endpoints.packaging_line]\nurl = {json.dumps(url)}\n"]
    parts += [
        _tag(_TAGS[signal.name], _keys(signal))
        for signal in SIGNALS
        if signal.namespace == LINE and signal.name in _TAGS
    ]
    for name in ("Start", "Stop"):
        call = {"address": f"call nsu={LINE};s=Line1.{name}", "type": "bool", "write": True, "values": [True]}
        parts.append(_tag(f"line_{name.lower()}", call))
    return "\n".join(parts)


def _keys(signal: Signal) -> dict[str, object]:
    keys: dict[str, object] = {"address": f"nsu={signal.namespace};s={signal.name}", "type": signal.kind}
    if signal.unit:
        keys["unit"] = signal.unit[1]
    if signal.name in _STEPS:
        low, high, step = _STEPS[signal.name]
        keys |= {"write": True, "min": low, "max": high, "max_step": step}
    return keys


def _tag(name: str, keys: Mapping[str, object]) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return "\n".join([f"[tags.{name}]", 'endpoint = "packaging_line"', *lines, ""])


def _paths(asked: object) -> list[Path]:
    if not asked or asked is True:
        return []
    names = asked.split(",") if isinstance(asked, str) else [str(name) for name in cast(Iterable[Any], asked)]
    paths = [Path(name).expanduser() for name in names if name]
    return [file for path in paths for file in (sorted(path.glob("*.xml")) if path.is_dir() else [path])]
