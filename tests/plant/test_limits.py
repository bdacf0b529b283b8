"""Values and limits: what a device's type holds, and what the site file allows."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.plant.limits import RANGES, beyond_step, canonical, change, meant, same
from oasis.plant.site import Tag
from oasis.plant.values import Form, Point, Value


@pytest.mark.parametrize(
    ("form", "value", "held"),
    [
        (Form("bool"), 1, True),
        (Form("Boolean"), False, False),
        (Form("int16"), 5.0, 5),
        (Form("Int16"), -32768, -32768),
        (Form("uint16", scale=0.1), 72.5, 72.5),
        (Form("int16", scale=-0.5, offset=10), 9.5, 9.5),
        (Form("float32"), 3, 3.0),
        (Form("Double"), 1e300, 1e300),
        (Form("uint64"), 2**64 - 1, 2**64 - 1),
        (Form("string"), "recipe 7", "recipe 7"),
        (Form("bytes"), "0a ff", b"\n\xff"),
    ],
)
def test_a_value_is_taken_as_the_device_holds_it(form: Form, value: object, held: Value):
    found = canonical(form, value)
    assert (found, type(found)) == (held, type(held))


@pytest.mark.parametrize(
    ("form", "value", "why"),
    [
        (Form("bool"), 2, "on or off is needed"),
        (Form("bool"), "true", "on or off is needed"),
        (Form("int16"), 1.5, "whole numbers. Nearest: 1 and 2"),
        (Form("int16"), 32768, "it holds -32768 to 32767"),
        (Form("uint16", scale=0.1), -0.1, "it holds 0 to 6553.5"),
        (Form("bcd16"), 10000, "it holds 0 to 9999"),
        (Form("int16"), math.inf, "no number that a device holds"),
        (Form("int16", scale=1e-15), 1e299, "does not fit"),
        (Form("float32"), 1e39, "does not fit into float32"),
        (Form("float64"), math.nan, "no number that a device holds"),
        (Form("float32"), True, "number is needed"),
        (Form("string"), 7, "text is needed"),
        (Form("bytes"), "xyz", "write hex digits"),
        (Form("bytes"), 12, "write hex digits"),
        (Form("quaternion"), 1, "not one whose values can be checked"),
    ],
)
def test_a_value_that_the_type_cannot_hold_is_refused_in_words(form: Form, value: object, why: str):
    with pytest.raises(ValueError, match=why):
        canonical(form, value)


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        (Form("bool"), "ON", True),
        (Form("uint16"), " 0x2D ", 45),
        (Form("uint16", scale=0.1), "72.5", 72.5),
        (Form("float64"), "1e3", 1000.0),
        (Form("string"), "7", "7"),
        (Form("uint16", unit="a"), "0x1a", 26),
        (Form("uint16", scale=0.1, unit="°C"), "72.5 °C", 72.5),
        (Form("int16", unit="%"), "-5%", -5),
    ],
)
def test_what_a_person_types_is_read_by_the_tag_s_type(form: Form, text: str, value: Value):
    assert canonical(form, meant(form, text)) == value


@pytest.mark.parametrize("text", ["", "nan", "0xzz", "1" * 5000, "7,5", "on", "1_000", "٣", "7 bar"])
def test_what_is_typed_and_is_no_number_is_refused_in_words(text: str):
    with pytest.raises(ValueError, match=r"number|fit"):
        canonical(Form("int16"), meant(Form("int16"), text))


@given(
    st.sampled_from(sorted(RANGES)).filter(lambda name: "64" not in name),
    st.sampled_from([1.0, 0.1, 0.01, 0.25, 10.0, -0.1]),
    st.sampled_from([0.0, -40.0, 100.0]),
    st.floats(0, 1),
)
@settings(max_examples=100, deadline=None, database=None)
def test_every_raw_value_is_held_as_itself(kind: str, scale: float, offset: float, part: float):
    low, high = RANGES[kind]
    form = Form(kind, scale=scale, offset=offset)
    raw = low + round(part * (high - low))
    held = canonical(form, form.engineering(raw))
    assert same(form, held, form.engineering(raw))
    assert form.raw(held) == raw


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.lists(st.integers())))
@settings(max_examples=100, deadline=None, database=None)
def test_nothing_that_is_given_as_a_value_ends_in_another_error(value: object):
    for form in (
        Form("bool"),
        Form("int16", scale=0.1),
        Form("uint64"),
        Form("float32"),
        Form("bytes"),
        Form("string"),
    ):
        try:
            assert canonical(form, value) is not None
        except ValueError as fault:
            assert str(fault)


def test_floats_are_the_same_to_their_last_bit_and_whole_numbers_exactly():
    assert same(Form("float32"), 72.1, 72.0999984741211)
    assert not same(Form("float32"), 72.1, 72.1001)
    assert not same(Form("float64"), 72.1, 72.0999984741211)
    assert same(Form("uint16", scale=0.1), 0.3, 0.1 + 0.2)
    assert not same(Form("uint64"), 2**63, 2**63 + 1)
    assert not same(Form("int16"), None, None)
    assert not same(Form("float32"), math.nan, math.nan)


def test_a_change_is_free_of_the_noise_of_binary_fractions():
    assert change(0.2, 0.1 + 0.2) == 0.1
    assert change(70.1, 80.1) == 10
    assert change(math.nan, 1) is None
    assert change(None, 1) is None
    assert change(True, 1) is None


@pytest.mark.parametrize(
    ("form", "step", "before", "after", "said"),
    [
        (Form("uint16", scale=0.1), 10.0, 70.0, 80.0, ""),
        (Form("uint16", scale=0.1), 10.0, 70.0, 81.0, "approved: 80, 81"),
        (Form("uint16", scale=0.1), 10.0, 90.0, 20.0, r"approved: 80, 70, 60, 50, … \(7 writes in all\)"),
        (Form("uint16", scale=3.0), 10.0, 0.0, 21.0, "approved: 9, 18, 21"),
        (Form("float32"), 0.5, 0.0, 1.0, "approved: 0.5, 1"),
        (Form("float64"), 1e-3, 0.0, 1e9, r"by 0\.001$"),
        (Form("float32"), 1.0, math.nan, 1.0, "nan is no number to step from"),
    ],
)
def test_a_change_beyond_the_step_is_told_the_steps_to_go(
    form: Form, step: float, before: float, after: float, said: str
):
    import re

    why = beyond_step(Tag("t", "mem://e", Point("a", form), max_step=step), before, after)
    assert re.search(said, why) if said else why == ""


@pytest.mark.parametrize(
    ("form", "value", "said"),
    [
        (Form("uint64", scale=0.1), 1234567890123.4, "more digits than are kept"),
        (Form("float32"), 1e-50, "held as 0"),
    ],
)
def test_a_value_that_would_be_held_as_another_is_refused(form: Form, value: float, said: str):
    with pytest.raises(ValueError, match=said):
        canonical(form, value)


def test_a_decimal_comma_is_told_from_a_point():
    with pytest.raises(
        ValueError, match=r'"72,5" is no value of type float32: number is needed, in °C, written with a point'
    ):
        canonical(Form("float32", unit="°C"), "72,5")
