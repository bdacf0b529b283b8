"""Tags that write the same: the limits of one would not hold for what the other writes."""

from oasis.plant.site import Tag
from oasis.plant.site_endpoints import Endpoint
from oasis.plant.site_findings import Seen


class WrittenCells:
    """What the tags so far write, by device and cell, the smallest thing that a write changes."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._tags: dict[tuple[str, str], Tag] = {}

    def overlaps(self, tag: Tag, endpoint: Endpoint) -> bool:
        """Whether the tag writes what a tag before it writes too, which is a fault; notes what it writes."""
        if not tag.is_writable:
            return False
        cells = [(endpoint.device, cell) for cell in endpoint.driver.cells(tag.point) or {tag.point.address}]
        other = next((found for cell in sorted(cells) if (found := self._tags.get(cell))), None)
        if other is None:
            self._tags.update(dict.fromkeys(cells, tag))
            return False
        self._seen.say(("tags", tag.name, "address"), _words(tag, other))
        return True


def _words(tag: Tag, other: Tag) -> str:
    both = f"{tag.name} and {other.name} (line {other.line}) may both write"
    one = tag.point.address
    if (one, tag.url) == (other.point.address, other.url):
        return f"{both} {one} of {tag.url}"
    two = f"{other.point.address}{'' if other.url == tag.url else f' of {other.url}, which is the same device,'}"
    return (
        f"{both} a part of the same: {one} of {tag.url} and {two} overlap, and the limits of one would not hold for "
        "the other"
    )
