"""SunSpec models and published inverter maps: served by a real server, read back point by point."""

import json
import random
import struct
from collections import defaultdict
from pathlib import Path

import pytest
from oasis_modbus import sunspec_model
from oasis_modbus.bench import filled
from oasis_modbus.codec import decoded
from oasis_modbus.known_maps import SUNSPEC_AT, Known, known_maps
from oasis_modbus.sunspec import Placed

from oasis.errors import ToolFault
from oasis.plant.driver import Budget
from oasis.plant.values import Reading
from tests.packs.modbus.servers import driver, pymodbus_device, read

MAPS = Path(__file__).parents[4] / "shared" / "inputs" / "modbus"
NAMES = sorted(path.name for path in MAPS.glob("*")) if MAPS.is_dir() else []
with_maps = pytest.mark.skipif(not NAMES, reason="the published register maps are not here")

SMALL = {
    "id": 64_001,
    "group": {
        "name": "small",
        "points": [
            {"name": "ID", "size": 1, "type": "uint16"},
            {"name": "L", "size": 1, "type": "uint16"},
            {"name": "V", "size": 1, "type": "uint16", "sf": "V_SF", "units": "V"},
            {"name": "V_SF", "size": 1, "type": "sunssf"},
            {"name": "A", "size": 1, "type": "int16", "sf": "A_SF", "units": "A"},
            {"name": "A_SF", "size": 1, "type": "sunssf"},
            {"name": "WH", "size": 2, "type": "acc32", "units": "Wh"},
            {"name": "St", "size": 1, "type": "enum16", "symbols": [{"name": "OFF", "value": 1}, {"name": "ON", "value": 4}]},
            {"name": "Evt", "size": 2, "type": "bitfield32", "symbols": [{"name": "GROUND", "value": 0}, {"name": "HOT", "value": 7}]},
            {"name": "T", "size": 1, "type": "int16", "units": "C"},
            {"name": "F", "size": 2, "type": "float32", "units": "Hz"},
        ],
    },
}  # fmt: skip


def small(*words: int) -> list[Reading]:
    placed = Placed(64_001, 40_070, 13)
    return sunspec_model.readings(sunspec_model.parsed(SMALL), placed, [64_001, 13, *words])


def test_points_have_their_scale_unit_type_and_place():
    volts, amps, energy, state, events, cold, hertz = small(
        2305, 0xFFFF, 0xFFF6, 0, 0x0001, 0x86A0, 4, 0, 0x0081, 0xFFEC, *struct.unpack(">2H", struct.pack(">f", 50.5))
    )
    assert (volts.value, volts.point.form.scale, volts.point.form.unit) == (230.5, 0.1, "V")
    assert (volts.point.address, volts.where, volts.raw) == ("holding 40072", "FC03 wire 40072, 440073", "0901")
    assert (amps.value, amps.point.form.type) == (-10, "int16")
    assert (energy.value, energy.point.address) == (100_000, "holding 40076")
    assert (state.value, state.more) == (4, ("is ON",))
    assert (events.value, events.more) == (0x81, ("set: GROUND, HOT",))
    assert (cold.value, hertz.value) == (-20, 50.5)


def test_points_that_are_not_implemented_say_so():
    readings = small(0xFFFF, 0xFFFF, 0x8000, 0, 0, 0, 0xFFFF, 0xFFFF, 0xFFFF, 0x8000, 0x7FC0, 0)
    assert [r.point.name for r in readings if r.value is None] == ["V", "A", "St", "Evt", "T", "F"]
    assert readings[0].status == "not implemented in this device"
    assert readings[2].more == ("0 in an accumulator may mean that it is not implemented",)


def test_without_its_scale_factor_a_point_has_no_value():
    volts, *_ = small(2305, 0x8000, 5, 0, 0, 1, 1, 0, 0, 5, 0, 0)
    assert (volts.value, volts.status, volts.raw) == (None, "its scale factor V_SF is not implemented", "0901")


