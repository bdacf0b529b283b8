"""What the site file allows, asked of a write that is being planned. Every refusal means that nothing was sent."""

import math
from collections.abc import Sequence
from datetime import datetime

from oasis.errors import WriteRefused
from oasis.plant.audit_writes import KeptWrite, changed_within_a_minute
from oasis.plant.limits import beyond_limits, beyond_step, canonical, change, meant
from oasis.plant.site import Site, Tag
from oasis.plant.site_file import changed
from oasis.plant.site_findings import near
from oasis.plant.values import Value, spelled


def check_site(site: Site) -> None:
    """Raise WriteRefused where the file on disk is no longer the one that the session began with."""
    if why := changed(site):
        raise WriteRefused(
            f"{why} What it allows now was not read, so nothing was sent. Start a new session with the file as it is."
        )


def writable_tag(site: Site, name: str) -> Tag:
    """The tag of that name. Raises WriteRefused where there is none, or it is not to be written."""
    check_site(site)
    tag = site.tags.get(name)
    if tag is None:
        raise WriteRefused(f"The site file has no tag {spelled(name[:64])}; nothing was sent. {near(name, site.tags)}")
    if not tag.is_writable:
        raise WriteRefused(f"{name} is not to be written: the site file does not say `write = true`. Nothing was sent.")
    return tag


def allowed_value(tag: Tag, value: object) -> Value:
    """The value as the device would hold it. Raises WriteRefused for one that it cannot hold or may not have."""
    try:
        after = canonical(tag.point.form, meant(tag.point.form, value))
    except ValueError as fault:
        raise WriteRefused(f"{tag.name} was not written: {fault}. Nothing was sent.") from fault
    if why := beyond_limits(tag, after):
        raise WriteRefused(f"{tag.name} may not be written to {spelled(after)}: {why}. Nothing was sent.")
    return after


def check_step(tag: Tag, before: Value | None, after: Value) -> None:
    """Raise WriteRefused for a change that is larger than one write may make."""
    if why := beyond_step(tag, before, after):
        raise WriteRefused(f"{tag.name} may not be written to {spelled(after)} at once: {why}. Nothing was sent.")


def check_rate(writes: Sequence[KeptWrite], tag: Tag, before: Value | None, after: Value, now: datetime) -> None:
    """Raise WriteRefused where this change and those of the last minute, `writes`, are more than the tag's rate."""
    if tag.rate is None:
        return
    done, first = changed_within_a_minute(writes, tag, now)
    total = done + (change(before, after) or 0.0)
    if total <= tag.rate * (1 + 1e-9):
        return
    unit = f" {tag.point.form.unit}".rstrip()
    wait_s = max(1, math.ceil(60 - (now - first).total_seconds())) if first else 60
    when = f"Wait {wait_s} s." if done else "Write a smaller change."
    raise WriteRefused(
        f"{tag.name} was changed by {spelled(done)}{unit} within the last minute; with this it would be "
        f"{spelled(total)}{unit}, and {spelled(tag.rate)}{unit} a minute are allowed. Nothing was sent. {when}"
    )


def former_value(site: Site, writes: Sequence[KeptWrite], audit_id: str) -> tuple[Tag, Value]:
    """The tag that a write in the audit wrote, whatever it is called now, and what the write found there.

    Raises WriteRefused where that is not known.
    """
    sent = [write for write in writes if write.is_sent]
    write = next((write for write in sent if write.token == audit_id.strip()), None)
    if write is None:
        last = (
            f"The last writes are {', '.join(w.token for w in sent[-5:])}." if sent else "Nothing has been written yet."
        )
        raise WriteRefused(f"The audit has no write {spelled(audit_id[:40])}. {last} Nothing was sent.")
    same = [tag for tag in site.tags.values() if write.is_of(tag) and tag.point.form == write.form]
    tag = next((tag for tag in same if tag.is_writable), next(iter(same), None))
    if tag is None:
        raise WriteRefused(
            f"{write.tag}, which {write.token} wrote, is no longer {write.address} of {write.url} with the same "
            "type, scale and unit in the site file; nothing was sent. Look at what it is now, and plan a write."
        )
    if write.before is None:
        raise WriteRefused(f"The audit does not say what {write.tag} was before {write.token}; nothing was sent.")
    return writable_tag(site, tag.name), write.before
