"""Readings, scans, plans and writes as JSON objects (docs/plant.md). The fields are stable; new ones may be added."""

import json
from typing import Any

from oasis.core.sound import sound
from oasis.plant.driver import Found, Scan
from oasis.plant.packed import packed
from oasis.plant.plan import Plan
from oasis.plant.site import Site, Tag
from oasis.plant.values import Reading

VERSION = 1


def line(row: dict[str, Any]) -> str:
    """The object as one line of JSON that every reader takes for one line."""
    return sound(json.dumps(row, ensure_ascii=True, allow_nan=False))


def reading(url: str, read: Reading) -> dict[str, Any]:
    """One reading."""
    return {
        "url": url,
        "tag": read.point.name or None,
        "address": read.point.address,
        "value": packed(read.value),
        "unit": read.point.form.unit or None,
        "type": read.point.form.type or None,
        "order": read.point.form.order or None,
        "scale": read.point.form.scale,
        "offset": read.point.form.offset,
        "status": read.status,
        "raw": read.raw,
        "where": read.where,
        "at": read.at or None,
        "more": list(read.more),
    }


def found(what: Found) -> dict[str, Any]:
    """One thing that a scan found."""
    return {"kind": what.kind, "item": what.item, "fields": dict(what.fields), "more": list(what.more)}


def scan(url: str, done: Scan, requests: int) -> dict[str, Any]:
    """A scan. `stopped` is null when it is whole."""
    return {
        "v": VERSION,
        "url": url,
        "found": [found(what) for what in done.found],
        "notes": list(done.notes),
        "stopped": done.stopped or None,
        "requests": requests,
    }


def plan(made: Plan) -> dict[str, Any]:
    """A plan, before it is answered for."""
    return {
        "tag": made.tag.name,
        "url": made.tag.url,
        "address": made.tag.point.address,
        "unit": made.tag.point.form.unit or None,
        "before": packed(made.before.value),
        "after": packed(made.after),
        "limits": made.tag.limits,
        "wire": made.frame.wire.hex(),
        "device": made.identity or None,
        "token": made.token,
    }


def tag(site: Site, of: Tag) -> dict[str, Any]:
    """A tag of a site file. What the file does not say is null."""
    form = of.point.form
    return {
        "tag": of.name,
        "url": of.url,
        "address": of.point.address,
        "type": form.type or None,
        "order": form.order or None,
        "scale": form.scale,
        "offset": form.offset,
        "unit": form.unit or None,
        "write": of.is_writable,
        "min": of.min,
        "max": of.max,
        "max_step": of.max_step,
        "rate": of.rate,
        "values": [packed(choice) for choice in of.choices],
        "safe": packed(of.safe),
        "unattended": of.is_unattended,
        "identity": site.identities.get(of.url),
    }
