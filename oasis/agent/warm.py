"""Having a project's files computed and saved ahead, so that its sessions begin after them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from pathlib import Path

from oasis.agent.assembly import Toolbox
from oasis.agent.notices import agents_files, first_notice
from oasis.core.items import User
from oasis.errors import KvFault
from oasis.kv.chain import Segment, Source, ids_of
from oasis.kv.fingerprint import file_sha256
from oasis.kv.worth import Kind
from oasis.models.connect import Connection

_DAYS = (date(2001, 1, 1), date(2038, 12, 31))
_TASKS = ("a", "Zur Sache: 7")
_MERGED_TOKENS = 2
"""Tokens before the place where two prompts part that may have been merged with what follows."""


@dataclass(frozen=True, slots=True)
class Warmed:
    """What is saved: tokens of the head, tokens of head and files, tokens computed for it."""

    head_tokens: int
    tokens: int
    computed_tokens: int
    files: tuple[str, ...]


async def warm(connection: Connection, project: Path, box: Toolbox, files: Sequence[str]) -> Warmed:
    """Save the head, and the state after the files that the first notice of this project begins with.

    Only what is the same for every day and task is saved. Raises KvFault where nothing was kept, and why was said.
    """
    kv, encoder = connection.kv, connection.model.encoder
    if kv is None:
        raise KvFault("This server has no slots that can be saved; nothing was warmed.")
    head = ids_of((await encoder.head(box.prefix)).wire)
    prompts = [head + await _opening(connection, project, box, files, n) for n in (0, 1)]
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*prompts, strict=False)))
    ids = prompts[0][: max(len(head), common - _MERGED_TOKENS)]
    if not await kv.open_head(head):
        raise KvFault("The head was not saved; nothing was warmed.")
    paths = [*agents_files(project), *(project / name for name in files)]
    if len(ids) > len(head):
        segments = [Segment(len(head)), *(Segment(len(ids), Source(str(p.resolve()), file_sha256(p))) for p in paths)]
        if not await kv.save(ids, Kind.FILES, segments):
            raise KvFault("The files were not saved; the head was.")
    return Warmed(len(head), len(ids), kv.take_prefilled().tokens, tuple(str(path) for path in paths))


async def _opening(connection: Connection, project: Path, box: Toolbox, files: Sequence[str], n: int) -> list[int]:
    """Ids of a session's first batch on one of two days with one of two tasks."""
    notice = first_notice(project, _DAYS[n], box.skills.lines_project(), files)
    chunk = await connection.model.encoder.batch(box.prefix, (), (notice, User(_TASKS[n])))
    return ids_of(chunk.wire)
