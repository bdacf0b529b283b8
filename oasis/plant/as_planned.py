"""Is the plant still as a plan has it? The device the same, the value untouched, nobody else writing."""

from oasis.errors import ToolFault, WriteRefused
from oasis.plant.driver import Driver
from oasis.plant.plan import Plan
from oasis.plant.readings import has_moved, one_line, value_before
from oasis.plant.site import Site, Tag
from oasis.plant.values import spelled


async def identity_of(driver: Driver, tag: Tag, site: Site) -> str:
    """What the device says it is. Raises WriteRefused where the site file expects another.

    Some devices are silent to the question rather than refusing it; whether one is there is seen by reading.
    """
    silent = ""
    try:
        said = one_line(await driver.identity())
    except ToolFault as fault:
        said, silent = "", f" ({one_line(str(fault))})"
    expected = site.identities.get(tag.url, said)
    if said != expected:
        says = f"says it is {spelled(said)}" if said else f"does not say what it is{silent}"
        raise WriteRefused(
            f"The device at {tag.url} {says}, and the site file expects {spelled(expected)}; nothing was "
            "sent. Find out which device is connected."
        )
    return said


async def check_unmoved(driver: Driver, plan: Plan, site: Site) -> None:
    """Raise WriteRefused unless device and value are still as the plan had them."""
    tag = plan.tag
    said = await identity_of(driver, tag, site)
    if said != plan.identity:
        raise WriteRefused(
            f"The device at {tag.url} was {spelled(plan.identity)} when the write was planned and is "
            f"{spelled(said)} now; nothing was sent. Find out which device is connected, then plan the write again."
        )
    now = await value_before(driver, tag)
    if has_moved(plan.before, now):
        raise WriteRefused(
            f"{tag.name} was {spelled(plan.before.value)} when the write was planned and is {spelled(now.value)} "
            "now: something else changes it. Nothing was sent. Plan the write again."
        )
