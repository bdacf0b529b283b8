"""Registers as values and back."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus.codec import ORDERS, TYPES, decoded, encoded, limits, told

from oasis.errors import ToolFault

INTEGERS = [name for name, kind in TYPES.items() if kind.code and not kind.is_float] + ["bcd16", "bcd32", "bitmask"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("ABCD", [0x4366, 0x8000]),
        ("CDAB", [0x8000, 0x4366]),
        ("BADC", [0x6643, 0x0080]),
        ("DCBA", [0x0080, 0x6643]),
    ],
)
def test_230_5_in_each_order(order: str, words: list[int]):
    assert encoded(230.5, "float32", order, 2) == words
    assert decoded(words, "float32", order) == 230.5


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("ABCD", [0x0102, 0x0304, 0x0506, 0x0708]),
        ("CDAB", [0x0708, 0x0506, 0x0304, 0x0102]),
        ("BADC", [0x0201, 0x0403, 0x0605, 0x0807]),
        ("DCBA", [0x0807, 0x0605, 0x0403, 0x0201]),
    ],
)
def test_eight_bytes_in_each_order(order: str, words: list[int]):
    assert decoded(words, "uint64", order) == 0x0102030405060708


@settings(max_examples=80, deadline=None, database=None)
@given(st.data(), st.sampled_from(INTEGERS), st.sampled_from(ORDERS))
def test_every_integer_comes_back_in_every_order(data: st.DataObject, kind: str, order: str):
    value = data.draw(st.integers(*limits(kind)))
    assert decoded(encoded(value, kind, order, TYPES[kind].registers), kind, order) == value


@settings(max_examples=80, deadline=None, database=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(ORDERS))
def test_every_float_comes_back_in_every_order(value: float, order: str):
    assert decoded(encoded(value, "float32", order, 2), "float32", order) == value
    assert decoded(encoded(value, "float64", order, 4), "float64", order) == value


@settings(max_examples=80, deadline=None, database=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float32_is_told_in_digits_that_mean_the_same(value: float):
    short = told(value, "float32")
    assert struct.pack(">f", short) == struct.pack(">f", value)
    assert len(repr(short)) <= len(repr(value))


@settings(max_examples=80, deadline=None, database=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), st.sampled_from(ORDERS))
def test_every_text_comes_back_but_for_blanks_at_its_end(text: str, order: str):
    assert decoded(encoded(text, "string", order, 16), "string", order) == text.rstrip(" ")


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (65_536, "uint16", "65536 does not fit uint16 (0 to 65535)"),
        (-1, "uint32", "-1 does not fit uint32"),
        (32_768, "int16", "32768 does not fit int16 (-32768 to 32767)"),
        (10_000, "bcd16", "10000 does not fit bcd16 (0 to 9999)"),
        (1.5, "int16", "1.5 is no whole number"),
        (math.nan, "float32", "nan is no number that a device should be given"),
        (math.inf, "uint16", "inf is no whole number"),
        (1e39, "float32", "1e+39 is too great for float32"),
        ("x", "uint16", "'x' is no number"),
        (True, "uint16", "True is no number"),
        (5, "string", "5 is no text"),
        ("too long", "string", "takes 8 bytes and there is room for 4"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(value: object, kind: str, words: str):
    with pytest.raises(ToolFault) as fault:
        encoded(value, kind, "ABCD", 2)  # type: ignore[arg-type]
    assert words in str(fault.value)


def test_a_bcd_digit_over_9_is_no_value():
    assert decoded([0x12A4], "bcd16") is None
    assert decoded([0x1234], "bcd16") == 1234


def test_a_text_that_is_no_utf_8_is_read_as_latin_1():
    assert decoded(list(struct.unpack(">2H", b"\xb0C\0\0")), "string") == "°C"
