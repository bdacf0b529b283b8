"""The lab: every installed pack's simulated devices, started together and ended together."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from oasis.errors import ConfigError, OasisError
from oasis.packs import GROUP
from oasis.plant.pack import Pack, Station

KNOWN = ("modbus", "opcua", "ethercat")
"""Packs that are part of Oasis; the libraries of each are installed as an extra of its name."""


@dataclass(frozen=True, slots=True)
class Device:
    """A simulated device and the pack it belongs to."""

    pack: str
    station: Station


@dataclass(frozen=True, slots=True)
class Lab:
    """What runs, and in a line each what does not and why."""

    devices: tuple[Device, ...]
    absent: tuple[str, ...]


class _Watched(Mapping[str, Any]):
    """Options that remember which of them somebody asked for."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return self._options[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)


@asynccontextmanager
async def running(
    packs: Mapping[str, Pack],
    options: Mapping[str, Any],
    extra: Mapping[str, str | bool] | None = None,
    faults: Sequence[str] = (),
    starting: Callable[[str], None] = lambda name: None,
) -> AsyncGenerator[Lab, None]:
    """Run the simulators of `packs` until the context is left.

    `options` go to every simulator. So do `extra`, which one of them must know. `faults` are names as PACK:NAME; the
    pack may be left out where there is one. `starting` is told each pack's name before its simulators start. Raises
    ConfigError for what cannot be meant.
    """
    by_pack = _faults_by_pack(packs, faults)
    given = dict(options) | dict(extra or {})
    asked: set[str] = set()
    devices: list[Device] = []
    absent = [f"{name}: {why}" for name, why in not_installed().items()]
    async with AsyncExitStack() as stack:
        for name, pack in packs.items():
            starting(name)
            watched = _Watched(given | ({"faults": by_pack[name]} if by_pack.get(name) else {}))
            for simulate in pack.simulators.values():
                try:
                    stations = await stack.enter_async_context(simulate(watched))
                except ConfigError:
                    raise
                except ImportError as fault:
                    absent.append(f"{name}: not started, a library is missing ({fault}). {_how_to(name)}")
                    continue
                except (OasisError, OSError) as fault:
                    absent.append(f"{name}: not started. {fault}")
                    continue
                devices.extend(Device(name, station) for station in stations)
            asked |= watched.asked
        if unknown := sorted(set(extra or {}) - asked):
            raise ConfigError(
                f"No simulator has an option --{unknown[0]}. `oasis lab --help` lists those of the lab; a pack's own "
                "options need the pack."
            )
        yield Lab(tuple(devices), tuple(absent))


def not_installed() -> dict[str, str]:
    """Oasis' own packs that are not installed, and how to install them."""
    there = {entry.name for entry in entry_points(group=GROUP)}
    return {name: f"not installed. {_how_to(name)}" for name in KNOWN if name not in there}


def _how_to(name: str) -> str:
    return f"pip install 'oasis-agent[{name}]'"


def _faults_by_pack(packs: Mapping[str, Pack], faults: Sequence[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for fault in faults:
        pack, has_pack, name = fault.partition(":")
        if not has_pack:
            pack, name = (next(iter(packs)), fault) if len(packs) == 1 else ("", fault)
        if pack not in packs:
            known = ", ".join(packs) or "none"
            said = f"There is no pack {pack!r} in this lab" if has_pack else f"{fault!r} does not say which pack"
            raise ConfigError(f"{said}. Packs here: {known}. Write PACK:NAME, such as modbus:busy@2.")
        names.setdefault(pack, []).append(name)
    return names
