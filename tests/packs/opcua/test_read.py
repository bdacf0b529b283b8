"""Reading: values with status, time, unit and range; what is past; methods' signatures."""

from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.signals import HOSTILE

from oasis.plant.values import GOOD
from tests.packs.opcua.lines import LINE, SETPOINT, SPEED, Shared


async def test_a_value_comes_with_status_time_unit_range_and_wire_bytes(driver: OpcUaDriver):
    (reading,) = await driver.read([driver.point(SETPOINT)])
    assert reading.status == GOOD
    assert reading.point.form.unit == "m/min"
    assert reading.where == "Double, EURange 0 to 60, writable"
    assert reading.at.endswith("Z")
    assert len(bytes.fromhex(reading.raw)) == 8


async def test_what_does_not_read_says_why_beside_what_does(driver: OpcUaDriver):
    items = [f"{LINE};s=Nothing", "nsu=urn:nowhere;s=x", "i=85", f"{LINE};s=Line1.State [0]", "i=2257"]
    readings = await driver.read([driver.point(item) for item in items])
    assert [reading.status.split(":")[0] for reading in readings] == [
        "BadNodeIdUnknown",
        readings[1].status.split(":")[0],
        "BadAttributeIdInvalid",
        "this value is no array; read it without [ ]",
        GOOD,
    ]
    assert "has no namespace urn:nowhere" in readings[1].status
    assert readings[4].where == "UtcTime"


async def test_an_array_gives_a_reading_for_each_element_or_for_those_asked(driver: OpcUaDriver):
    weights = f"{LINE};s=Line1.Checkweigher.LastWeights"
    readings = await driver.read([driver.point(weights), driver.point(f"{weights} [1-2]")])
    assert [r.point.address.rpartition(" ")[2] for r in readings] == ["[0]", "[1]", "[2]", "[1]", "[2]"]
    assert readings[1].value == readings[3].value
    (beyond,) = await driver.read([driver.point(f"{weights} [7]")])
    assert beyond.status == "no such element: the array has 3"


async def test_a_thousand_values_are_read_in_chunks_that_the_server_allows(shared: Shared, driver: OpcUaDriver):
    await driver.identity()
    before = shared.line.witness.requests["read"]
    readings = await driver.read([driver.point(SETPOINT)] * 1000)
    assert len(readings) == 1000
    assert all(reading.is_good for reading in readings)
    assert shared.line.witness.requests["read"] - before == 10
    assert shared.line.witness.most_nodes["read"] <= 100


async def test_history_comes_oldest_first_over_continuation_points(shared: Shared, driver: OpcUaDriver):
    before = shared.line.witness.requests.get("history", 0)
    readings = await driver.read([driver.point(f"history {SPEED} last=1h max=150")])
    assert len(readings) == 150
    assert [r.at for r in readings] == sorted(r.at for r in readings)
    assert readings[0].point.form.unit == "m/min"
    assert "truncated: the newest 150" in readings[-1].more[0]
    assert shared.line.witness.requests["history"] - before >= 2


async def test_a_node_without_history_gives_none_and_says_so(driver: OpcUaDriver):
    (reading,) = await driver.read([driver.point(f"history {SETPOINT}")])
    assert reading.value is None
    assert reading.status == "no values in the last 600 s; last= reaches further back"


async def test_events_of_the_past_come_with_severity_source_and_text(driver: OpcUaDriver):
    readings = await driver.read([driver.point(f"events {LINE};s=Line1 last=1h")])
    said = [(reading.value, reading.where) for reading in readings]
    assert ("612 Sealer below 130 °C", "severity 700, source Sealer") in said
    assert [r.at for r in readings] == sorted(r.at for r in readings)


async def test_a_method_is_read_as_its_signature(driver: OpcUaDriver):
    (reading,) = await driver.read([driver.point(f"call {LINE};s=Line1.SetRecipe")])
    assert reading.more == ("SetRecipe(Name String, Number UInt16, TargetWeight Float) gives (Accepted Boolean)",)
    (no_method,) = await driver.read([driver.point(f"call {SETPOINT}")])
    assert "it is no method" in no_method.status


async def test_a_devices_text_is_a_value_like_any_other(shared: Shared, driver: OpcUaDriver):
    shared.run(shared.line.server.get_node("ns=2;s=Line1.Identification.DeviceText").write_value(HOSTILE))
    (reading,) = await driver.read([driver.point(f"{LINE};s=Line1.Identification.DeviceText")])
    assert reading.value == HOSTILE


async def test_a_number_that_stands_for_something_says_what(shared: Shared, driver: OpcUaDriver):
    state, server_state = await driver.read([driver.point(f"{LINE};s=Line1.State"), driver.point("i=2259")])
    assert state.more in (('stands for "Stopped"',), ('stands for "Starting"',), ('stands for "Running"',))
    assert (server_state.value, server_state.more) == (0, ('stands for "Running"',))
    assert server_state.where.startswith("ServerState")
