"""What is read around a write: the tag's value before and after, and what the device says it is."""

import hashlib
import re

from oasis.errors import OasisError, WriteRefused
from oasis.plant.driver import Driver
from oasis.plant.site import Tag
from oasis.plant.values import Reading

_MOST_IDENTITY = 200
_NOT_SENT = re.compile(r"[;,] (?:so )?nothing was sent|\s*Nothing was sent\.")


async def one_reading(driver: Driver, tag: Tag) -> Reading:
    """The tag's one reading. Raises WriteRefused where there are several."""
    readings = await driver.read([tag.point])
    if len(readings) != 1:
        raise WriteRefused(
            f"{tag.name} is {len(readings)} values ({tag.point.address}), and a tag to write is one. Nothing was sent. "
            "Give each its own tag in the site file."
        )
    return readings[0]


def reading_fault(fault: OasisError) -> str:
    """Why a value could not be read back. That "nothing was sent" is of the reading, and a write was."""
    return _NOT_SENT.sub("", str(fault)).strip()


async def value_before(driver: Driver, tag: Tag) -> Reading:
    """The tag's value before a write. Raises WriteRefused where there is none."""
    reading = await one_reading(driver, tag)
    if not reading.is_good:
        raise WriteRefused(
            f"{tag.name} cannot be read ({reading.status}), so neither the change nor its outcome could be checked. "
            "Nothing was sent."
        )
    return reading


def has_moved(then: Reading, now: Reading) -> bool:
    """Is the value another? To the last bit: what is written by this session alone does not move by itself."""
    if then.raw and now.raw:
        return then.raw != now.raw
    return then.value != now.value


def one_line(identity: str) -> str:
    """What a device says it is, as one line that forges no other; a long one is cut and ends in its digest."""
    plain = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in identity)
    if len(plain) <= _MOST_IDENTITY:
        return plain
    return f"{plain[:_MOST_IDENTITY]}… (SHA-256 {hashlib.sha256(plain.encode()).hexdigest()[:16]})"
