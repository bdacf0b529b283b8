"""The only way a value is written to the plant: planned, shown, approved once, sent once, read back, and recorded."""

import math
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from oasis.errors import AuditFault, OasisError, ToolFault, WriteRefused
from oasis.plant.audit import Audit, packed
from oasis.plant.audit_writes import KeptWrite, changed_within_a_minute, recorded, sent_to, writes_of
from oasis.plant.driver import Driver, Effect, Sent
from oasis.plant.limits import beyond_limits, beyond_step, canonical, change, same
from oasis.plant.locks import endpoint_held
from oasis.plant.plan import Plan, approve, seconds
from oasis.plant.readings import has_moved, one_line, one_reading, reading_fault, value_before
from oasis.plant.sending import send_once
from oasis.plant.site import Site, Tag
from oasis.plant.site_file import changed
from oasis.plant.site_findings import near
from oasis.plant.values import Reading, Value, spelled
from oasis.plant.written import Written, notes_of, words_of

UNATTENDED = "the site file (unattended)"
"""Who answers for a write that nobody is asked about."""
SAFE = "safe state"
"""Why a safe value is written."""


class Writer:
    """Plans and carries out writes to the tags of one site, for one session.

    `connect` gives the driver for a URL; `clock` gives seconds and never goes back; `locks` is the folder of the locks
    that all sessions of this machine share. Every refusal is a WriteRefused, and means that nothing was sent.
    """

    def __init__(
        self,
        site: Site,
        connect: Callable[[str], Driver],
        audit: Audit,
        clock: Callable[[], float] = seconds,
        locks: Path | None = None,
    ) -> None:
        self.site = site
        self.audit = audit
        self._connect = connect
        self._clock = clock
        self._locks = locks or audit.path.parent / "locks"
        self._plans: dict[str, Plan] = {}
        self._void: dict[str, str] = {}
        self._sent_before: dict[str, int] = {}
        self._wrote: dict[str, None] = {}

    @property
    def wrote(self) -> tuple[str, ...]:
        """The tags that this session has written, or may have, in the order of their first write."""
        return tuple(self._wrote)

    def planned(self, token: str) -> Plan | None:
        """The plan that waits under this token; None where there is none, or no longer."""
        return self._plans.get(token)

    async def plan(self, tag_name: str, value: object) -> Plan:
        """A plan to write `value`; nothing is sent. Raises WriteRefused for what the site file does not allow."""
        tag = self._tag(tag_name)
        return await self._planned(tag, self._value(tag, value))

    async def plan_safe(self, tag_name: str) -> Plan:
        """A plan for the tag's safe value. Limits hold; step and rate do not, since the way there is one write."""
        tag = self._tag(tag_name)
        if tag.safe is None:
            raise WriteRefused(f"The site file gives {tag.name} no safe value; nothing was sent.")
        return await self._planned(tag, self._value(tag, tag.safe), SAFE)

    async def revert(self, audit_id: str) -> Plan:
        """A plan to write what a write found: `audit_id` is that write's token. Limits, step and rate hold."""
        writes = self._writes()
        found = [write for write in writes if write.token == audit_id.strip() and write.is_sent]
        if not found:
            sent = [write.token for write in writes if write.is_sent][-5:]
            last = f"The last writes are {', '.join(sent)}." if sent else "Nothing has been written yet."
            raise WriteRefused(f"The audit has no write {spelled(audit_id[:40])}. {last} Nothing was sent.")
        (write,) = found
        tag = self.site.tags.get(write.tag)
        if tag is None or not write.is_of(tag) or tag.point.form != write.form:
            raise WriteRefused(
                f"{write.tag}, which {write.token} wrote, is no longer {write.address} of {write.url} with the same "
                "type, scale and unit in the site file; nothing was sent. Look at what it is now, and plan a write."
            )
        if write.before is None:
            raise WriteRefused(f"The audit does not say what {write.tag} was before {write.token}; nothing was sent.")
        tag = self._tag(tag.name)
        return await self._planned(tag, self._value(tag, write.before), f"takes back {write.token}")

    def unattended(self, plan: Plan) -> str:
        """Who answers for the plan when nobody can be asked. Raises WriteRefused unless the site file does."""
        if changed(self.site) or not plan.tag.is_unattended or self.site.tags.get(plan.tag.name) != plan.tag:
            raise WriteRefused(
                f"{plan.tag.name} is written with a person's approval only, and this write would go without one; "
                "nothing was sent. Run Oasis at a terminal (`oasis plant write` without --yes) and approve it there, "
                "or let whoever answers for the plant set `unattended = true` in the site file."
            )
        return UNATTENDED

    async def carry_out(self, token: str, by: str) -> Written:
        """Send an approved plan, once, and read back. `by` says who approved it.

        Raises WriteRefused when it is void by now, AuditFault when it was sent and how it ended cannot be recorded.
        Whatever happens, it is void afterwards.
        """
        plan = self._claimed(token)
        async with AsyncExitStack() as held:
            try:
                approved = approve(plan, token, by, self._clock())
                self.audit.add("approval", token=token, tag=plan.tag.name, by=by)
                await held.enter_async_context(endpoint_held(self._locks, plan.tag.url))
                driver = self._connect(plan.tag.url)
                await self._check_unmoved(driver, plan)
                self.audit.add("sending", token=token, tag=plan.tag.name, wire=plan.frame.wire.hex())
            except BaseException as fault:
                self._record_not_sent(plan, fault)
                if isinstance(fault, AuditFault):
                    raise WriteRefused(str(fault)) from fault
                raise
            self._note_sending(plan)
            sent = await send_once(driver, approved, lambda sent: self._record_outcome(plan, sent))
            return await self._read_back(driver, plan, sent)

    async def _planned(self, tag: Tag, after: Value, why: str = "") -> Plan:
        driver = self._connect(tag.url)
        identity = await self._identity(driver, tag)
        before = await value_before(driver, tag)
        writes = self._writes()
        if why != SAFE:
            _check_step(tag, before.value, after)
            self._check_rate(writes, tag, before.value, after)
        frame = await driver.encode(tag.point, after)
        token = _token({write.token for write in writes})
        notes = notes_of(writes, tag, before)
        plan = Plan(token, tag, before, after, frame, identity, self._clock(), why, notes)
        try:
            self.audit.add("plan", **recorded(plan, self.site.digest))
        except AuditFault as fault:
            raise WriteRefused(str(fault)) from fault
        self._plans[token] = plan
        self._sent_before[token] = sent_to(writes, tag)
        return plan

    def _writes(self) -> list[KeptWrite]:
        """What the audit has by now. Raises WriteRefused where it cannot be read or does not hold together."""
        try:
            return writes_of(self.audit.records())
        except AuditFault as fault:
            raise WriteRefused(str(fault)) from fault

    def _tag(self, name: str) -> Tag:
        self._check_site()
        tag = self.site.tags.get(name)
        if tag is None:
            raise WriteRefused(
                f"The site file has no tag {spelled(name[:64])}; nothing was sent. {near(name, self.site.tags)}"
            )
        if not tag.is_writable:
            raise WriteRefused(
                f"{name} is not to be written: the site file does not say `write = true`. Nothing was sent."
            )
        return tag

    def _check_site(self) -> None:
        if why := changed(self.site):
            raise WriteRefused(
                f"{why} What it allows now was not read, so nothing was sent. Start a new session with "
                "the file as it is."
            )

    def _value(self, tag: Tag, value: object) -> Value:
        try:
            after = canonical(tag.point.form, value)
        except ValueError as fault:
            raise WriteRefused(f"{tag.name} was not written: {fault}. Nothing was sent.") from fault
        if why := beyond_limits(tag, after):
            raise WriteRefused(f"{tag.name} may not be written to {spelled(after)}: {why}. Nothing was sent.")
        return after

    def _check_rate(self, writes: list[KeptWrite], tag: Tag, before: Value | None, after: Value) -> None:
        if tag.rate is None:
            return
        now = self.audit.now
        done, first = changed_within_a_minute(writes, tag, now)
        total = done + (change(before, after) or 0.0)
        if total <= tag.rate * (1 + 1e-9):
            return
        unit = f" {tag.point.form.unit}".rstrip()
        wait_s = max(1, math.ceil(60 - (now - first).total_seconds())) if first else 60
        when = f"Wait {wait_s} s." if done else "Write a smaller change."
        raise WriteRefused(
            f"{tag.name} was changed by {spelled(done)}{unit} within the last minute; with this it would be "
            f"{spelled(total)}{unit}, and {spelled(tag.rate)}{unit} a minute are allowed. Nothing was sent. {when}"
        )

    async def _identity(self, driver: Driver, tag: Tag) -> str:
        """What the device says it is. Raises WriteRefused where the site file expects another.

        Some devices are silent to the question rather than refusing it; whether one is there is seen by reading.
        """
        silent = ""
        try:
            said = one_line(await driver.identity())
        except ToolFault as fault:
            said, silent = "", f" ({one_line(str(fault))})"
        expected = self.site.identities.get(tag.url, said)
        if said != expected:
            says = f"says it is {spelled(said)}" if said else f"does not say what it is{silent}"
            raise WriteRefused(
                f"The device at {tag.url} {says}, and the site file expects {spelled(expected)}; nothing was "
                "sent. Find out which device is connected."
            )
        return said

    def _claimed(self, token: str) -> Plan:
        """The plan of a token, which is used up by this."""
        plan = self._plans.pop(token, None)
        if plan is None:
            why = self._void.get(token, "no write was planned with it in this session")
            raise WriteRefused(
                f"The token {spelled(token[:40])} is void: {why}. Nothing was sent; plan the write again."
            )
        self._void[token] = "it has been used, and a plan is carried out once"
        return plan

    async def _check_unmoved(self, driver: Driver, plan: Plan) -> None:
        """Raise WriteRefused unless site file, device and value are still as the plan had them.

        The rate holds too, since whatever was sent to the tag in between voids the plan.
        """
        self._check_site()
        tag = plan.tag
        said = await self._identity(driver, tag)
        if said != plan.identity:
            raise WriteRefused(
                f"The device at {tag.url} was {spelled(plan.identity)} when the write was planned and is "
                f"{spelled(said)} now; nothing was sent. Find out which device is connected, then plan the write again."
            )
        now = await value_before(driver, tag)
        if has_moved(plan.before, now):
            raise WriteRefused(
                f"{tag.name} was {spelled(plan.before.value)} when the write was planned and is {spelled(now.value)} "
                "now: something else changes it. Nothing was sent. Plan the write again."
            )
        if sent_to(self._writes(), tag) != self._sent_before[plan.token]:
            raise WriteRefused(
                f"Another session wrote {tag.name} since this was planned; nothing was sent. Plan the write again."
            )

    def _note_sending(self, plan: Plan) -> None:
        """From here on the tag counts as written, and what was planned for it before is void."""
        self._wrote.setdefault(plan.tag.name)
        place = (plan.tag.url, plan.tag.point.address)
        for token, other in list(self._plans.items()):
            if (other.tag.url, other.tag.point.address) == place:
                del self._plans[token]
                self._void[token] = f"{other.tag.name} was written since it was planned"

    def _record_outcome(self, plan: Plan, sent: Sent) -> None:
        try:
            self.audit.add(
                "outcome",
                token=plan.token,
                tag=plan.tag.name,
                effect=str(sent.effect),
                words=sent.words,
                reply=sent.reply.hex(),
            )
        except AuditFault as fault:
            raise AuditFault(
                f"{plan.title} was sent, and its outcome ({sent.effect}: {sent.words}) is not in the audit. {fault}"
            ) from fault

    def _record_not_sent(self, plan: Plan, fault: BaseException) -> None:
        words = str(fault) if isinstance(fault, OasisError) else "it was interrupted before anything was sent"
        with suppress(AuditFault):
            self.audit.add("outcome", token=plan.token, tag=plan.tag.name, effect=str(Effect.NOT_SENT), words=words)

    async def _read_back(self, driver: Driver, plan: Plan, sent: Sent) -> Written:
        """Read the tag after the write, record it, and say what became of the plan."""
        if sent.effect is Effect.NOT_SENT:
            return Written(
                sent.effect, f"Not sent: {plan.title}. {sent.words}", plan.before.value, plan.after, None, plan
            )
        try:
            reading = await one_reading(driver, plan.tag)
        except OasisError as fault:
            reading = Reading(plan.tag.point, None, reading_fault(fault))
        self.audit.add(
            "read back",
            token=plan.token,
            tag=plan.tag.name,
            value=packed(reading.value),
            raw=reading.raw,
            status=reading.status,
            is_as_written=same(plan.tag.point.form, reading.value, plan.after),
        )
        return Written(sent.effect, words_of(plan, sent, reading), plan.before.value, plan.after, reading.value, plan)


def _check_step(tag: Tag, before: Value | None, after: Value) -> None:
    if why := beyond_step(tag, before, after):
        raise WriteRefused(f"{tag.name} may not be written to {spelled(after)} at once: {why}. Nothing was sent.")


def _token(used: set[str]) -> str:
    while (token := secrets.token_hex(4)) in used:
        pass
    return token
