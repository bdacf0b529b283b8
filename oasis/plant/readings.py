"""A tag's value before and after a write."""

from oasis.errors import WriteRefused
from oasis.plant.driver import Driver
from oasis.plant.site import Tag
from oasis.plant.values import Reading


async def one_reading(driver: Driver, tag: Tag) -> Reading:
    """The tag's one reading. Raises WriteRefused where there are several."""
    readings = await driver.read([tag.point])
    if len(readings) != 1:
        raise WriteRefused(
            f"{tag.name} is {len(readings)} values ({tag.point.address}), and a tag to write is one. Nothing was sent. "
            "Give each its own tag in the site file."
        )
    return readings[0]


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
