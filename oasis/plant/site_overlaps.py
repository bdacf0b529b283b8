"""Tags that write the same: the limits of one would not hold for what the other writes."""

from oasis.plant.driver import Driver
from oasis.plant.site import Tag
from oasis.plant.site_findings import Seen


def overlaps(seen: Seen, tag: Tag, driver: Driver | None, written: dict[tuple[str, str], Tag]) -> bool:
    """Whether the tag writes what a tag before it writes too, which is a fault; notes in `written` what it writes.

    `written` is by URL and cell, the smallest thing that a write changes.
    """
    if not tag.is_writable or driver is None:
        return False
    cells = driver.cells(tag.point) or {tag.point.address}
    other = next((found for cell in sorted(cells) if (found := written.get((tag.url, cell)))), None)
    if other is None:
        written.update({(tag.url, cell): tag for cell in cells})
        return False
    both = f"{tag.name} and {other.name} (line {other.line}) may both write"
    if tag.point.address == other.point.address:
        said = f"{both} {tag.point.address} of {tag.url}"
    else:
        said = (
            f"{both} a part of the same: {tag.point.address} and {other.point.address} of {tag.url} overlap, and the "
            "limits of one would not hold for the other"
        )
    seen.say(("tags", tag.name, "address"), said)
    return True
