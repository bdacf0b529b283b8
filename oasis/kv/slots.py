"""Leases: which session holds which slot of which server.

A lease belongs to a process; when that has died the slot is free. The order in which slots were last used is
counted, not timed, so that no clock can confuse it.
"""

import secrets
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from oasis.kv.database import Database
from oasis.kv.owner import Owner, this_process


@dataclass(frozen=True, slots=True)
class Lease:
    """One slot of one server, held under the name `holder`. `held_tokens` are those its last holder left in it.

    `is_taken`: another session held it and has to be saved before the slot is used.
    """

    server: str
    slot: int
    holder: str
    held_tokens: int = 0
    is_taken: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """What a slot held when its holder last used it: so many tokens, with that key."""

    slot: int
    tokens: int
    key: str


class Slots:
    """The leases of one server (its URL)."""

    def __init__(self, database: Database, server: str) -> None:
        self._database = database
        self.server = server
        self._owner = this_process()

    def lease(
        self, slots: Collection[int], busy: Collection[int] = (), loss: dict[int, int] | None = None
    ) -> Lease | None:
        """A slot of `slots` that nobody holds, else the one that was idle longest; None where all are at work.

        `busy` are those at work now, whoever has them; `loss` the tokens each holds: of the free ones that with the
        fewest is taken.
        """
        loss = loss or {}
        with self._database.whole():
            rows = {row["slot"]: row for row in self._rows()}
            open_slots = [slot for slot in slots if slot not in busy]
            free = [slot for slot in open_slots if slot not in rows or not self._is_held(rows[slot])]
            idle = [slot for slot in open_slots if slot in rows and slot not in free and not rows[slot]["is_busy"]]
            if free:
                slot = min(free, key=lambda s: (loss.get(s, 0), s))
            elif idle:
                slot = min(idle, key=lambda s: (rows[s]["turn"], s))
            else:
                return None
            holder, tokens = secrets.token_hex(8), rows[slot]["tokens"] if slot in rows else 0
            self._write(slot, holder, tokens, rows[slot]["key"] if slot in rows else "")
        return Lease(self.server, slot, holder, tokens, is_taken=not free)

    def take(self, slot: int) -> Lease | None:
        """This very slot, where nobody holds it."""
        with self._database.whole():
            row = next((row for row in self._rows() if row["slot"] == slot), None)
            if row is not None and self._is_held(row):
                return None
            holder, tokens = secrets.token_hex(8), row["tokens"] if row else 0
            self._write(slot, holder, tokens, row["key"] if row else "")
        return Lease(self.server, slot, holder, tokens)

    def begin(self, lease: Lease) -> bool:
        """Mark the slot as at work; False where another session has taken it since."""
        return bool(
            self._database.change(
                "UPDATE slot SET is_busy = 1, turn = (SELECT max(turn) FROM slot) + 1 "
                "WHERE server = ? AND slot = ? AND holder = ?",
                *(lease.server, lease.slot, lease.holder),
            )
        )

    def end(self, lease: Lease, tokens: int | None = None, key: str = "") -> None:
        """Mark the slot as idle, and what it holds where that changed."""
        what, values = (", tokens = ?, key = ?", (tokens, key)) if tokens is not None else ("", ())
        self._database.change(
            f"UPDATE slot SET is_busy = 0{what} WHERE server = ? AND slot = ? AND holder = ?",  # noqa: S608 (no text from outside)
            *(*values, lease.server, lease.slot, lease.holder),
        )

    def release(self, lease: Lease) -> None:
        """Give the slot back; what it holds stays known."""
        self._database.change(
            "UPDATE slot SET holder = '', pid = 0, is_busy = 0 WHERE server = ? AND slot = ? AND holder = ?",
            *(lease.server, lease.slot, lease.holder),
        )

    def forget(self) -> None:
        """Remove all of a server that has ended."""
        self._database.change("DELETE FROM slot WHERE server = ?", self.server)

    def free_with(self) -> list[Held]:
        """What the slots that nobody holds were left with, the longest first."""
        held = [Held(row["slot"], row["tokens"], row["key"]) for row in self._rows() if not self._is_held(row)]
        return sorted((h for h in held if h.tokens), key=lambda h: -h.tokens)

    def _is_held(self, row: sqlite3.Row) -> bool:
        if not row["holder"]:
            return False
        owner = Owner(row["pid"], row["pid_created"])
        return owner == self._owner or owner.is_alive

    def _rows(self) -> list[sqlite3.Row]:
        return self._database.rows("SELECT * FROM slot WHERE server = ? ORDER BY slot", self.server)

    def _write(self, slot: int, holder: str, tokens: int, key: str) -> None:
        self._database.change(
            "REPLACE INTO slot (server, slot, holder, pid, pid_created, is_busy, turn, tokens, key) VALUES "
            "(?, ?, ?, ?, ?, 0, (SELECT ifnull(max(turn), 0) FROM slot) + 1, ?, ?)",
            *(self.server, slot, holder, self._owner.pid, self._owner.created, tokens, key),
        )
