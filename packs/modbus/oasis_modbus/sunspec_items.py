"""Items that begin with `sunspec`: a device's models read by their definitions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from oasis.errors import ToolFault
from oasis.plant.values import Form, Point, Reading
from oasis_modbus import sunspec, sunspec_model
from oasis_modbus.sunspec import Placed
from oasis_modbus.sunspec_model import COMMON, Model
from oasis_modbus.units import Refused, Unit

WORD = "sunspec"
_FORMS = "Write: sunspec (the models, and who the device is) or sunspec FILE (a model's JSON definition)."


def point(text: str) -> Point | None:
    """The point of a `sunspec` item; None for other items. The file is read, so that one that is none is refused."""
    word, _, path = text.strip().partition(" ")
    if word.lower() != WORD:
        return None
    if path.strip():
        sunspec_model.load(Path(path.strip()))
        return Point(f"{WORD} {path.strip()}", Form())
    return Point(WORD, Form())


def is_one(of: Point) -> bool:
    return of.address.split(" ", 1)[0] == WORD


async def read(unit: Unit, of: Point) -> list[Reading]:
    """The readings of a model; for `sunspec` alone of model 1, and where the others are.

    Raises ToolFault where the device has no SunSpec chain or not that model, LinkFault.
    """
    path = of.address.partition(" ")[2]
    models, why = await sunspec.chain(unit, lambda: True)
    if not models:
        at = ", ".join(str(base) for base in sunspec.BASES)
        raise ToolFault(f"Unit {unit.number} has no SunSpec mark at holding {at}: it is no SunSpec device. {_FORMS}")
    model = sunspec_model.load(Path(path)) if path else COMMON
    placed = [found for found in models if found.id == model.id]
    if not placed:
        raise ToolFault(f"The device has no model {model.id} ({model.name}); it has {_listed(models)}.")
    made = [reading for found in placed for reading in await _model(unit, model, found)]
    if not path:
        note = f"models: {_listed(models)}" + (f"; the chain is broken: {why}" if why else "")
        made[0] = Reading(made[0].point, made[0].value, made[0].status, made[0].raw, made[0].where, more=(note,))
    return made


async def common(unit: Unit) -> Mapping[str, str]:
    """What model 1 says of the device, by point name (Mn, Md, Vr, SN); empty where there is none. Raises LinkFault."""
    models, _ = await sunspec.chain(unit, lambda: True)
    return await common_of(unit, models[0]) if models and models[0].id == COMMON.id else {}


async def common_of(unit: Unit, placed: Placed) -> dict[str, str]:
    """The texts of model 1 where it is known to be."""
    return {r.point.name: r.value for r in await _model(unit, COMMON, placed) if isinstance(r.value, str)}


async def _model(unit: Unit, model: Model, placed: Placed) -> list[Reading]:
    try:
        words = await sunspec.block(unit, placed)
    except Refused as refused:
        raise ToolFault(f"Model {placed.id} at {placed.item} does not read: {refused}.") from refused
    return sunspec_model.readings(model, placed, words)


def _listed(models: Sequence[Placed]) -> str:
    return ", ".join(f"{m.id} {m.name or 'of unknown name'} ({m.item})" for m in models)
