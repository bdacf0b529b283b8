"""A first site file, made from endpoints and points: everything in it is only read."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oasis.plant.values import Point

_HEAD = """\
# A site file: what the tags of a plant are, and what may be written. What is not in it is not written.
# `oasis plant site check FILE` explains what is wrong with it, line by line.
#
# To let a tag be written, add to its table (numbers are in its unit):
#   write = true
#   min = 20.0
#   max = 90.0
#   max_step = 5.0      # the most that one write may change it
#   rate = 10.0         # the most that all writes may change it within a minute; optional
#   safe = 60.0         # what it is set to when a session that wrote it ends; optional
#   unattended = false  # true: written without a person's approval
"""
_MOST_NAME = 56


@dataclass(frozen=True, slots=True)
class NewTag:
    """A point with what it may be called and what is known of it; both may come from a device, and are data."""

    point: Point
    name: str = ""
    note: str = ""


def skeleton(name: str, groups: Mapping[str, Sequence[NewTag]], identities: Mapping[str, str] | None = None) -> str:
    """A site file with these endpoints by URL, and a tag that is only read for each point."""
    parts = [_HEAD, f"[site]\nname = {_toml(name)}\n"]
    taken: set[str] = set()
    for number, (url, tags) in enumerate(groups.items(), 1):
        endpoint = f"device_{number}"
        identity = (identities or {}).get(url, "")
        said = f"identity = {_toml(identity)}\n" if identity else ""
        parts.append(f"[endpoints.{endpoint}]\nurl = {_toml(url)}\n{said}")
        once = {(tag.point.address, tag.point.form): tag for tag in tags}
        parts.extend(_tag(endpoint, tag, taken) for tag in once.values())
    return "\n".join(parts)


def _tag(endpoint: str, tag: NewTag, taken: set[str]) -> str:
    form = tag.point.form
    keys: dict[str, object] = {"endpoint": endpoint, "address": tag.point.address}
    keys |= {key: getattr(form, key) for key in ("type", "order", "unit") if getattr(form, key)}
    keys |= {"scale": form.scale} if form.scale != 1.0 else {}
    keys |= {"offset": form.offset} if form.offset != 0.0 else {}
    lines = [f"{key} = {_toml(what)}" for key, what in keys.items()]
    note = "".join(char if char.isprintable() else " " for char in tag.note)
    head = [f"# {note}"] if note else []
    return "\n".join([*head, f"[tags.{_name(tag.name or tag.point.address, taken)}]", *lines, ""])


def _name(text: str, taken: set[str]) -> str:
    """A tag's name made from a text, another than those `taken`, upper and lower case being the same."""
    slug = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower()
    base = (slug if slug[:1].isalpha() else f"tag_{slug}".rstrip("_"))[:_MOST_NAME]
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _toml(value: object) -> str:
    """A number or a text, as TOML has it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
