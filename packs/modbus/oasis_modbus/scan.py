"""What is there: the units of a gateway, or what one unit is and holds."""

from collections.abc import Sequence

from oasis.plant.driver import Budget, Found, Scan
from oasis.plant.values import spelled
from oasis_modbus import grammar, identify, sunspec, sunspec_items, sunspec_model
from oasis_modbus.faults import LinkFault
from oasis_modbus.ranges import Ranges, Search
from oasis_modbus.reader import Reader
from oasis_modbus.tables import TABLES
from oasis_modbus.units import Refused

_SHARES = {"holding": 0.45, "input": 0.6, "discrete": 0.5, "coil": 1.0}
"""How much of the requests that are left each table may take, in this order: what one leaves goes to the next."""
_LEAST_SHARE = 8


async def scan_unit(reader: Reader, items: Sequence[str], budget: Budget) -> Scan:
    """Identity, SunSpec models and readable ranges of one unit; with items the ranges within them only.

    Raises ToolFault where the unit does not answer at all.
    """
    if items:
        return await _within(reader, items, budget)
    found: list[Found] = []
    notes: list[str] = []
    stops: list[str] = []
    found += await _identity(reader, budget)
    try:
        models, words = await _models(reader, budget)
        found += models
        notes += words
    except LinkFault as fault:
        if not found:
            raise
        stops.append(f"sunspec: {fault}")
    for name, share in _SHARES.items():
        left = budget.requests - budget.spent
        ranges = await Search(reader, TABLES[name], budget, max(_LEAST_SHARE, int(left * share))).anywhere()
        found += _ranges(ranges)
        notes += _said(ranges)
        stops += [f"{name}: {ranges.why}"] if ranges.why and not ranges.is_absent else []
    notes.append(
        "Addresses were looked for where maps usually begin, and from there outwards; others may exist. "
        "An item such as 'holding 0-999' searches a range whole."
    )
    return Scan(tuple(found), tuple(notes), "; ".join(dict.fromkeys(stops)))


async def _within(reader: Reader, items: Sequence[str], budget: Budget) -> Scan:
    found: list[Found] = []
    notes: list[str] = []
    stopped = ""
    for item in items:
        made = sunspec_items.point(item)
        if made:
            models, words = await _models(reader, budget)
            found += models
            notes += words or ([] if models else ["There is no SunSpec mark: it is no SunSpec device."])
            continue
        place = grammar.place(grammar.point(f"{item} 0-999" if grammar.is_table(item) else item))
        ranges = await Search(reader, place.table, budget, budget.requests).within(place.first, place.last)
        found += _ranges(ranges)
        notes += _said(ranges)
        if ranges.unresolved and not ranges.is_absent:
            spans = ", ".join(f"{low}-{high}" for low, high in sorted(ranges.unresolved)[:10])
            every = f"addresses {ranges.stride} apart were looked at" if ranges.stride else "whole blocks only"
            stopped = stopped or f"{ranges.why}; not resolved ({every}): {place.table.name} {spans}"
    return Scan(tuple(found), tuple(notes), stopped)


async def _identity(reader: Reader, budget: Budget) -> list[Found]:
    """What function 43 says, as one find; none where it has none. Raises LinkFault where it is silent to all."""
    if not budget.spend():
        return []
    link = reader.unit.link
    before = link.requests
    try:
        said = await identify.objects(reader.unit, identify.REGULAR) or await identify.objects(reader.unit)
    except Refused as refused:
        return [Found("identity", "", {"why not": str(refused)})]
    except LinkFault:
        await _is_there(reader, budget)
        return []
    finally:
        budget.spent += max(0, link.requests - before - 1)
    fields = {identify.NAMES.get(n, f"object {n}"): spelled(text) for n, text in sorted(said.items()) if text}
    return [Found("identity", "function 43", fields)] if fields else []


async def _is_there(reader: Reader, budget: Budget) -> None:
    """Some devices are silent to functions they do not have. Raises LinkFault for one that is silent to all."""
    if budget.spend():
        try:
            await reader.unit.values(TABLES["holding"], 0, 1)
        except Refused:
            return


async def _models(reader: Reader, budget: Budget) -> tuple[list[Found], list[str]]:
    models, why = await sunspec.chain(reader.unit, budget.spend)
    found = [
        Found("sunspec", placed.item, {"model": str(placed.id), "name": placed.name, "length": str(placed.length)})
        for placed in models
    ]
    if models and models[0].id == sunspec_model.COMMON.id and budget.spend():
        said = await sunspec_items.common_of(reader.unit, models[0])
        fields = {**found[0].fields, **{name: spelled(text) for name, text in said.items()}}
        found[0] = Found("sunspec", models[0].item, fields)
    return found, [f"The SunSpec chain is not whole: {why}."] if why else []


def _ranges(ranges: Ranges) -> list[Found]:
    """Each readable range, with what documents call it."""
    table = ranges.table
    return [
        Found(
            "range",
            f"{table.name} {low}-{high}",
            {"count": str(high - low + 1), "at": table.place(low, high - low + 1)},
        )
        for low, high in ranges.readable
    ]


def _said(ranges: Ranges) -> list[str]:
    name = ranges.table.name
    if ranges.is_absent:
        return [f"no {ranges.table.words}: the device does not offer function {ranges.table.function:02d}"]
    said: list[str] = []
    if ranges.goes_on:
        last = ranges.readable[-1][1]
        said.append(f"{name}: reads on after {last}; '{name} {last + 1}-{last + 1000}' as item follows it further.")
    if ranges.silences and ranges.readable:
        said.append(
            f"{name}: silent to {ranges.silences} requests, and it answered others: taken as no such addresses."
        )
    return said or ([] if ranges.readable else [f"{name}: nothing reads where it was looked for."])
