"""A server that goes and comes back: namespaces in another order, another build, a forwarded port."""

from pathlib import Path

import pytest
from oasis_opcua.driver import OpcUaDriver

from oasis.errors import WriteRefused
from oasis.plant import render
from oasis.plant.driver import Budget
from tests.packs.opcua.lines import LINE, Shared, relay
from tests.packs.opcua.sites import writer_for

STATE = f"{LINE};s=Line1.State"
SERVICE = "nsu=urn:oasis:maintenance;s=Line1.State"


async def test_an_item_means_the_same_node_after_a_restart_changed_the_order_of_namespaces(
    shared: Shared, changed: Shared
):
    async with relay(shared.line.port) as port:
        driver = OpcUaDriver(f"opc.tcp://127.0.0.1:{port.here}/line")
        points = [driver.point(STATE), driver.point(SERVICE)]
        before = await driver.read(points)
        assert [r.where.split(",")[0] for r in before] == ["UInt32", "Int32"]
        assert before[1].value == 41
        port.port = changed.line.port
        port.cut()
        after = await driver.read(points)
        await driver.close()
    assert after[1].value == 41
    assert after[0].value in (0, 1, 2)


async def test_a_plan_is_void_when_another_build_answers(shared: Shared, changed: Shared, tmp_path: Path):
    async with relay(shared.line.port) as port, writer_for(f"opc.tcp://127.0.0.1:{port.here}/line", tmp_path) as writer:
        plan = await writer.plan("heat", 150.0)
        before = changed.line.witness.writes
        port.port = changed.line.port
        port.cut()
        with pytest.raises(WriteRefused) as refused:
            await writer.carry_out(plan.token, "a test")
    assert changed.line.witness.writes == before
    assert "build 119" in str(refused.value)


async def test_the_address_given_is_used_where_the_server_calls_itself_otherwise(guarded: Shared):
    driver = OpcUaDriver(guarded.url)
    scan = await driver.scan([], Budget())
    text = render.scan(driver.url, scan, 1)
    await driver.close()
    assert "The server calls itself opc.tcp://plc.inside.example:4840/line" in text
    assert f"endpoint {guarded.url}?security=Basic256Sha256: users UserName" in text
    assert "plc.inside.example" not in text.split("The server calls itself")[0]
    assert scan.stopped.startswith("no session could be opened: 127.0.0.1")
