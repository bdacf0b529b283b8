"""The only way a value is written to the plant: planned, shown, approved once, sent once, read back, and recorded."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from oasis.errors import AuditFault, OasisError, WriteRefused
from oasis.plant.allowed import allowed_value, check_rate, check_site, check_step, former_value, writable_tag
from oasis.plant.as_planned import check_unmoved, identity_of
from oasis.plant.audit import Audit
from oasis.plant.audit_writes import KeptWrite, sent_to, writes_of
from oasis.plant.driver import Driver, Effect, Sent
from oasis.plant.locks import endpoint_held
from oasis.plant.plan import Plan, approve, seconds
from oasis.plant.readings import one_reading, reading_fault, value_before
from oasis.plant.recording import record_not_sent, record_outcome, record_read_back, recorded
from oasis.plant.sending import send_once
from oasis.plant.site import Site, Tag
from oasis.plant.site_file import changed
from oasis.plant.values import Reading, Value
from oasis.plant.waiting import Waiting, new_token
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
        self._waiting = Waiting()
        self._wrote: dict[str, None] = {}

    @property
    def wrote(self) -> tuple[str, ...]:
        """The tags that this session has written, or may have, in the order of their first write."""
        return tuple(self._wrote)

    def planned(self, token: str) -> Plan | None:
        """The plan that waits under this token; None where there is none, or no longer."""
        return self._waiting.get(token)

    async def plan(self, tag_name: str, value: object) -> Plan:
        """A plan to write `value`, also as text with the tag's unit; nothing is sent.

        Raises WriteRefused for what the site file does not allow.
        """
        tag = writable_tag(self.site, tag_name)
        return await self._planned(tag, allowed_value(tag, value))

    async def plan_safe(self, tag_name: str) -> Plan:
        """A plan for the tag's safe value. Limits hold; step and rate do not, since the way there is one write."""
        tag = writable_tag(self.site, tag_name)
        if tag.safe is None:
            raise WriteRefused(f"The site file gives {tag.name} no safe value; nothing was sent.")
        return await self._planned(tag, allowed_value(tag, tag.safe), SAFE)

    async def revert(self, audit_id: str) -> Plan:
        """A plan to write what a write found: `audit_id` is that write's token. Limits, step and rate hold."""
        tag, before = former_value(self.site, self._writes(), audit_id)
        return await self._planned(tag, allowed_value(tag, before), f"takes back {audit_id.strip()}")

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
        plan = self._waiting.claim(token)
        async with AsyncExitStack() as held:
            try:
                approved = approve(plan, token, by, self._clock())
                self.audit.add("approval", token=token, tag=plan.tag.name, by=by)
                await held.enter_async_context(endpoint_held(self._locks, plan.tag.url))
                driver = self._connect(plan.tag.url)
                await self._check_as_planned(driver, plan)
                self.audit.add("sending", token=token, tag=plan.tag.name, wire=plan.frame.wire.hex())
            except BaseException as fault:
                record_not_sent(self.audit, plan, fault)
                if isinstance(fault, AuditFault):
                    raise WriteRefused(str(fault)) from fault
                raise
            self._wrote.setdefault(plan.tag.name)
            self._waiting.void_others(plan)
            sent = await send_once(driver, approved, lambda sent: record_outcome(self.audit, plan, sent))
            return await self._read_back(driver, plan, sent)

    async def _planned(self, tag: Tag, after: Value, why: str = "") -> Plan:
        driver = self._connect(tag.url)
        identity = await identity_of(driver, tag, self.site)
        before = await value_before(driver, tag)
        writes = self._writes()
        if why != SAFE:
            check_step(tag, before.value, after)
            check_rate(writes, tag, before.value, after, self.audit.now)
        frame = await driver.encode(tag.point, after)
        token = new_token({write.token for write in writes})
        notes = notes_of(writes, tag, before)
        plan = Plan(token, tag, before, after, frame, identity, self._clock(), why, notes)
        try:
            self.audit.add("plan", **recorded(plan, self.site.digest))
        except AuditFault as fault:
            raise WriteRefused(str(fault)) from fault
        self._waiting.add(plan, sent_to(writes, tag))
        return plan

    def _writes(self) -> list[KeptWrite]:
        """What the audit has by now. Raises WriteRefused where it cannot be read or does not hold together."""
        try:
            return writes_of(self.audit.records())
        except AuditFault as fault:
            raise WriteRefused(str(fault)) from fault

    async def _check_as_planned(self, driver: Driver, plan: Plan) -> None:
        """Raise WriteRefused unless site file, device and value are still as the plan had them.

        The rate holds too, since whatever was sent to the tag in between voids the plan.
        """
        check_site(self.site)
        await check_unmoved(driver, plan, self.site)
        if sent_to(self._writes(), plan.tag) != self._waiting.sent_before(plan):
            raise WriteRefused(
                f"Another session wrote {plan.tag.name} since this was planned; nothing was sent. Plan the write again."
            )

    async def _read_back(self, driver: Driver, plan: Plan, sent: Sent) -> Written:
        """Read the tag after the write, record it, and say what became of the plan."""
        if sent.effect is Effect.NOT_SENT:
            words = f"Not sent: {plan.title}. {sent.words}"
            return Written(sent.effect, words, plan.before.value, plan.after, None, plan)
        try:
            reading = await one_reading(driver, plan.tag)
        except OasisError as fault:
            reading = Reading(plan.tag.point, None, reading_fault(fault))
        record_read_back(self.audit, plan, reading)
        return Written(sent.effect, words_of(plan, sent, reading), plan.before.value, plan.after, reading.value, plan)
