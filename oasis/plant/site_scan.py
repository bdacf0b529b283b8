"""What a scan finds, as the tags of a first site file: each point that reads, with what is known of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Driver, Found
from oasis.plant.places import device_of
from oasis.plant.readings import one_line
from oasis.plant.site_new import NewTag
from oasis.plant.targets import is_url
from oasis.plant.values import Reading, spelled

MOST_TAGS = 2_000
_DEEPEST = 8


@dataclass
class Explored:
    """The tags found by endpoint, what the devices say they are, and why the search ended early; empty when whole.

    `unread` is one thing that was found and could not be read, and why.
    """

    tags: dict[str, list[NewTag]] = field(default_factory=dict[str, list[NewTag]])
    identities: dict[str, str] = field(default_factory=dict[str, str])
    stopped: str = ""
    unread: str = ""

    @property
    def count(self) -> int:
        return sum(len(tags) for tags in self.tags.values())


async def explore(connect: Callable[[str], Driver], url: str, items: Sequence[str], budget: Budget) -> Explored:
    """Scan an endpoint, below `items` where they are given, and what it leads to: units of a gateway, nodes.

    Reads only. Raises ToolFault where the endpoint itself cannot be scanned, and where nothing was found that reads.
    """
    found = Explored()
    await _Search(connect, budget, found).endpoint(connect(url), items)
    if not found.count:
        unread = f" What was found cannot be read now: {found.unread}." if found.unread else ""
        raise ToolFault(
            f"Nothing that can be read was found at {url}.{unread} `oasis plant scan '{url}'` says what there is; name "
            "items."
        )
    return found


class _Search:
    def __init__(self, connect: Callable[[str], Driver], budget: Budget, found: Explored) -> None:
        self._connect = connect
        self._budget = budget
        self._found = found
        self._seen: set[tuple[str, str]] = set()

    async def endpoint(self, driver: Driver, items: Sequence[str], is_first: bool = True) -> None:
        self._found.tags.setdefault(driver.url, [])
        try:
            await self._below(driver, items, _DEEPEST)
        except ToolFault:
            if is_first:
                raise
        if not self._found.tags[driver.url]:
            del self._found.tags[driver.url]
            return
        try:
            self._found.identities[driver.url] = one_line(await driver.identity())
        except ToolFault:
            return

    async def _below(self, driver: Driver, items: Sequence[str], depth: int) -> None:
        if self._is_over():
            return
        scan = await driver.scan(items, self._budget)
        self._found.stopped = self._found.stopped or scan.stopped
        deeper: list[str] = []
        for found in scan.found:
            if is_url(found.item):
                await self._unit(driver, found.item)
            elif (driver.url, found.item) not in self._seen:
                self._seen.add((driver.url, found.item))
                if not await self._take(driver, found) and found.item not in items:
                    deeper.append(found.item)
        for item in deeper if depth > 1 else ():
            try:
                await self._below(driver, [item], depth - 1)
            except ToolFault:
                continue

    async def _unit(self, driver: Driver, url: str) -> None:
        """Another device behind the same endpoint; the same one reached in another way is left out."""
        other = self._connect(url)
        if device_of(other.url) != device_of(driver.url) and other.url not in self._found.tags:
            await self.endpoint(other, (), is_first=False)

    async def _take(self, driver: Driver, found: Found) -> bool:
        """Read what was found; its tags are kept. False where there is nothing to read."""
        try:
            point = driver.point(found.item)
            readings = await driver.read([point]) if self._budget.spend() else []
        except ToolFault:
            return False
        good = [reading for reading in readings if reading.is_good]
        bad = next((reading for reading in readings if not reading.is_good), None)
        if bad and not self._found.unread:
            self._found.unread = f"{bad.point.address}: {bad.status}"
        name = found.fields.get("name", "")
        for number, reading in enumerate(good):
            one = f"{name} {number}" if name and len(good) > 1 else name
            self._found.tags[driver.url].append(NewTag(reading.point, one, _note(reading)))
        return bool(good)

    def _is_over(self) -> bool:
        full = f"{MOST_TAGS} tags are enough for one file" if self._found.count >= MOST_TAGS else ""
        self._found.stopped = self._found.stopped or self._budget.stopped or full
        return bool(self._budget.stopped or full)


def _note(reading: Reading) -> str:
    """What was read and what it may be, on one line."""
    value = spelled(reading.value)
    said = [value if len(value) <= 60 else f"{value[:60]}…", reading.where, *reading.more[:1]]
    return "; ".join(part for part in said if part)[:200]
