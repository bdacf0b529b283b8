"""A session: a transcript and the file that keeps it.

The file is append-only JSON lines, fsynced one by one, hash-chained, locked against a second process.
A tool's start is a line of its own before it runs, so that a call without an output is known to be *unknown*
after a crash and is not run again.
"""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from oasis.agent import records
from oasis.agent.kept import Kept, load
from oasis.core.chain import Record, link, start
from oasis.core.events import Compacted, as_json
from oasis.core.items import Assistant, Item, NewItem, Status, ToolCall, ToolOutput
from oasis.core.prefix import Prefix
from oasis.core.transcript import Chunk, Request, Transcript
from oasis.core.usage import Usage
from oasis.errors import SessionFault
from oasis.models.base import Model

_ABOUT_EPOCH = ("kind", "epoch", "reason", "model", "lane", "system", "tools")


class Session:
    """An open session. Use `create` or `resume`; close it, or use it in a `with` block."""

    def __init__(self, path: Path, lock: FileLock, transcript: Transcript, chain: str) -> None:
        self.path = path
        self.transcript = transcript
        self.usage = Usage()
        self.last_usage: Usage | None = None
        self.new_tokens = 0
        self.steps = 0
        self.turns = 0
        self.site_digest = ""
        self._lock = lock
        self._chain = chain
        self._file = path.open("ab")
        self._about: Record = {}
        self._written_chunks = len(transcript.chunks)

    @property
    def id(self) -> str:
        return self.path.stem

    @property
    def is_finished(self) -> bool:
        """Is there nothing to do until the user says more?"""
        last = self.transcript.items[-1:]
        return not last or (isinstance(last[0], Assistant) and not last[0].calls)

    @classmethod
    def create(cls, folder: Path, prefix: Prefix, model: Model, project: Path, now: datetime) -> Self:
        """Start a session in a new file of `folder` (mode 0600)."""
        path = folder / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = locked(path)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise SessionFault(
                f"A session file cannot be made in {folder}: {error.strerror}. A run without its session is not begun. "
                "Make the folder writable, or set XDG_STATE_HOME to one that is."
            ) from error
        session = cls(path, lock, Transcript(prefix, model.encoder), start())
        about = {"kind": "session", "version": records.VERSION, "id": path.stem, "created": now.isoformat()}
        session._write({**about, "project": str(project)})
        session._begin(0, "start", prefix, model)
        return session

    @classmethod
    def resume(cls, path: Path, model: Model) -> tuple[Self, Kept]:
        """Open a session again with the model it was held with.

        Calls without an output get one: *unknown* when they were started, *cancelled* when they were not.
        Raises SessionFault when another process holds it, the file is damaged, or the model is another one.
        """
        lock = locked(path)
        try:
            kept = load(path)
            if kept.epoch["model"] != model.identity:
                raise SessionFault(
                    f"Session {path.stem} was held with {kept.epoch['model']}, this is {model.identity}: its tokens "
                    "mean nothing here. Connect the model it was held with, or start a new session."
                )
            transcript = Transcript(kept.prefix(), model.encoder, kept.epoch["epoch"])
            for number, entry in enumerate(kept.entries):
                if isinstance(entry, Chunk):
                    transcript.seal(entry)
                else:
                    transcript.keep(entry) if number < kept.seeded else transcript.append(entry)
            session = cls(path, lock, transcript, kept.chain)
        except BaseException:
            lock.release()
            raise
        session.usage, session.last_usage, session.new_tokens = kept.usage, kept.last_usage, kept.new_tokens
        session.steps, session.turns, session.site_digest = kept.steps, kept.turns, kept.site_digest
        session._about = {key: value for key, value in kept.epoch.items() if key in _ABOUT_EPOCH}
        if kept.needs_newline:
            session._file.write(b"\n")
        for output in _missing_outputs(kept):
            session.append(output)
        return session, kept

    def append(self, item: Item) -> None:
        """Append to the transcript and to the file. Text that cannot be written as UTF-8 is mended first."""
        item = records.sound_item(item)
        self.transcript.append(item)
        self._write(records.of_item(item))
        self._written_chunks += isinstance(item, Assistant)

    async def request(self) -> Request:
        """The next request; what it encoded anew is written before it is given."""
        request = await self.transcript.request()
        for chunk in request.chunks[self._written_chunks :]:
            self._write(records.of_chunk(chunk))
        self._written_chunks = len(request.chunks)
        return request

    async def next_epoch(
        self, reason: str, seed: Sequence[Item], asked: Sequence[Item], prefix: Prefix | None = None
    ) -> None:
        """Go on in a new epoch that begins with `seed`; `asked`: what was said to make its summary.

        `prefix`: another head than so far, where tools changed.

        One record holds all of it: whatever happens, the file holds the old epoch or the new one whole.
        """
        transcript = await self.transcript.next_epoch([records.sound_item(item) for item in seed], prefix)
        tools = [json.loads(tool.wire) for tool in transcript.prefix.tools]
        self._about = {**self._about, "system": transcript.prefix.system, "tools": tools}
        record = {**self._about, "epoch": transcript.epoch, "reason": reason}
        said = [records.of_item(records.sound_item(item)) for item in asked]
        self._write({**record, "asked": said, "seed": records.of_epoch(transcript)})
        self.transcript, self.last_usage = transcript, None
        self._written_chunks = len(transcript.chunks)

    async def change_model(self, model: Model, prefix: Prefix, seed: Sequence[NewItem]) -> None:
        """Go on in a new epoch with another model, or another head; all of its prompt is new. One record, as above."""
        transcript = Transcript(prefix, model.encoder)
        transcript.seal(await model.encoder.head(prefix))
        transcript.epoch = self.transcript.epoch + 1
        for item in seed:
            transcript.append(records.sound_item(item))  # pyright: ignore[reportArgumentType]
        self._about = _about(transcript.epoch, "model", prefix, model)
        self._write({**self._about, "asked": [], "seed": records.of_epoch(transcript)})
        self.transcript, self.last_usage = transcript, None
        self._written_chunks = len(transcript.chunks)

    def note_compaction(self, event: Compacted) -> None:
        """Write what a compaction cost."""
        record = as_json(event)
        self._write({"kind": record.pop("event"), **record})

    def note_site(self, path: Path, digest: str) -> None:
        """Write which site file the session is held to: `digest` is the SHA-256 of its bytes, in hex."""
        self.site_digest = digest
        self._write({"kind": "site", "path": str(path), "digest": digest})

    def note_audit(self, path: Path, count: int, digest: str) -> None:
        """Write how far the audit file has come: so many lines, and the chain after the last one."""
        self._write({"kind": "audit", "path": str(path), "count": count, "digest": digest})

    def start_call(self, call: ToolCall) -> None:
        """Write that a tool is about to run."""
        self._write({"kind": "start", "call_id": call.id, "name": call.name})

    def finish_step(self, usage: Usage, new_tokens: int | None, *, is_aside: bool = False) -> None:
        """Book what a step cost. `is_aside`: it answered a branch of the transcript, so it measures no prompt of it."""
        self.usage += usage
        self.last_usage = self.last_usage if is_aside else usage
        self.new_tokens += new_tokens or 0
        self.steps += 1
        aside = {"aside": True} if is_aside else {}
        self._write({"kind": "step", "usage": asdict(usage), "new_tokens": new_tokens, **aside})

    def finish_turn(self, reason: str) -> None:
        self.turns += 1
        self._write({"kind": "turn", "reason": reason})

    def close(self) -> None:
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, epoch: int, reason: str, prefix: Prefix, model: Model) -> None:
        self._about = _about(epoch, reason, prefix, model)
        self._write(self._about)

    def _write(self, record: Record) -> None:
        line, chain = link(self._chain, record)
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise SessionFault(
                f"The session file {self.path} could not be written: {error.strerror}. "
                "What is in it is kept; nothing more was sent. Make room, then resume it."
            ) from error
        self._chain = chain


