"""What an item's text means."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus import grammar
from oasis_modbus.codec import ORDERS, TYPES
from oasis_modbus.reader import elements_of

from oasis.errors import ToolFault
from oasis.plant.values import Form, Point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("holding 0-9", Point("holding 0-9")),
        ("Holding Register 5", Point("holding 5")),
        ("hr 0x10", Point("holding 16")),
        ("holding:5 uint16", Point("holding 5", Form("uint16"))),
        ("input[3] s16", Point("input 3", Form("int16"))),
        ("coil 5", Point("coil 5", Form("bool"))),
        ("discrete inputs 0-15", Point("discrete 0-15", Form("bool"))),
        ("holding 100 float32 CDAB x0.1 +5 °C", Point("holding 100", Form("float32", "CDAB", 0.1, 5.0, "°C"))),
        ("holding 100 °C", Point("holding 100", Form(unit="°C"))),
        ("holding 100-103 cdab real -40 m³/h", Point("holding 100-103", Form("float32", "CDAB", 1.0, -40.0, "m³/h"))),
        ("holding 10-25 string", Point("holding 10-25", Form("string"))),
        ("holding 5 bit 3", Point("holding 5 bit 3", Form("bool"))),
        ("holding 7 bcd", Point("holding 7", Form("bcd16"))),
        ("holding 8 bitmask", Point("holding 8", Form("bitmask"))),
        ("400001", Point("holding 0")),
        ("4x0011 int16", Point("holding 10", Form("int16"))),
        ("00005", Point("coil 4", Form("bool"))),
        ("300011-300012 float32 ABCD", Point("input 10-11", Form("float32", "ABCD"))),
        ("40001", Point("40001")),
        ("30011-30012 uint32", Point("30011-30012", Form("uint32"))),
    ],
)
def test_a_text_means_a_canonical_point(text: str, point: Point):
    assert grammar.point(text) == point


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The item is empty. Write: holding 0-9 | input 3"),
        ("holdng 5", "names no table. Did you mean holding?"),
        ("holding", "gives no address after the table"),
        ("holding x", "gives no address after the table"),
        ("holding 9-5", "The range 9-5 ends before it begins"),
        ("holding 400011", "As a document number, 400011 is 'holding 10'"),
        ("holding 65536", "65536 is over 65535, the last wire address"),
        ("holding 65535 float32", "goes over the last address"),
        ("holding 0-4000", "4,001 values are more than 4,000 in one item; read it in parts"),
        ("holding 5 flaot32", "'flaot32' in 'holding 5 flaot32' has no meaning. Did you mean float32?"),
        ("holding 5 float32 ACBD", "'ACBD' in 'holding 5 float32 ACBD' has no meaning"),
        ("holding 5 uint16 int16", "gives its type twice"),
        ("holding 5 uint16 x0", "a scale is not 0"),
        ("holding 0-2 float32", "A float32 takes 2 registers, and 0-2 are 3, no multiple of it"),
        ("holding 5 string", "A string needs its length: write 'holding 5-20 string'"),
        ("holding 0-199 string", "over the 125 of one request"),
        ("holding 5 bool", "A bool in a register is one bit of it: write 'holding 5 bit 3'"),
        ("holding 5 bit 16", "bits 0 (least significant) to 15"),
        ("holding 5-6 bit 1", "'bit N' is for one register"),
        ("coil 5 float32", "Coils are bits: they have no type float32"),
        ("40000", "is no document number: those count from 1"),
        ("20001", "names no table"),
        ("0x0010", "names no table"),
        ("holding 0 x0,1", "'x0,1' in 'holding 0 x0,1' is no scale, offset or unit. A scale is x and a number"),
        ("holding 0 x0.1x2", "is no scale, offset or unit"),
        ("holding 0 scale=0.1", "is no scale, offset or unit"),
        ("holding 0 xnan", "is no scale, offset or unit"),
        ("holding 0 *.1", "is no scale, offset or unit"),
        ("holding \u0663", "gives no address after the table"),
        ("holding 0-\u0663", "gives no address after the table"),
        ("4\u06630001", "names no table"),
    ],
)
def test_a_text_without_meaning_is_refused_with_the_right_form(text: str, words: str):
    with pytest.raises(ToolFault) as fault:
        grammar.point(text)
    assert words in str(fault.value)


forms = st.builds(
    Form,
    st.sampled_from(["", *(t for t in TYPES if t not in ("bool", "string", "bitmask"))]),
    st.sampled_from(["", *ORDERS]),
    st.sampled_from([1.0, 0.1, 10.0, -0.01, 2.5e-05]),
    st.sampled_from([0.0, 5.0, -273.15]),
    st.sampled_from(["", "°C", "%", "kWh", "m³/h"]),
)


@settings(max_examples=80, deadline=None, database=None)
@given(st.sampled_from(["holding", "input"]), st.integers(0, 60_000), st.integers(0, 30), forms)
def test_a_points_text_gives_the_same_point_again(table: str, first: int, values: int, form: Form):
    size = TYPES[form.type].registers if form.type else 1
    span = f"-{first + values * size - 1}" if values else ""
    point = Point(f"{table} {first}{span}", form)
    said = f"{point.address} {form.type} {form.order} x{form.scale!r} {form.offset:+} {form.unit}"
    made = grammar.point(said)
    assert made == point
    assert len(elements_of(made)) == max(values, 1)


@settings(max_examples=80, deadline=None, database=None)
@given(st.text(max_size=40))
def test_any_text_is_a_point_or_is_refused_in_words(text: str):
    try:
        point = grammar.point(text)
    except ToolFault:
        return
    assert grammar.point(point.address).address == point.address


@settings(max_examples=80, deadline=None, database=None)
@given(st.sampled_from("0134"), st.integers(1, 9_999))
def test_a_document_number_of_five_digits_has_the_wire_address_one_below(digit: str, number: int):
    point = grammar.point(f"{digit}{number:04d}")
    assert grammar.place(point).first == number - 1
    assert grammar.place(point).table.number(number - 1) == f"{digit}{number:04d}"