def test_a_device_with_a_shorter_model_gives_what_it_has():
    assert [r.point.name for r in small(2305, 0, 5, 0)] == ["V", "A"]


def strings(count: int | str, inner: list[dict[str, object]] | None = None) -> dict[str, object]:
    """A model with a group of strings that repeats."""
    string = {
        "name": "string", "count": count, "groups": inner or [],
        "points": [
            {"name": "ID", "size": 1, "type": "uint16"},
            {"name": "A", "size": 1, "type": "int16", "sf": "A_SF", "units": "A"},
        ],
    }  # fmt: skip
    points = [{"name": name, "size": 1, "type": "uint16"} for name in ("ID", "L", "N")]
    points.append({"name": "A_SF", "size": 1, "type": "sunssf"})
    return {"id": 64_002, "group": {"name": "strings", "points": points, "groups": [string]}}


def of_strings(model: dict[str, object], *words: int) -> dict[str, object]:
    placed = Placed(64_002, 40_070, len(words))
    readings = sunspec_model.readings(sunspec_model.parsed(model), placed, [64_002, len(words), *words])
    return {f"{r.point.name} {r.point.address}": r.value for r in readings}


@pytest.mark.parametrize(("count", "said"), [("N", 2), (0, 0xFFFF), (0, 2), ("N", 0xFFFF), (2, 9)])
def test_points_that_repeat_are_read_as_often_as_the_device_has_them(count: int | str, said: int):
    read = of_strings(strings(count), said, 0xFFFF, 1, 53, 2, 0xFFC9)
    read.pop("N holding 40072")
    assert read == {
        "string[1].ID holding 40074": 1, "string[1].A holding 40075": 5.3,
        "string[2].ID holding 40076": 2, "string[2].A holding 40077": -5.5,
    }  # fmt: skip


def test_of_points_that_repeat_only_what_the_model_has_room_for_is_read():
    assert list(of_strings(strings("N"), 500, 0, 1, 53, 2)) == [
        "N holding 40072", "string[1].ID holding 40074", "string[1].A holding 40075",
    ]  # fmt: skip


def test_points_that_repeat_no_times_are_not_read():
    assert list(of_strings(strings("N"), 0, 0, 1, 53, 2)) == ["N holding 40072"]


def test_groups_within_groups_have_their_own_scale_factors():
    points = [
        {"name": "V", "size": 1, "type": "uint16", "sf": "V_SF"}, {"name": "V_SF", "size": 1, "type": "sunssf"}
    ]  # fmt: skip
    inner = {"name": "point", "count": 2, "points": points}
    read = of_strings(strings(2, [inner]), 2, 0, 1, 10, 7, 1, 8, 0, 2, 11, 9, 0xFFFF, 5, 0x8000)
    assert [(name.partition(" ")[0], value) for name, value in read.items() if ".V" in name] == [
        ("string[1].point[1].V", 70), ("string[1].point[2].V", 8),
        ("string[2].point[1].V", 0.9), ("string[2].point[2].V", None),
    ]  # fmt: skip


def test_addresses_of_a_network_are_told_as_they_are_written():
    kinds = (("ipaddr", 2), ("ipv6addr", 8), ("eui48", 4))
    points = [{"name": name, "size": 1, "type": "uint16"} for name in ("ID", "L")]
    points += [{"name": kind, "size": size, "type": kind} for kind, size in kinds]
    model = sunspec_model.parsed({"id": 64_003, "group": {"name": "net", "points": points}})
    words = [0xC0A8, 0x000A, 0xFE80, 0, 0, 0, 0, 0, 0, 0x1B, 0, 0x001B, 0x19AA, 0xBBCC]
    placed = Placed(64_003, 0, len(words))
    told = sunspec_model.readings(model, placed, [64_003, len(words), *words])
    assert [r.value for r in told] == ["192.168.0.10", "fe80:0:0:0:0:0:0:1b", "00-1B-19-AA-BB-CC"]
    assert not any(r.is_good for r in sunspec_model.readings(model, placed, [64_003, 14, *[0] * 10, *[0xFFFF] * 4]))


