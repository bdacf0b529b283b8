"""Packs: found by entry point; what they add to the head stands after all other tools."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from oasis.core.front_matter import split
from oasis.errors import ConfigError
from oasis.plant.pack import Pack

GROUP = "oasis.packs"


def find_packs() -> dict[str, Pack]:
    """Every installed pack by name, in order of names. Raises ConfigError for one that cannot be loaded."""
    return {entry.name: _loaded(entry) for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)}


def chosen_packs(names: Sequence[str]) -> tuple[Pack, ...]:
    """The packs of these names, in their own order whatever that of `names`. Raises ConfigError for an unknown one."""
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if unknown := sorted(set(names) - set(entries)):
        raise ConfigError(
            f"There is no pack {unknown[0]!r}. Installed are: {', '.join(sorted(entries)) or 'none'}. "
            "Install it, or take its name out of `packs`."
        )
    return tuple(_loaded(entries[name]) for name in sorted(set(names)))


def pack_words(packs: Sequence[Pack]) -> tuple[str, ...]:
    """What the packs add to the head: how each one's URLs and items are written, and a line for each of its skills."""
    return tuple(line for pack in packs for line in (pack.words.strip(), *_skill_lines(pack)))


def pack_skills(packs: Sequence[Pack]) -> tuple[Path, ...]:
    """The folders with the packs' skills."""
    return tuple(Path(str(pack.skills)) for pack in packs if pack.skills.is_dir())


def _loaded(entry: EntryPoint) -> Pack:
    try:
        pack = entry.load()
    except (ImportError, AttributeError) as fault:
        raise ConfigError(f"The pack {entry.name!r} cannot be loaded: {fault}. Install it again.") from fault
    if not isinstance(pack, Pack):
        raise ConfigError(f"The pack {entry.name!r} is no pack: {entry.value} is a {type(pack).__name__}.")
    return pack


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
