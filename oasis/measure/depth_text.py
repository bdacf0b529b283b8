"""The depth benchmark's result as text."""

from collections.abc import Iterator, Sequence

from oasis.measure.depth import Depth
from oasis.measure.ledger import Ledger, Row

SHOWN_STEPS = (1, 11, 40, 60)
_SHOWN_DEVIATIONS = 8
_TITLES = {
    "tokens": "Oasis, token lane",
    "chat": "Oasis, chat lane",
    "clock": "habit: a clock line in the system prompt",
    "dropped": "habit: reasoning is not sent back",
    "pruned": "habit: old tool outputs are pruned",
}
_HEADER = f"{'':>14}{'presented':>11}{'cached':>11}{'computed':>11}{'new':>11}{'prefill ms':>12}"


def lines(depth: Depth) -> Iterator[str]:
    """The report, a line at a time."""
    checkpoints = "with" if depth.plan.has_checkpoints else "without"
    size = f"{len(depth.job.steps)} steps in {depth.job.turns} turns"
    yield f"{depth.plan.engine}, {checkpoints} context checkpoints: {size}."
    yield f"Shortened: {depth.job.shortened or 'nothing'}."
    yield "Computed is the server's prompt_n. New counts each item once; generated tokens are decoded, not prefilled."
    for ledger in depth.ledgers:
        yield ""
        yield from _lane(ledger)
    yield ""
    yield f"{'lane':<10}{'amplification':>14}{'computed':>12}{'new':>10}{'prefill s':>11}"
    for ledger in depth.ledgers:
        prefill_s = sum(row.prefill_ms for row in ledger.rows) / 1000
        yield (
            f"{ledger.name:<10}{ledger.amplification:>14.4f}{ledger.computed:>12,}{ledger.new:>10,}{prefill_s:>11.1f}"
        )
    if depth.faults:
        yield ""
        yield "The recorder disagrees:"
        yield from (f"  {fault}" for fault in depth.faults)
    else:
        yield "A recorder between client and engine counted the same."


def _lane(ledger: Ledger) -> Iterator[str]:
    yield f"{ledger.name}: {_TITLES[ledger.name]}"
    yield _HEADER
    last = ledger.rows[-1].step
    for row in ledger.rows:
        if row.step in SHOWN_STEPS or row.step == last:
            yield _row(f"step {row.step}", row)
    for name, row in ledger.after.items():
        yield _row(name, row) + f"   excess {row.excess:+,}"
    yield _row("total", _total(ledger.rows))
    yield f"  amplification {ledger.amplification:.4f}"
    deviations = ledger.deviations()
    if not deviations:
        yield "  every step computed exactly its new tokens"
    for deviation in deviations[:_SHOWN_DEVIATIONS]:
        yield f"  {deviation}"
    if len(deviations) > _SHOWN_DEVIATIONS:
        yield f"  and {len(deviations) - _SHOWN_DEVIATIONS} more steps (--json lists them)"
    yield from (f"  {note}" for note in ledger.notes)


def _row(name: str, row: Row) -> str:
    figures = (row.presented, row.cached, row.computed, row.new)
    return f"{name:>14}" + "".join(f"{figure:>11,}" for figure in figures) + f"{row.prefill_ms:>12,.0f}"


def _total(rows: Sequence[Row]) -> Row:
    fields = (f for f in Row.__dataclass_fields__ if f != "step")
    return Row(step=rows[-1].step, **{name: sum(getattr(row, name) for row in rows) for name in fields})
