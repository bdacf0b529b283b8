"""What a pack gives for each URL scheme: a driver, which is one connection to one endpoint."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from oasis.plant.plan import ApprovedWrite, Frame
from oasis.plant.values import Point, Reading, Value


class Effect(StrEnum):
    """What became of a write. UNKNOWN is never sent again by itself."""

    WRITTEN = "written"
    REJECTED = "rejected"
    NOT_SENT = "not sent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sent:
    """How a write ended, and why, in words; `reply` is what came back over the wire."""

    effect: Effect
    words: str
    reply: bytes = b""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a scan found. `item` is what to read or scan next: a URL or an item text; `fields` are columns."""

    kind: str
    item: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan found, and what it says about itself. `stopped` is why it is incomplete; empty when it is whole."""

    found: tuple[Found, ...]
    notes: tuple[str, ...] = ()
    stopped: str = ""


class Budget:
    """How much a scan may ask of a plant. `clock` gives seconds."""

    def __init__(self, requests: int = 600, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.requests = requests
        self.seconds = seconds
        self.spent = 0
        self._clock = clock
        self._began = clock()

    @property
    def elapsed_s(self) -> float:
        return self._clock() - self._began

    @property
    def left_s(self) -> float:
        return max(0.0, self.seconds - self.elapsed_s)

    @property
    def stopped(self) -> str:
        """Why no further request may be sent; empty while one may."""
        if self.spent >= self.requests:
            return f"its budget of {self.requests} requests is spent"
        if self.elapsed_s >= self.seconds:
            return f"its budget of {self.seconds:g} s is spent"
        return ""

    def spend(self, requests: int = 1) -> bool:
        """Book requests that are about to be sent; False when they may not be."""
        if self.stopped:
            return False
        self.spent += requests
        return True


class Driver(Protocol):
    """One endpoint. Making one checks the URL and sends nothing; it connects when first used.

    Every method raises ToolFault in words. Methods may be called concurrently; the driver serialises what the
    wire needs in order. Nothing is repeated that could act twice.
    """

    url: str
    """The canonical URL, without secrets."""

    def point(self, text: str) -> Point:
        """The point that an item's text means, canonical; sends nothing."""
        ...

    def cells(self, point: Point) -> frozenset[str]:
        """Names of the smallest things that a write of the point can change; empty where that is not known."""
        ...

    def check_writable(self, point: Point) -> None:
        """Raise ToolFault for a point that no write could ever be made for; sends nothing."""
        ...

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        """What is there, below `items` where they are given."""
        ...

    async def read(self, points: Sequence[Point]) -> list[Reading]:
        """The points' values in order; a point that is a range gives one reading for each element.

        What does not read is a reading with its reason as status, beside those that do.
        """
        ...

    def watch(self, points: Sequence[Point], seconds: float, interval_s: float) -> AsyncIterator[Reading]:
        """Each point's first value, then each change, for so many seconds."""
        ...

    async def identity(self) -> str:
        """What the device says it is, always spelled the same; empty where it does not say."""
        ...

    async def encode(self, point: Point, value: Value) -> Frame:
        """The write as it would be sent; nothing is sent. Raises for what the type or device cannot take."""
        ...

    async def write(self, approved: ApprovedWrite) -> Sent:
        """Send the plan's frame, once."""
        ...

    async def close(self) -> None:
        """Leave the endpoint as it should be left (EtherCAT: outputs at zero, out of OP)."""
        ...
