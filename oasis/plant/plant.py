"""What a session has of the plant: connections, the site file, the writer behind its only door."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from oasis.core.items import ToolCall
from oasis.core.rule import Allow, Decision
from oasis.core.tool import Preview, Risk, Tool
from oasis.errors import AuditFault, WriteRefused
from oasis.plant import safe_state, site_file
from oasis.plant.audit import Audit, audit_path
from oasis.plant.connections import Connections
from oasis.plant.pack import Pack
from oasis.plant.plan import Plan
from oasis.plant.site import Tag
from oasis.plant.tools import plant_tools
from oasis.plant.trail import Mark
from oasis.plant.writer import Writer
from oasis.plant.written import Written

MOST_TAGS = 200


class Plant:
    """The plant as one session sees it. `audits` is the folder of the audit files.

    Made with a site file it has a tool that writes; nothing can be written before `begin`, and `end` is to be called.
    """

    def __init__(self, packs: Sequence[Pack], words: Sequence[str], site: Path | None, audits: Path) -> None:
        self.connections = Connections(packs)
        self.site = site_file.load(site, self.connections.open) if site else None
        self.audit_path = audit_path(audits, self.site) if self.site else None
        self.is_attended = False
        self._writer: Writer | None = None
        self._safe: frozenset[str] = frozenset()
        self._is_denied = False
        self._note: Callable[[Mark], None] = lambda mark: None
        self.tags: Mapping[str, Tag] = self.site.tags if self.site else {}
        self.tools: tuple[Tool, ...] = plant_tools(self.connections, words, self.tags, self if self.site else None)

    def tags_notice(self, *, is_attended: bool) -> str:
        """What the model is told of the site file's tags; empty without one.

        That some are written without approval is so, and is told, only where nobody can be asked.
        """
        if not self.site:
            return ""
        tags = list(self.tags.values())
        more = [f"and {len(tags) - MOST_TAGS} more"] if len(tags) > MOST_TAGS else []
        told: list[str] = []
        url = ""
        for tag in tags[:MOST_TAGS]:
            told += [f"at {tag.url}"] if tag.url != url else []
            told.append(_told(tag, is_attended=is_attended))
            url = tag.url
        return "\n".join([f"Tags of the site file {self.site.name}, by endpoint:", *told, *more])

    def begin(self, session: str, note: Callable[[Mark], None], *, is_attended: bool) -> list[str]:
        """Open the audit for a session and say what there is to know; nothing without a site file.

        `note` is told how far the audit has come. Raises AuditFault for an audit that cannot be used. Safe values are
        approved by this where nobody is asked (those the site file marks so), by `approve_safe` where somebody is.
        """
        if self.site is None or self.audit_path is None:
            return []
        said = safe_state.left_behind(self.audit_path)
        self._writer = Writer(self.site, self.connections.open, Audit(self.audit_path, session))
        self._note, self.is_attended, self._is_denied = note, is_attended, False
        if not is_attended:
            self._safe = safe_state.approvable(self.site, is_attended=False)
        return said

    @property
    def safe_state(self) -> str:
        """What would be written at the end, to be approved at the start; empty where nothing would.

        Where a session began without a person, that is what the site file itself approves; where the person denied it,
        there is nothing.
        """
        is_decided = self._writer is not None and (self._is_denied or not self.is_attended)
        return safe_state.shown(self.site, self._safe if is_decided else None) if self.site else ""

    @property
    def safe_changes(self) -> str:
        """The tags of the site file that have a safe value, each with it: `pump → false, set_point → 60 degC`."""
        return safe_state.changes(self.site) if self.site else ""

    def approve_safe(self) -> None:
        """The engineer has seen `safe_state` and agrees."""
        if self.site:
            self._safe, self._is_denied = safe_state.approvable(self.site, is_attended=True), False

    def deny_safe(self) -> None:
        """The engineer has seen `safe_state` and does not agree: nothing is written at the end."""
        self._safe, self._is_denied = frozenset(), True

    async def plan(self, tag: str, value: object) -> Plan:
        """A plan to write; see Writer.plan."""
        writer = self._begun()
        try:
            return await writer.plan(tag, value)
        finally:
            self._note(writer.audit.mark)

    async def carry_out(self, token: str, by: str) -> Written:
        """Send an approved plan, once; see Writer.carry_out."""
        writer = self._begun()
        try:
            return await writer.carry_out(token, by)
        finally:
            self._note(writer.audit.mark)

    def unattended(self, tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        """The rule for writes that nobody is asked about: the site file's own, and only where nobody can be asked."""
        plan = self._writer.planned(preview.token) if self._writer else None
        if tool.risk is not Risk.ACTUATE or plan is None or self.is_attended:
            return None
        try:
            return Allow(plan.token, self._begun().unattended(plan))
        except WriteRefused:
            return None

    async def end(self) -> list[str]:
        """Leave the plant: safe values of what this session wrote, connections closed. Says what became of each."""
        said: list[str] = []
        try:
            if writer := self._writer:
                said = await safe_state.apply(writer, self._safe)
                writer.audit.close()
                self._note(writer.audit.mark)
        except AuditFault as fault:
            said.append(str(fault))
        finally:
            self._writer = None
            await self.connections.close()
        return said

    def _begun(self) -> Writer:
        if self._writer is None:
            raise WriteRefused("This session has no site file that allows writing; nothing was sent.")
        return self._writer


def _told(tag: Tag, *, is_attended: bool) -> str:
    unit = f", {tag.point.form.unit}" if tag.point.form.unit else ""
    who = " without approval" if tag.is_unattended and not is_attended else ""
    limits = f"; to be written{who}: {tag.limits}" if tag.is_writable else ""
    return f"{tag.name}: {tag.point.address}{unit}{limits}"
