"""Leaving the plant safe: at a session's end, only the tags it wrote, and only as it was approved at its start.

It is no substitute for a hardware emergency stop: it needs the network, the device and this process.
"""

from collections.abc import Collection, Iterable
from pathlib import Path

from oasis.core.chain import Record
from oasis.errors import AuditFault, OasisError
from oasis.plant.audit import is_running, read_records
from oasis.plant.audit_writes import KeptWrite, writes_of
from oasis.plant.driver import Effect
from oasis.plant.limits import same
from oasis.plant.site import Site, Tag
from oasis.plant.values import spelled
from oasis.plant.writer import Writer

BY = "safe state, approved when the session began"


def shown(site: Site, among: Collection[str] | None = None) -> str:
    """What would be written at the end, to be approved at the start; empty where nothing would.

    `among` are the tags approved already, where nobody can be asked.
    """
    tags = [tag for tag in _safe(site) if among is None or tag.name in among]
    if not tags:
        return ""
    lines = [f"  {tag.name} → {_value(tag)}  ({tag.point.address} of {tag.url})" for tag in tags]
    return "\n".join(
        [
            "When the session ends or is interrupted, those of these tags that it wrote are set to:",
            *lines,
            "After a crash nothing is sent. This is no substitute for a hardware emergency stop.",
        ]
    )


def changes(site: Site) -> str:
    """The tags with a safe value, each with it, on one line."""
    return ", ".join(f"{tag.name} → {_value(tag)}" for tag in _safe(site))


def approvable(site: Site, *, is_attended: bool) -> frozenset[str]:
    """The tags that may be set at the end: where nobody can be asked, those that the site file marks unattended."""
    return frozenset(tag.name for tag in _safe(site) if is_attended or tag.is_unattended)


async def apply(writer: Writer, approved: Collection[str]) -> list[str]:
    """Set each approved tag that this session wrote to its safe value, each once; what became of each, in words.

    One that fails does not keep the others from being set.
    """
    said: list[str] = []
    for tag in _safe(writer.site):
        if tag.name not in writer.wrote:
            continue
        if tag.name not in approved:
            said.append(f"{tag.name} is left as it is: its safe value {_value(tag)} was not approved.")
            continue
        said.append(await _set(writer, tag))
    return said


async def _set(writer: Writer, tag: Tag) -> str:
    try:
        plan = await writer.plan_safe(tag.name)
        if not plan.notes and same(tag.point.form, plan.before.value, tag.safe):
            return f"{tag.name} is safe already: it reads {_value(tag)}."
        return f"Safe state. {(await writer.carry_out(plan.token, BY)).words}"
    except AuditFault as fault:
        return f"{tag.name} was not set to its safe value {_value(tag)}, or it is not recorded: {fault}"
    except OasisError as fault:
        return f"{tag.name} was NOT set to its safe value {_value(tag)}: {fault} See to it by hand."


def left_behind(audit_path: Path) -> list[str]:
    """What sessions that ended without an end line (a crash, `kill -9`) left in the plant, a line for each tag.

    Sessions that still run are left out, as are those before a session that ended as it should: what they left was said
    when that one began. Raises AuditFault for an audit that cannot be read; nothing written yet leaves nothing.
    """
    if not audit_path.exists():
        return []
    records = read_records(audit_path)
    lost = _lost(records)
    last: dict[tuple[str, str], KeptWrite] = {}
    for write in writes_of(records):
        if write.may_have_acted:
            last[write.url, write.address] = write
    return [_left(write) for write in last.values() if write.session in lost]


def _lost(records: Iterable[Record]) -> set[str]:
    """The sessions that began after the last good end, or since, and neither ended nor run."""
    open_sessions: dict[str, Record] = {}
    for record in records:
        session = str(record.get("session", ""))
        if record.get("kind") == "session":
            open_sessions.pop(session, None)
            open_sessions[session] = record
        elif record.get("kind") == "end" and session in open_sessions:
            earlier = list(open_sessions)[: list(open_sessions).index(session) + 1]
            for name in earlier:
                if name == session or not is_running(open_sessions[name]):
                    del open_sessions[name]
    return {name for name, record in open_sessions.items() if not is_running(record)}


def _left(write: KeptWrite) -> str:
    unit = f" {write.form.unit}".rstrip()
    place = f"{write.tag} ({write.address} of {write.url})"
    change = f"{write.spelled(write.before)} → {write.spelled(write.after)}{unit} at {write.sent_at}"
    who = f"Session {write.session} did not end as it should"
    if write.effect is Effect.UNKNOWN:
        return f"{who}: whether {place} was written, {change}, is UNKNOWN. Look at the plant."
    now = "not read back" if write.read_back is None else f"read back as {write.spelled(write.read_back)}{unit}"
    return f"{who}: {place} was written, {change}, and {now}."


def _safe(site: Site) -> list[Tag]:
    return [tag for tag in site.tags.values() if tag.safe is not None]


def _value(tag: Tag) -> str:
    return f"{spelled(tag.safe)} {tag.point.form.unit}".rstrip()
