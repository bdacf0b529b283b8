"""A write's lines in the audit: the plan whole, how it ended, and what was read afterwards (docs/audit.md)."""

from contextlib import suppress

from oasis.errors import AuditFault, OasisError
from oasis.plant.audit import Audit
from oasis.plant.driver import Effect, Sent
from oasis.plant.limits import same
from oasis.plant.packed import packed
from oasis.plant.plan import Plan
from oasis.plant.values import Reading


def recorded(plan: Plan, site_digest: str) -> dict[str, object]:
    """The plan as its audit line has it."""
    tag, form = plan.tag, plan.tag.point.form
    return {
        "token": plan.token,
        "tag": tag.name,
        "url": tag.url,
        "address": tag.point.address,
        "type": form.type,
        "order": form.order,
        "scale": form.scale,
        "offset": form.offset,
        "unit": form.unit,
        "before": packed(plan.before.value),
        "before_raw": plan.before.raw,
        "after": packed(plan.after),
        "wire": plan.frame.wire.hex(),
        "frame": plan.frame.words,
        "identity": plan.identity,
        "limits": tag.limits,
        "why": plan.why,
        "notes": list(plan.notes),
        "site": site_digest,
    }


def record_outcome(audit: Audit, plan: Plan, sent: Sent) -> None:
    """How a write that was sent ended. Raises AuditFault, which says it too, where it cannot be recorded."""
    fields = {"effect": str(sent.effect), "words": sent.words, "reply": sent.reply.hex()}
    try:
        audit.add("outcome", token=plan.token, tag=plan.tag.name, **fields)
    except AuditFault as fault:
        raise AuditFault(
            f"{plan.title} was sent, and its outcome ({sent.effect}: {sent.words}) is not in the audit. {fault}"
        ) from fault


def record_not_sent(audit: Audit, plan: Plan, fault: BaseException) -> None:
    """Why a plan was not sent, where that can be recorded."""
    words = str(fault) if isinstance(fault, OasisError) else "it was interrupted before anything was sent"
    with suppress(AuditFault):
        audit.add("outcome", token=plan.token, tag=plan.tag.name, effect=str(Effect.NOT_SENT), words=words)


def record_read_back(audit: Audit, plan: Plan, reading: Reading) -> None:
    """What the tag reads after the write. Raises AuditFault."""
    audit.add(
        "read back",
        token=plan.token,
        tag=plan.tag.name,
        value=packed(reading.value),
        raw=reading.raw,
        status=reading.status,
        is_as_written=same(plan.tag.point.form, reading.value, plan.after),
    )
