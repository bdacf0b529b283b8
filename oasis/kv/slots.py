"""Leases: which session holds which slot of which server.

A lease belongs to a process; when that has died the slot is free. The order in which slots were last used is
counted, not timed, so that no clock can confuse it.
"""

import secrets
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from oasis.kv.chain import key_of_packed, unpacked
from oasis.kv.database import Database
from oasis.kv.owner import Owner, this_process

_KNOWN_SLOTS = 256
"""Rows kept, of all servers; those not used for longest go."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One slot of one server, held under the name `holder`.

    `taken_from`: the ids of another session that held it and has to be saved before the slot is used; empty where
    there is none.
    """

    server: str
    slot: int
    holder: str
    taken_from: tuple[int, ...] = ()


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
            taken_from = () if free else tuple(unpacked(rows[slot]["session"]))
            return Lease(self.server, slot, self._write(slot), taken_from)

    def take(self, slot: int) -> Lease | None:
        """This very slot, where nobody holds it."""
        with self._database.whole():
            row = next((row for row in self._rows() if row["slot"] == slot), None)
            if row is not None and self._is_held(row):
                return None
            return Lease(self.server, slot, self._write(slot))

    def begin(self, lease: Lease) -> bool:
        """Mark the slot as at work; False where another session has taken it since."""
        return bool(
            self._database.change(
                "UPDATE slot SET is_busy = 1, turn = (SELECT max(turn) FROM slot) + 1 "
                "WHERE server = ? AND slot = ? AND holder = ?",
                *(lease.server, lease.slot, lease.holder),
            )
        )

    def end(self, lease: Lease, session: bytes, held_tokens: int) -> None:
        """Mark the slot as idle. It holds so many tokens of the session, whose next prompt begins with all of it.

        `session`: packed ids.
        """
        key = key_of_packed(session[: held_tokens * 4])
        self._database.change(
            "UPDATE slot SET is_busy = 0, tokens = ?, key = ?, session = ? "
            "WHERE server = ? AND slot = ? AND holder = ?",
            *(held_tokens, key, session, lease.server, lease.slot, lease.holder),
        )

    def release(self, lease: Lease) -> None:
        """Give the slot back; what it holds stays known."""
        self._database.change(
            "UPDATE slot SET holder = '', pid = 0, is_busy = 0, session = x'' "
            "WHERE server = ? AND slot = ? AND holder = ?",
            *(lease.server, lease.slot, lease.holder),
        )

    def forget(self) -> None:
        """Remove the slots that nobody holds of a server that is about to end."""
        self._database.change("DELETE FROM slot WHERE server = ? AND holder = ''", self.server)

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

    def _write(self, slot: int) -> str:
        """Make this process the owner, under a new name; what the slot holds stays known."""
        holder = secrets.token_hex(8)
        self._database.change(
            "INSERT INTO slot (server, slot, holder, pid, pid_created, turn) VALUES "
            "(?, ?, ?, ?, ?, (SELECT ifnull(max(turn), 0) FROM slot) + 1) ON CONFLICT (server, slot) DO UPDATE SET "
            "holder = excluded.holder, pid = excluded.pid, pid_created = excluded.pid_created, is_busy = 0, "
            "turn = excluded.turn, session = x''",
            *(self.server, slot, holder, self._owner.pid, self._owner.created),
        )
        self._database.change(
            "DELETE FROM slot WHERE rowid NOT IN (SELECT rowid FROM slot ORDER BY turn DESC LIMIT ?)", _KNOWN_SLOTS
        )
        return holder