@pytest.mark.parametrize("text", ["", "[]", '{"id": 1}', "not json", "[" * 100_000])
def test_a_file_that_is_no_model_is_told(tmp_path: Path, text: str):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(ToolFault, match="is no SunSpec model in JSON"):
        sunspec_model.load(path)


def chain(model: int, words: list[int]) -> dict[int, list[int]]:
    text = (
        b'Acme "1"'.ljust(32, b"\0")
        + b"PV 5".ljust(32, b"\0")
        + bytes(16)
        + b"1.0".ljust(16, b"\0")
        + b"SN7".ljust(32, b"\0")
    )
    common = [1, 66, *struct.unpack(">64H", text), 1, 0]
    return {40_000: [0x5375, 0x6E53, *common, model, len(words) - 2, *words[2:], 0xFFFF, 0]}  # fmt: skip


async def test_the_common_model_is_read_with_the_list_of_models():
    async with pymodbus_device(chain(103, [0] * 52)) as url:
        readings = await read(f"{url}/7", "sunspec")
    assert [(r.point.name, r.value) for r in readings if r.is_good] == [
        ("Mn", 'Acme "1"'), ("Md", "PV 5"), ("Vr", "1.0"), ("SN", "SN7"), ("DA", 1),
    ]  # fmt: skip
    assert readings[0].more == (
        "models: 1 common (holding 40002-40069), 103 inverter, three phase (holding 40070-40121)",
    )


async def test_a_model_that_the_device_does_not_have_is_told_with_those_it_has(tmp_path: Path):
    (tmp_path / "m.json").write_text(json.dumps(SMALL))
    async with pymodbus_device(chain(103, [0] * 52)) as url:
        with pytest.raises(ToolFault, match=r"The device has no model 64001 .*; it has 1 common"):
            await read(f"{url}/7", f"sunspec {tmp_path / 'm.json'}")


async def test_a_model_that_claims_more_registers_than_there_are_is_not_used():
    served = chain(103, [0] * 52)
    served[40_000][2 + 68 + 1] = 60_000
    async with pymodbus_device(served) as url:
        readings = await read(f"{url}/7", "sunspec")
        (note,) = readings[0].more
        async with driver(f"{url}/7") as one:
            done = await one.scan(["sunspec"], Budget())
    assert "models: 1 common (holding 40002-40069)" in note
    assert "model 103 at holding 40070 says that 60000 registers follow, and would end at 100071, over 65535" in note
    assert [found.item for found in done.found] == ["holding 40002-40069"]


async def test_a_chain_that_runs_into_zeros_is_said_to_be_broken():
    served = chain(103, [0] * 52)
    served[40_000][-2:] = [0] * 40
    async with pymodbus_device(served) as url:
        (first, *_) = await read(f"{url}/7", "sunspec")
    assert first.more[0].endswith(
        "the chain is broken: holding 40122 is 0 where the next model or the end mark FFFF should be"
    )


@pytest.mark.parametrize("base", [0, 40_000, 50_000])
async def test_a_chain_is_found_at_each_of_its_three_places(base: int):
    async with pymodbus_device({base: chain(103, [0] * 52)[40_000]}) as url, driver(f"{url}/7") as one:
        done = await one.scan(["sunspec"], Budget())
    assert [f.item for f in done.found] == [f"holding {base + 2}-{base + 69}", f"holding {base + 70}-{base + 121}"]


async def test_two_models_of_one_id_are_both_read_and_an_unknown_one_is_named_by_its_id(tmp_path: Path):
    (tmp_path / "m.json").write_text(json.dumps(SMALL))
    words = [64_001, 2, 5, 0]
    served = chain(103, [0] * 52)
    served[40_000][-2:] = [*words, 64_999, 1, 7, *words, 0xFFFF, 0]
    async with pymodbus_device(served) as url, driver(f"{url}/7") as one:
        readings = await read(f"{url}/7", f"sunspec {tmp_path / 'm.json'}")
        done = await one.scan(["sunspec"], Budget())
    assert [(r.point.address, r.value) for r in readings] == [("holding 40124", 5), ("holding 40131", 5)]
    assert [f.fields["model"] for f in done.found] == ["1", "103", "64001", "64999", "64001"]


