"""Replies with many values: what is decoded quickly is what asyncua decodes."""

from datetime import UTC, datetime

import pytest
from asyncua.common.utils import Buffer
from oasis_opcua import quick
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.untyped import to_binary, ua
from oasis_opcua.variants import RANGES, stamp

from oasis.plant.values import GOOD
from tests.packs.opcua.lines import LINE, SETPOINT

AT = datetime(2026, 3, 2, 4, 5, 6, 789_123, tzinfo=UTC)
TYPES = ua.VariantType
NUMBERS = [
    ua.Variant(value, kind)
    for value, kind in (
        (True, TYPES.Boolean), (1.5, TYPES.Float), (-1e300, TYPES.Double),
        *((end, TYPES[name]) for name, ends in RANGES.items() for end in ends),
    )
]  # fmt: skip
OTHERS = [ua.Variant("a"), ua.Variant([1, 2], TYPES.Int16), ua.Variant(), ua.Variant(AT), ua.Variant(ua.NodeId(85))]


def reply(values: list[ua.DataValue]) -> Buffer:
    return Buffer(to_binary(ua.ReadResponse(Results=values)))


def test_numbers_and_everything_between_them_are_what_asyncua_decodes():
    values = [ua.DataValue(v, None, AT if n % 2 else None) for n, v in enumerate([*NUMBERS, *OTHERS, *NUMBERS])]
    values += [
        ua.DataValue(ua.Variant(1.0), ua.StatusCode(ua.StatusCodes.BadSensorFailure), AT),
        ua.DataValue(ua.Variant(2.0), None, AT, AT),
        ua.DataValue(ua.Variant(2.5), ua.StatusCode(), AT, AT),
        ua.DataValue(None, ua.StatusCode(ua.StatusCodes.BadNodeIdUnknown)),
        ua.DataValue(ua.Variant(3, TYPES.Int32)),
    ]
    found = quick.decoded(reply(values))
    assert [type(one) is tuple for one in found] == [True] * len(NUMBERS) + [False] * len(OTHERS) + [True] * len(
        NUMBERS
    ) + [False, True, True, False, True]
    for one, value in zip(found, values, strict=True):
        whole = quick.whole(one) if type(one) is tuple else one
        assert (whole.Value, _code(whole), whole.SourceTimestamp) == (value.Value, _code(value), value.SourceTimestamp)


def _code(data: ua.DataValue) -> int:
    return data.StatusCode.value if data.StatusCode is not None else 0


def test_a_reply_that_ends_early_is_a_fault():
    data = bytes(reply([ua.DataValue(ua.Variant(1.0), None, AT)] * 3))
    results = len(bytes(reply([])))
    for length in range(results, len(data) - 4):
        with pytest.raises(ua.UaError):
            quick.decoded(Buffer(data[:length]))


@pytest.mark.parametrize("at", [AT, datetime(1601, 1, 1, 0, 0, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
def test_a_time_is_spelled_alike_both_ways(at: datetime):
    ticks = int((at - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000 + at.microsecond * 10
    assert quick.stamp(ticks) == stamp(at)
    assert (quick.stamp(0), quick.stamp(1 << 62)[:4]) == ("", "9999")


async def test_many_values_read_as_a_few_do(driver: OpcUaDriver):
    names = [SETPOINT, f"{LINE};s=Line1.Recipe.Name", f"{LINE};s=Nothing", f"{LINE};s=Line1.Checkweigher.LastWeights [1]",
             f"{LINE};s=Line1.State", f"{LINE};s=Line1.Recipe.Number", f"{LINE};s=Line1.Recipe.Number [0]"]  # fmt: skip
    few = await driver.read([driver.point(name) for name in names])
    many = await driver.read([driver.point(name) for name in names * 100])
    assert [(r.value, r.status, r.at) for r in many[: len(names)]] == [(r.value, r.status, r.at) for r in few]
    assert [r.where for r in many[: len(names)]] == [r.where for r in few]
    assert (many[0].point.form.unit, many[0].status) == ("m/min", GOOD)
    assert len(many) == len(names) * 100
