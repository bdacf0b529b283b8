"""The driver against node-opcua: a server that nobody of this repository wrote."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from oasis_opcua import keys
from oasis_opcua.driver import OpcUaDriver

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Effect
from oasis.plant.plan import approve
from oasis.plant.writer import Writer
from tests.packs.opcua.lines import first_of
from tests.packs.opcua.press import Press, absent, running_press
from tests.packs.opcua.sites import site_writer, written


@pytest.fixture(scope="session")
def press(tmp_path_factory: pytest.TempPathFactory) -> Generator[Press]:
    if why := absent():
        pytest.skip(why)
    with running_press(tmp_path_factory.mktemp("press")) as made:
        yield made


@pytest_asyncio.fixture
async def driver(press: Press) -> AsyncGenerator[OpcUaDriver]:
    opened = OpcUaDriver(press.url)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def own(driver: OpcUaDriver) -> str:
    """The press' own namespace: its application URI, which node-opcua makes from the machine's name."""
    scan = await driver.scan([], Budget())
    return next(f.item.rpartition(";")[0] for f in scan.found if f.item.endswith(";s=Press"))


async def test_a_node_with_more_below_it_than_a_reply_holds_is_browsed_whole(driver: OpcUaDriver, own: str):
    scan = await driver.scan([f"{own};s=Press"], Budget(2000))
    stations = [entry for entry in scan.found if "Station" in entry.item]
    assert (len(stations), scan.stopped) == (350, "")


async def test_reads_keep_to_the_limits_that_the_server_enforces(driver: OpcUaDriver, own: str):
    points = [driver.point(f"{own};s=Press.Station{n}") for n in range(350)]
    readings = await driver.read(points)
    assert [reading.value for reading in readings] == [float(n) for n in range(350)]


async def test_limits_that_were_not_announced_are_learnt_from_the_refusal(driver: OpcUaDriver, own: str):
    points = [driver.point(f"{own};s=Press.Station{n}") for n in range(250)]
    await driver.identity()
    link, _ = await driver._session()
    link.limits["read"] = 1000
    assert len(await driver.read(points)) == 250
    assert link.limits["read"] < 250


async def test_unit_range_and_access_are_read(driver: OpcUaDriver, own: str):
    (reading,) = await driver.read([driver.point(f"{own};s=Press.Force")])
    assert reading.point.form.unit == "kN"
    assert reading.where.startswith("Float, EURange 0 to 100, writable")


async def test_an_unknown_node_is_a_fault(driver: OpcUaDriver, own: str):
    with pytest.raises(ToolFault, match="no such node"):
        await driver.scan([f"{own};s=Nothing"], Budget())
    (reading,) = await driver.read([driver.point(f"{own};s=Nothing")])
    assert reading.status.startswith("BadNodeIdUnknown")


async def test_history_is_read_and_what_has_none_says_so(driver: OpcUaDriver, own: str):
    readings = await driver.read([driver.point(f"history {own};s=Press.Strokes last=1h max=120")])
    assert len(readings) == 120
    assert [r.at for r in readings] == sorted(r.at for r in readings)
    assert readings[-1].value == 300
    (none,) = await driver.read([driver.point(f"history {own};s=Press.Station1")])
    assert none.value is None
    assert "history" in none.status


async def test_changes_are_reported_by_subscription(driver: OpcUaDriver, own: str):
    (reading,) = await first_of(driver, [f"{own};s=Press.Station7"])
    assert reading.value == 7.0


@pytest_asyncio.fixture
async def writer(press: Press, own: str, tmp_path: Path) -> AsyncGenerator[Writer]:
    tags = {
        "force": {"address": f"{own};s=Press.Force", "type": "Float", "write": True, "min": -500, "max": 500, "max_step": 500},
        "add": {"address": f"call {own};s=Press.Add", "type": "String", "write": True, "values": ["[2, 40]", "[2]"]},
    }  # fmt: skip
    async with site_writer(press.url, tags, tmp_path) as made:
        yield made


async def test_a_write_is_typed_sent_once_and_read_back(press: Press, writer: Writer):
    writes, _ = press.seen()
    done = await written(writer, "force", 55.5)
    assert (done.effect, done.read_back) == (Effect.WRITTEN, 55.5)
    assert press.seen()[0] == writes + 1


async def test_a_value_out_of_range_is_rejected_by_the_server_and_not_sent_again(press: Press, writer: Writer):
    writes, _ = press.seen()
    done = await written(writer, "force", 300)
    assert done.effect is Effect.REJECTED
    assert "BadOutOfRange" in done.words
    assert press.seen()[0] <= writes + 1


async def test_a_method_is_called_once_and_its_answer_said(press: Press, driver: OpcUaDriver, writer: Writer):
    _, calls = press.seen()
    plan = await writer.plan("add", "[2, 40]")
    sent = await driver.write(approve(plan, plan.token, "a test", plan.made_at))
    assert sent.words == "Add was carried out (Good) and gave sum 42."
    assert press.seen()[1] == calls + 1
    with pytest.raises(ToolFault, match="takes 2 arguments, and 1 were given"):
        await writer.plan("add", "[2]")


@pytest.mark.parametrize("policy", ["Basic256Sha256", "Aes128Sha256RsaOaep", "Aes256Sha256RsaPss"])
async def test_an_encrypted_session_needs_trust_in_both_directions(
    press: Press, policy: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OASIS_OPCUA_PASSWORD", "right")
    driver = OpcUaDriver(f"{press.url.replace('//', '//operator@')}?security={policy}")
    with pytest.raises(ToolFault, match="not trusted here"):
        await driver.identity()
    (kept,) = (keys.folder() / "untrusted").iterdir()
    kept.rename(keys.trusted() / kept.name)
    with pytest.raises(ToolFault, match="does not trust Oasis"):
        await driver.identity()
    assert "Press" in await _trusted(driver, press, f"oasis-{policy}.der")
    await driver.close()


async def _trusted(driver: OpcUaDriver, press: Press, name: str) -> str:
    """The press' identity once it has seen that its folder of trusted certificates changed.

    It looks there now and then, and keeps what it refused meanwhile: the certificate is put there anew, whole at once.
    """
    async with asyncio.timeout(150):
        while True:
            for rejected in (press.pki / "rejected").iterdir():
                rejected.unlink(missing_ok=True)
            shutil.copy(keys.own().certificate, press.pki / name)
            (press.pki / name).replace(press.pki / "trusted" / "certs" / name)
            try:
                return await driver.identity()
            except ToolFault:
                await asyncio.sleep(1)
