"""A plan becomes an approved write with its own token, in time, and in no other way."""

import time

import pytest

from oasis.errors import WriteRefused
from oasis.plant.plan import LIFE_S, ApprovedWrite, Frame, Plan, approve, seconds
from oasis.plant.site import Tag
from oasis.plant.values import Form, Point, Reading

POINT = Point("holding 0", Form("float64", unit="bar"), "limit")
PLAN = Plan(
    "0a1b2c3d", Tag("limit", "mem://e", POINT), Reading(POINT, 1234567.25), 1234567.5, Frame(b"\1", "w"), "", 100.0
)


def test_the_token_in_time_approves_the_plan():
    assert approve(PLAN, "0a1b2c3d", "Ada", 100.0 + LIFE_S).by == "Ada"


@pytest.mark.parametrize(
    ("token", "now"), [("0a1b2c3e", 100.0), ("", 100.0), ("é", 100.0), ("0a1b2c3d", 99.0), ("0a1b2c3d", 221.0)]
)
def test_another_token_or_another_time_does_not(token: str, now: float):
    with pytest.raises(WriteRefused, match="nothing was sent"):
        approve(PLAN, token, "Ada", now)


def test_an_approved_write_is_made_by_approval_only():
    with pytest.raises(TypeError):
        ApprovedWrite(PLAN, "Ada", object())


def test_all_digits_of_a_value_are_shown_before_it_is_approved():
    assert PLAN.title == "write limit: 1234567.25 → 1234567.5 bar"
    assert "device  does not say what it is" in PLAN.body


def test_the_clock_of_plans_is_never_behind_the_monotonic_one():
    before = time.monotonic()
    first = seconds()
    assert first >= before
    assert seconds() >= first
