"""Guesses at what registers of unknown type hold."""

import struct
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus.bench import score
from oasis_modbus.codec import ORDERS, decoded, encoded
from oasis_modbus.guess import Guess, Run, cut
from oasis_modbus.hints import run_hints
from oasis_modbus.known_maps import known_maps
from oasis_modbus.series import motion

from oasis.plant.values import Reading
from tests.packs.modbus.servers import driver, pymodbus_device, raw_device, read, registers

MAPS = Path(__file__).parents[4] / "shared" / "inputs" / "modbus"
with_maps = pytest.mark.skipif(not MAPS.is_dir(), reason="the published register maps are not here")


def words(code: str, *values: float) -> list[int]:
    return list(
        struct.unpack(
            f">{struct.calcsize('>' + code) // 2 * len(values)}H", struct.pack(f">{len(values)}{code}", *values)
        )
    )


def segments(run: list[int]) -> tuple[Guess, ...]:
    return cut([Run(run)]).runs[0]


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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float32", [231.37, 230.912, 229.4471, 50.0123]),
        ("uint32", [1_204_873, 98_104, 2_400_553, 135_195]),
        ("int32", [2310, -1250, 880, -42, 2297]),
        ("float64", [1_204_873.25, 88_104.3, 12.75]),
        ("uint64", [12_048_730, 4_101_200, 88_104]),
    ],
)
def test_the_order_is_found_by_what_all_values_of_a_device_have_in_common(order: str, kind: str, values: list[float]):
    run = [word for value in values for word in encoded(value, kind, order, 0)]
    found = cut([Run([2305, 12]), Run(run)])
    assert found.order == order
    assert [(g.kind, g.value) for g in found.runs[1]] == [
        (kind, decoded(encoded(v, kind, "ABCD", 0), kind)) for v in values
    ]


def test_one_value_follows_the_order_of_the_others_in_its_device():
    """0000 4142 is 48.25 as DCBA and 12.125 as CDAB."""

    def order_beside(order: str) -> str:
        others = [word for value in (21.37, 44.912, 1.0471) for word in encoded(value, "float32", order, 2)]
        return cut([Run(others), Run([0x0000, 0x4142])]).runs[1][0].order

    assert [order_beside(order) for order in ("CDAB", "DCBA")] == ["CDAB", "DCBA"]


def seen(kind: str, order: str, values: list[float]) -> Run:
    """A run of one value, and its rounds."""
    rounds = [encoded(value, kind, order, 0) for value in values]
    return Run(rounds[-1], rounds)


SMOOTH = [round(21.3 + 0.37 * n + 0.01 * n * n, 3) for n in range(9)]


@pytest.mark.parametrize("order", ORDERS)
def test_a_float_in_the_right_order_moves_smoothly_and_in_the_others_it_jumps(order: str):
    run = seen("float32", order, SMOOTH)
    (guess,) = cut([run]).runs[0]
    assert (guess.kind, guess.order) == ("float32", order)
    assert guess.motion.is_smooth and guess.motion.changes == 8
    wrong = [motion(run.past, 0, 2, "float32", other) for other in ORDERS if other != order]
    assert sum(moved.is_wild for moved in wrong) >= 2
    assert all(moved.bits > guess.motion.bits for moved in wrong)


def test_what_a_value_was_decides_where_one_look_cannot():
    """0000 4142 once more: as DCBA it came from 48.1 by small steps, as CDAB from anywhere."""
    values = [48.13, 48.17, 48.21, 48.25]
    assert cut([Run([0x0000, 0x4142])]).runs[0][0].order != "DCBA"
    assert cut([seen("float32", "DCBA", values)]).runs[0][0].order == "DCBA"


def test_two_numbers_that_move_by_themselves_are_not_taken_for_one():
    rounds = [[2305 + n % 3, 4_990 + 7 * n] for n in range(8)]
    assert [g.kind for g in cut([Run(rounds[-1], rounds)]).runs[0]] == ["uint16", "uint16"]


@pytest.mark.parametrize("order", ["ABCD", "CDAB"])
def test_a_counter_is_known_by_its_carry(order: str):
    rounds = [encoded(242_144 + 9_000 * n, "uint32", order, 2) for n in range(8)]
    (guess,) = cut([Run(rounds[-1], rounds)]).runs[0]
    assert (guess.kind, guess.order, guess.value) == ("uint32", order, 305_144)


def test_rounds_in_which_a_register_was_not_read_are_left_out():
    rounds = [encoded(value, "float32", "CDAB", 2) for value in SMOOTH]
    past = [mixed for words in rounds for mixed in ((None, words[1]), tuple(words))]
    assert motion(past, 0, 2, "float32", "CDAB") == motion(rounds, 0, 2, "float32", "CDAB")


async def test_watching_tells_the_order_of_a_float_from_how_it_moves():
    """The first look at 0000 4142 says another order; the changes say which, and a read afterwards knows it."""
    values = iter([*(48.25, 48.26, 48.37, 48.31, 48.33, 48.36), *[48.4] * 1_000])

    def answer(request: bytes) -> bytes:
        return registers(request, dict(enumerate(encoded(next(values), "float32", "DCBA", 2))))

    seen: list[Reading] = []
    async with raw_device(answer) as raw, driver(f"{raw.url}/1") as one:
        points = [one.point("input 0-1")]
        async with aclosing(one.watch(points, 60, 0.1)) as watch:  # type: ignore[type-var]
            async for reading in watch:
                seen.append(reading)
                if sum(r.point.address == "input 0" for r in seen) == 6:
                    break
        again, within = await one.read(points)
    assert "DCBA" not in seen[0].more[0].split(";")[0]
    assert again.more[0].startswith("may be float32 DCBA 48.")
    assert "changes it moved smoothly)" in again.more[0]
    assert within.more == ("within the float32 that begins at 0",)


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
    hints = run_hints({"input": dict(enumerate([*text, 5], 50))}, {})
    assert hints["input", 50][0].startswith('may be string "Oasis PS-2"')
    assert [line for line in hints.values() if "within" in line[0]] == [
        ("within the string that begins at 50; so are 52-57",)
    ]


@pytest.mark.parametrize(
    ("run", "guessed"),
    [
        ([0, 0], "may be float32 ABCD 0 (zero)"),
        (swapped(words("f", 14.0)), "may be float32 CDAB 14 (a float of usual size with few digits)"),
        (words("I", 39_771), "may be uint32 ABCD 39771 (like its neighbour)"),
    ],
)
def test_a_zero_gets_one_guess_at_most(run: list[int], guessed: str):
    assert run_hints({"input": dict(enumerate(run))}, {})["input", 0] == (guessed,)


async def test_a_register_that_is_marked_as_not_fitted_is_told():
    async with pymodbus_device({0: [0xFFFF]}) as url:
        (reading,) = await read(f"{url}/7", "holding 0")
    assert "the mark for 'not fitted' or 'no value'" in reading.more[0]


@with_maps
def test_most_registers_of_published_maps_are_guessed_right():
    scored = score(MAPS, rounds=3)
    assert scored.share > 0.88, scored.by_map
    assert set(scored.by_map) == set(known_maps(MAPS))


@with_maps
def test_a_score_is_the_same_each_time():
    assert score(MAPS, rounds=1) == score(MAPS, rounds=1)
