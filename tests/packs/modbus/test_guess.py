"""Guesses at what registers of unknown type hold."""

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus.bench import score
from oasis_modbus.guess import segments
from oasis_modbus.hints import run_hints
from oasis_modbus.known_maps import known_maps

from tests.packs.modbus.servers import pymodbus_device, read

MAPS = Path(__file__).parents[4] / "shared" / "inputs" / "modbus"
with_maps = pytest.mark.skipif(not MAPS.is_dir(), reason="the published register maps are not here")


def words(code: str, *values: float) -> list[int]:
    return list(
        struct.unpack(
            f">{struct.calcsize('>' + code) // 2 * len(values)}H", struct.pack(f">{len(values)}{code}", *values)
        )
    )


def swapped(pairs: list[int]) -> list[int]:
    return [w for at in range(0, len(pairs), 2) for w in (pairs[at + 1], pairs[at])]


@pytest.mark.parametrize(
    ("run", "kinds"),
    [
        ([2305, 2310, 2299, 12], ["uint16"] * 4),
        (words("f", 230.5, 49.98, -1.25), ["float32 ABCD"] * 3),
        (swapped(words("f", 230.5, 49.98, -1.25)), ["float32 CDAB"] * 3),
        (words("h", -37, -40, -12), ["int16"] * 3),
        (words("I", 1_234_567, 2_345_678, 987_654), ["uint32 ABCD"] * 3),
        ([820, 850, *words("f", 12.3), 1450], ["uint16", "uint16", "float32 ABCD", "uint16"]),
        ([*struct.unpack(">4H", b"Pump 12\0"), 5], ["string", "uint16"]),
    ],
)  # fmt: skip
def test_a_run_is_cut_into_the_values_it_holds(run: list[int], kinds: list[str]):
    assert [f"{g.kind} {g.order}" if g.registers == 2 else g.kind for g in segments(run)] == kinds


@settings(max_examples=80, deadline=None, database=None)
@given(st.lists(st.integers(0, 0xFFFF), max_size=24))
def test_every_register_of_any_run_is_in_exactly_one_guess(run: list[int]):
    at = 0
    for guess in segments(run):
        assert guess.at == at
        at += guess.registers
    assert at == len(run)


async def test_a_float_among_numbers_is_told_with_its_reason():
    async with pymodbus_device({0: [820, 850, *words("f", 12.3), 1450]}) as url:
        readings = await read(f"{url}/7", "holding 0-4")
    assert [r.value for r in readings] == [820, 850, 0x4144, 0xCCCD, 1450]
    assert readings[2].more[0].startswith("may be float32 ABCD 12.3 (a float of usual size with few digits)")
    assert readings[3].more == ("within the float32 that begins at 2",)
    assert readings[0].more == ()


def test_what_lies_within_a_text_is_said_once_for_all_of_it():
    text = list(struct.unpack(">8H", b"Oasis PS-2".ljust(16, b"\0")))
    hints = run_hints(dict(enumerate([*text, 5], 50)))
    assert hints[50][0].startswith('may be string "Oasis PS-2"')
    assert [line for line in hints.values() if "within" in line[0]] == [
        ("within the string that begins at 50; so are 52-57",)
    ]


@pytest.mark.parametrize(
    ("run", "guessed"),
    [
        ([0, 0], "may be uint32 ABCD 0 (like its neighbour)"),
        (swapped(words("f", 14.0)), "may be float32 CDAB 14 (a float of usual size with few digits)"),
        (words("I", 39_771), "may be uint32 ABCD 39771 (like its neighbour)"),
    ],
)
def test_a_zero_gets_one_guess_at_most(run: list[int], guessed: str):
    assert run_hints(dict(enumerate(run)))[0] == (guessed,)


async def test_a_register_that_is_marked_as_not_fitted_is_told():
    async with pymodbus_device({0: [0xFFFF]}) as url:
        (reading,) = await read(f"{url}/7", "holding 0")
    assert "the mark for 'not fitted' or 'no value'" in reading.more[0]


@with_maps
def test_most_registers_of_published_maps_are_guessed_right():
    scored = score(MAPS, rounds=3)
    assert scored.share > 0.8, scored.by_map
    assert set(scored.by_map) == set(known_maps(MAPS))


@with_maps
def test_a_score_is_the_same_each_time():
    assert score(MAPS, rounds=1) == score(MAPS, rounds=1)