async def test_a_device_without_sunspec_is_told():
    async with pymodbus_device() as url:
        with pytest.raises(ToolFault, match="has no SunSpec mark at holding 40000, 50000, 0"):
            await read(f"{url}/7", "sunspec")


async def test_the_common_model_is_the_second_source_of_identity():
    async with pymodbus_device(chain(103, [0] * 52)) as url, driver(f"{url}/7") as one:
        assert await one.identity() == 'vendor "Acme" product "P1" revision "2"'


@with_maps
@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("sunspec")])
async def test_every_point_of_a_published_model_is_read_back(name: str):
    """By the model's file: value, scale, unit and type of each point, against the words that were served."""
    points = known_maps(MAPS)[name]
    model = sunspec_model.load(MAPS / name)
    words = filled(points, random.Random(name))
    size = max(at for _, at in words) - SUNSPEC_AT + 1
    served = [words.get(("holding", SUNSPEC_AT + n), 0x8000) for n in range(size)]
    async with pymodbus_device(chain(model.id, served)) as url:
        readings = await read(f"{url}/7", f"sunspec {MAPS / name}")
    by_name = {r.point.name: r for r in readings}
    exponent = {p.name: decoded([words["holding", p.address]], "int16") for p in points if p.name.endswith("_SF")}
    checked = 0
    for point in points:
        if point.name in ("ID", "L") or point.name in exponent:
            continue
        reading = by_name[point.name]
        some = [words["holding", point.address + n] for n in range(point.registers)]
        raw = decoded(some, point.form.type)
        assert (reading.point.form.type, reading.point.form.unit) == (point.form.type, point.form.unit)
        assert reading.raw == " ".join(f"{w:04X}" for w in some)
        if reading.value is None:
            assert reading.status == "not implemented in this device"
        else:
            assert isinstance(raw, int)
            assert reading.value == pytest.approx(raw * 10.0 ** exponent.get(point.sf, 0), rel=1e-9)  # type: ignore[operator]
        checked += 1
    assert checked > 30


@with_maps
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("sunspec")])
async def test_every_point_of_a_published_map_is_read_back(name: str):
    """By its text in the grammar of items: type, order, scale, offset and unit, against the words that were served."""
    points = known_maps(MAPS)[name]
    words = filled(points, random.Random(name))
    blocks: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for table, at in sorted(words):
        some = blocks[table]
        last = max(some, default=-1)
        if last >= 0 and last + len(some[last]) == at:
            some[last].append(words[table, at])
        else:
            some[at] = [words[table, at]]
    async with pymodbus_device(blocks["holding"] or None, inputs=blocks["input"] or None) as url:
        readings = await read(f"{url}/7", *(p.item for p in points))
    assert len(readings) == len(points) > 20
    for point, reading in zip(points, readings, strict=True):
        assert_read(point, reading, words)


def assert_read(point: Known, reading: Reading, words: dict[tuple[str, int], int]) -> None:
    form = point.form
    some = [words[point.table, point.address + n] for n in range(point.registers)]
    assert reading.point.form == form
    assert reading.raw == " ".join(f"{w:04X}" for w in some)
    low_first = some[::-1] if form.order == "CDAB" else some
    code = {"uint16": "H", "int16": "h", "uint32": "I", "int32": "i", "float32": "f"}[form.type]
    served = struct.pack(f">{len(low_first)}H", *low_first)
    if code == "f":
        assert struct.pack(">f", reading.value) == served
        return
    (raw,) = struct.unpack(f">{code}", served)
    assert reading.value == pytest.approx(raw * form.scale + form.offset, rel=1e-9)