def _about(epoch: int, reason: str, prefix: Prefix, model: Model) -> Record:
    tools = [json.loads(tool.wire) for tool in prefix.tools]
    about = {"kind": "epoch", "epoch": epoch, "reason": reason, "model": model.identity, "lane": model.lane}
    return {**about, "system": prefix.system, "tools": tools}


def locked(path: Path) -> FileLock:
    """Hold a session. Raises SessionFault while another process does."""
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise SessionFault(
            f"Session {path.stem} is open in another Oasis. Close that one, or start a new session."
        ) from error
    return lock


def _missing_outputs(kept: Kept) -> Sequence[ToolOutput]:
    last = next((i for i in reversed(kept.items) if isinstance(i, Assistant)), None)
    answered = {i.call_id for i in kept.items if isinstance(i, ToolOutput)}
    outputs: list[ToolOutput] = []
    for call in last.calls if last else ():
        if call.id in answered:
            continue
        if call.id in kept.started:
            text = (
                "Oasis stopped while this ran. Whether it took effect is unknown, and it may still be running; "
                "it was not run again. Check before repeating it."
            )
            outputs.append(ToolOutput(call.id, call.name, text, Status.UNKNOWN))
        else:
            outputs.append(ToolOutput(call.id, call.name, "Oasis stopped before this was run.", Status.CANCELLED))
    return outputs
