"""Packs: found by entry point, their tools registered after all others."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from oasis.core.front_matter import split
from oasis.core.pack import Pack
from oasis.core.tool import Tool
from oasis.errors import ConfigError

GROUP = "oasis.packs"


def find_packs() -> dict[str, Pack]:
    """Every installed pack by name, in order of names. Raises ConfigError for one that cannot be loaded."""
    return {entry.name: _loaded(entry) for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)}


def pack_tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of the chosen packs, packs in order of names whatever the order of `names`.

    A pack's skill lines stand at the end of its last tool's description. Raises ConfigError for an unknown pack.
    """
    return tuple(tool for pack in _chosen(names) for tool in _with_skill_lines(pack))


def pack_skills(names: Sequence[str]) -> tuple[Path, ...]:
    """The folders with the chosen packs' skills, in order of names."""
    return tuple(Path(str(pack.skills)) for pack in _chosen(names) if pack.skills.is_dir())


def _chosen(names: Sequence[str]) -> list[Pack]:
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if unknown := sorted(set(names) - set(entries)):
        raise ConfigError(
            f"There is no pack {unknown[0]!r}. Installed are: {', '.join(sorted(entries)) or 'none'}. "
            "Install it, or take its name out of `packs`."
        )
    return [_loaded(entries[name]) for name in sorted(set(names))]


def _loaded(entry: EntryPoint) -> Pack:
    try:
        pack = entry.load()
    except (ImportError, AttributeError) as fault:
        raise ConfigError(f"The pack {entry.name!r} cannot be loaded: {fault}. Install it again.") from fault
    if not isinstance(pack, Pack):
        raise ConfigError(f"The pack {entry.name!r} is no pack: {entry.value} is a {type(pack).__name__}.")
    return pack


def _with_skill_lines(pack: Pack) -> list[Tool]:
    tools = list(pack.tools())
    lines = _skill_lines(pack)
    if tools and lines:
        spec = tools[-1].spec
        described = replace(spec, description="\n".join([spec.description, *lines]))
        tools[-1] = replace(tools[-1], spec=described)
    return tools


def _skill_lines(pack: Pack) -> list[str]:
    """`name: description` of each of the pack's skills, by name."""
    if not pack.skills.is_dir():
        return []
    lines: list[str] = []
    for folder in sorted(pack.skills.iterdir(), key=lambda f: f.name):
        file = folder / "SKILL.md"
        if file.is_file():
            front, _ = split(file.read_text(encoding="utf-8"))
            lines.append(f"skill {front['name']}: {' '.join(str(front['description']).split())}")
    return lines
