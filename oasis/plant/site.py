"""The site file: what a plant's tags are and what may be written, in the user's own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from oasis.plant.values import Point, Value, spelled


@dataclass(frozen=True, slots=True)
class Tag:
    """A named point of an endpoint. Limits are in the point's unit.

    `rate` is the most that writes may change it within a minute. `choices` are the only values allowed, where they are
    given. `safe` is the value it is left with, None where nothing is done. `line` is where the site file has it.
    """

    name: str
    url: str
    point: Point
    is_writable: bool = False
    min: float | None = None
    max: float | None = None
    max_step: float | None = None
    rate: float | None = None
    choices: tuple[Value, ...] = ()
    safe: Value | None = None
    is_unattended: bool = False
    line: int = 0

    @property
    def limits(self) -> str:
        """What may be written, in one line."""
        if not self.is_writable:
            return "not to be written"
        unit = f" {self.point.form.unit}".rstrip()
        said = [f"one of {', '.join(spelled(c) for c in self.choices)}"] if self.choices else []
        if self.min is not None and self.max is not None:
            said.append(f"{spelled(self.min)} to {spelled(self.max)}{unit}")
        if self.max_step is not None:
            said.append(f"at most {spelled(self.max_step)}{unit} at once")
        if self.rate is not None:
            said.append(f"at most {spelled(self.rate)}{unit} a minute")
        return ", ".join(said) or "on or off"


@dataclass(frozen=True, slots=True)
class Site:
    """A site file as it was when the session began. `digest` is the SHA-256 of its bytes, in hex.

    `endpoints` are canonical URLs by name, `identities` what the device must say it is, by URL, where that is given.
    """

    path: Path
    digest: str
    name: str
    endpoints: Mapping[str, str]
    tags: Mapping[str, Tag]
    identities: Mapping[str, str] = field(default_factory=dict[str, str])
