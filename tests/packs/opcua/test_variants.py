"""Values: held, spelled and typed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from oasis_opcua.untyped import ua
from oasis_opcua.variants import RANGES, held, stamp, typed

from oasis.errors import ToolFault
from oasis.plant.values import Value

URIS = ("http://opcfoundation.org/UA/", "urn:server", "urn:x")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (ua.ServerState.Suspended, 3),
        (ua.LocalizedText("Läuft", "de"), "Läuft"),
        (ua.NodeId("Line", 2), "nsu=urn:x;s=Line"),
        (ua.NodeId(85), "i=85"),
        (ua.NodeId(1, 9), "nsu=urn:unknown-namespace-index:9;i=1"),
        (datetime(2026, 3, 2, 4, 5, 6, 789_000, tzinfo=timezone(timedelta(hours=2))), "2026-03-02T02:05:06.789Z"),
        (ua.Range(Low=0.0, High=60.0), "0 to 60"),
        (b"\x00\xff", b"\x00\xff"),
        (None, None),
    ],
)
def test_a_value_is_held_as_people_read_it(value: object, expected: Value | None):
    assert held(value, URIS) == expected


def test_a_text_without_end_is_cut_and_says_so():
    text = held("x" * 5000, URIS)
    assert isinstance(text, str)
    assert text.endswith("… (5000 characters)")
    assert len(text) < 2100


@pytest.mark.parametrize("kind", RANGES)
def test_whole_numbers_fit_exactly_into_their_type(kind: str):
    low, high = RANGES[kind]
    assert [typed(n, kind, "x").Value for n in (low, high)] == [low, high]
    assert typed(low, kind, "x").VariantType == getattr(ua.VariantType, kind)
    for n in (low - 1, high + 1, 1.5, True, "1"):
        with pytest.raises(ToolFault, match=kind):
            typed(n, kind, "x")


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, "Boolean"), (float("nan"), "Double"), (1e39, "Float"), ("x", "Double"), (5, "String"), ("zz", "ByteString"),
     ("yesterday", "DateTime"), ("12", "Guid"), (1, "ExtensionObject")],
)  # fmt: skip
def test_what_a_type_cannot_hold_is_refused(value: Value, kind: str):
    with pytest.raises(ToolFault):
        typed(value, kind, "nsu=urn:x;s=A")


def test_a_time_without_zone_is_utc():
    assert typed("2026-03-02T04:05:06", "DateTime", "x").Value == datetime(2026, 3, 2, 4, 5, 6, tzinfo=UTC)
    assert stamp(datetime(2026, 3, 2)) == "2026-03-02T00:00:00.000Z"
