"""A pack: what Oasis learns for one kind of device, in a package of its own."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any

from oasis.plant.driver import Driver


@dataclass(frozen=True, slots=True)
class Station:
    """A simulated device that runs. `site` is a piece of a site file (TOML) with its endpoint and tags."""

    name: str
    url: str
    words: str
    site: str = ""


Simulator = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[tuple[Station, ...]]]
"""Runs simulated devices with options (`faults`: True, ...); unknown options are ignored."""


@dataclass(frozen=True, slots=True)
class Pack:
    """What an entry point of the group `oasis.packs` names.

    `drivers` makes a driver for a URL, by scheme; a pack's library is imported when its driver is first used.
    `words` tells a model how the pack's URLs and items are written. `skills` is a folder of NAME/SKILL.md.
    """

    name: str
    drivers: Mapping[str, Callable[[str], Driver]]
    words: str
    skills: Traversable
    simulators: Mapping[str, Simulator] = field(default_factory=dict[str, Simulator])
