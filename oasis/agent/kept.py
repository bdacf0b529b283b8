"""What a session file holds, read back."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oasis.agent import records
from oasis.core.chain import Record, read
from oasis.core.items import Item
from oasis.core.prefix import Prefix
from oasis.core.tool import ToolSpec
from oasis.core.transcript import Chunk
from oasis.core.usage import Usage
from oasis.errors import SessionFault


@dataclass
class Kept:
    """What a session file held: its first record, the last epoch, that epoch's entries in order, and warnings.

    The first `seeded` entries were kept from the epoch before; `earlier` holds the items of the epochs before.
    """

    about: dict[str, Any]
    epoch: dict[str, Any] = field(default_factory=dict[str, Any])
    entries: list[Item | Chunk] = field(default_factory=list[Item | Chunk])
    seeded: int = 0
    earlier: list[list[Item]] = field(default_factory=list[list[Item]])
    started: set[str] = field(default_factory=set[str])
    usage: Usage = field(default_factory=Usage)
    last_usage: Usage | None = None
    new_tokens: int = 0
    steps: int = 0
    turns: int = 0
    site_digest: str = ""
    chain: str = ""
    needs_newline: bool = False
    warnings: list[str] = field(default_factory=list[str])

    @property
    def items(self) -> list[Item]:
        return [entry for entry in self.entries if not isinstance(entry, Chunk)]

    def prefix(self) -> Prefix:
        """The prefix this epoch was sent with."""
        functions = [tool["function"] for tool in self.epoch["tools"]]
        specs = tuple(ToolSpec(f["name"], f["description"], f["parameters"]) for f in functions)
        return Prefix(self.epoch["system"], specs)


def load(path: Path, *, to_show: bool = False) -> Kept:
    """Read a session file. A cut line is a warning; one that does not follow from the line before is a SessionFault.

    `to_show`: only to be read by a person, so a changed line is a warning too.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SessionFault(f"The session file {path} was not read: {error.strerror}.") from error
    kept: Kept | None = None
    for number, (record, chain, is_linked) in enumerate(read(line for line in raw.split(b"\n") if line), 1):
        if record is None:
            if kept:
                kept.warnings.append(f"Line {number} of the session file was cut; everything before it is kept.")
            continue
        if not is_linked:
            said = f"Line {number} of {path.name} does not follow from the line before it: the file was changed. "
            if not (to_show and kept):
                show = f"Read it with `oasis sessions show {path.stem}`, and start a new session."
                raise SessionFault(f"{said}Nothing is sent from it. {show}")
            kept.warnings.append(said)
        try:
            kept = _take(kept, record)
        except (KeyError, TypeError, ValueError) as error:
            raise SessionFault(
                f"Line {number} of {path.name} is no record of this version of Oasis: {error}."
            ) from error
        kept.chain = chain
    if kept is None or not kept.epoch:
        raise SessionFault(f"{path.name} holds no session: its first records are missing. Start a new one.")
    kept.needs_newline = not raw.endswith(b"\n")
    return kept


def _take(kept: Kept | None, record: Record) -> Kept:
    if kept is None:
        if record["kind"] != "session" or record["version"] != records.VERSION:
            raise ValueError("it does not begin with a session record")
        return Kept(record)
    match record["kind"]:
        case "epoch":
            _take_epoch(kept, record)
        case "start":
            kept.started.add(record["call_id"])
        case "step":
            usage = Usage(**record["usage"])
            kept.usage += usage
            kept.last_usage = kept.last_usage if record.get("aside") else usage
            kept.new_tokens += record["new_tokens"] or 0
            kept.steps += 1
        case "turn":
            kept.turns += 1
        case "site":
            kept.site_digest = record["digest"]
        case _:
            entry = records.to_entry(record)
            if entry is not None:
                kept.entries.append(entry)
    return kept


def _take_epoch(kept: Kept, record: Record) -> None:
    """Go over to a new epoch. All it begins with is in its one record, so a cut leaves the one before it."""
    seed = [entry for inner in record.get("seed", ()) if (entry := records.to_entry(inner)) is not None]
    if kept.epoch:
        asked = [item for inner in record.get("asked", ()) if (item := records.to_item(inner)) is not None]
        kept.earlier.append([*kept.items, *asked])
    kept.epoch, kept.entries, kept.seeded, kept.last_usage = record, seed, len(seed), None
