"""What must never be sent: each refusal, with a real server's own count of writes as the witness."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oasis.errors import ConfigError, WriteRefused
from oasis.plant.audit import read_records, verify
from oasis.plant.audit_writes import writes_of
from oasis.plant.driver import Effect
from oasis.plant.plan import LIFE_S
from oasis.plant.safe_state import left_behind
from oasis.plant.site_file import load
from tests.plant.counting import Counted, counting
from tests.plant.plants import MODBUS_SITE, modbus_desk


@pytest.fixture
async def device() -> AsyncIterator[Counted]:
    async with counting() as counted:
        yield counted


async def test_an_approved_write_is_sent_once_and_read_back(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        written = await desk.write("set_point", 72.5)
        assert (written.effect, written.before, written.after, written.read_back) == (Effect.WRITTEN, 70.0, 72.5, 72.5)
        assert device.writes == [(6, 0, [725])]
        assert desk.kinds() == ["session", "plan", "approval", "sending", "outcome", "read back"]


async def test_without_a_site_file_there_is_no_writer(device: Counted, tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.toml", pytest.fail)
    assert device.writes == []


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (95.1, "the most allowed is 95 °C"),
        (19.9, "the least allowed is 20 °C"),
        (80.1, "one write may change it by 10 °C"),
        (72.55, "the point goes in steps of 0.1"),
        (float("nan"), "no number that a device holds"),
        (True, "number is needed, in °C"),
        ("72 K", "number is needed, in °C"),
        (None, "number is needed, in °C"),
        (10**400, "no number that a device holds"),
    ],
)
async def test_a_value_that_is_not_allowed_is_refused_before_anything_is_sent(
    device: Counted, tmp_path: Path, value: object, why: str
):
    async with modbus_desk(tmp_path, device) as desk:
        with pytest.raises(WriteRefused, match=why):
            await desk.writer.plan("set_point", value)
    assert device.writes == []


async def test_a_step_that_is_too_large_is_refused_with_the_steps_to_go(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        with pytest.raises(WriteRefused, match=r"Go in steps, each planned and approved: 60, 50, 40, 30, 25\. "):
            await desk.writer.plan("set_point", 25)
    assert device.writes == []


async def test_a_stale_token_is_refused(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        desk.clock.seconds += LIFE_S + 1
        with pytest.raises(WriteRefused, match="older than 120 s"):
            await desk.writer.carry_out(plan.token, "Ada")
    assert device.writes == []


async def test_a_token_that_was_never_given_is_refused(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        await desk.writer.plan("set_point", 72)
        with pytest.raises(WriteRefused, match="no write was planned with it"):
            await desk.writer.carry_out("00000000", "Ada")
    assert device.writes == []


async def test_a_second_use_of_a_token_is_refused(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        await desk.writer.carry_out(plan.token, "Ada")
        with pytest.raises(WriteRefused, match="it has been used"):
            await desk.writer.carry_out(plan.token, "Ada")
    assert device.writes == [(6, 0, [720])]


async def test_a_token_that_was_refused_once_is_void(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        device.registers[0] = 701
        with pytest.raises(WriteRefused, match=r"was 70 when the write was planned and is 70\.1 now"):
            await desk.writer.carry_out(plan.token, "Ada")
        device.registers[0] = 700
        with pytest.raises(WriteRefused, match="it has been used"):
            await desk.writer.carry_out(plan.token, "Ada")
        assert writes_of(desk.audit.records())[0].effect is Effect.NOT_SENT
    assert device.writes == []


async def test_a_device_that_was_exchanged_is_not_written(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        device.is_called("Other")
        with pytest.raises(WriteRefused, match="Find out which device is connected"):
            await desk.writer.carry_out(plan.token, "Ada")
    assert device.writes == []


async def test_a_device_that_the_site_file_does_not_expect_is_not_written(device: Counted, tmp_path: Path):
    text = MODBUS_SITE.replace('url = "{url}"', 'url = "{url}"\nidentity = "vendor \\"Expected\\""')
    (tmp_path / "plant.toml").write_text(text.format(url=device.url), encoding="utf-8")
    async with modbus_desk(tmp_path, device) as desk:
        with pytest.raises(WriteRefused, match="the site file expects"):
            await desk.writer.plan("set_point", 72)
    assert device.writes == []


async def test_an_unattended_write_is_refused_unless_the_site_file_allows_it(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        with pytest.raises(WriteRefused, match="with a person's approval only"):
            desk.writer.unattended(plan)
    assert device.writes == []


async def test_an_edited_site_file_stops_planning_and_writing(device: Counted, tmp_path: Path):
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        desk.file.write_text(desk.file.read_text(encoding="utf-8").replace("max = 95", "max = 9500"), encoding="utf-8")
        with pytest.raises(WriteRefused, match="was changed since this session began"):
            await desk.writer.plan("set_point", 73)
        with pytest.raises(WriteRefused, match="was changed since this session began"):
            await desk.writer.carry_out(plan.token, "Ada")
    assert device.writes == []


async def test_a_lost_reply_is_unknown_and_is_never_sent_again(device: Counted, tmp_path: Path):
    device.loses_replies = True
    async with modbus_desk(tmp_path, device) as desk:
        other = await desk.writer.plan("set_point", 73)
        written = await desk.write("set_point", 72)
        assert written.effect is Effect.UNKNOWN
        assert "UNKNOWN" in written.words
        assert "as if it had been carried out" in written.words
        with pytest.raises(WriteRefused, match="was written since it was planned"):
            await desk.writer.carry_out(other.token, "Ada")
        again = await desk.writer.plan("set_point", 72)
        assert "is UNKNOWN" in again.body
        assert device.writes == [(6, 0, [720])]


async def test_a_refusal_by_the_device_is_an_outcome_of_its_own(device: Counted, tmp_path: Path):
    device.rejects = True
    async with modbus_desk(tmp_path, device) as desk:
        written = await desk.write("set_point", 72)
    assert (written.effect, written.read_back) == (Effect.REJECTED, 70.0)
    assert device.writes == [(6, 0, [720])]


async def test_a_value_that_reads_back_otherwise_is_said_plainly(device: Counted, tmp_path: Path):
    device.moves_to = 715
    async with modbus_desk(tmp_path, device) as desk:
        written = await desk.write("set_point", 72)
    assert written.effect is Effect.WRITTEN
    assert "READS BACK OTHERWISE" in written.words
    assert written.read_back == 71.5


async def test_a_write_that_is_cancelled_on_the_way_is_recorded_as_unknown(device: Counted, tmp_path: Path):
    device.loses_replies = True
    device.url = device.url.replace("0.2", "60")
    async with modbus_desk(tmp_path, device) as desk:
        plan = await desk.writer.plan("set_point", 72)
        task = asyncio.create_task(desk.writer.carry_out(plan.token, "Ada"))
        await device.arrived.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (write,) = writes_of(desk.audit.records())
        assert (write.effect, write.words) == (Effect.UNKNOWN, "it was interrupted while it was on its way")
        assert "is UNKNOWN" in (await desk.writer.plan("set_point", 73)).body
    assert device.writes == [(6, 0, [720])]


CHILD = """
import asyncio, sys
from pathlib import Path
from oasis_modbus.driver import ModbusDriver
from oasis.plant.audit import Audit
from oasis.plant.site_file import load
from oasis.plant.writer import Writer

async def main():
    driver = ModbusDriver(sys.argv[3])
    site = load(Path(sys.argv[1]), ModbusDriver)
    writer = Writer(site, lambda url: driver, Audit(Path(sys.argv[2]), "killed"))
    plan = await writer.plan("set_point", 72)
    await writer.carry_out(plan.token, "Ada")

asyncio.run(main())
"""


async def test_after_kill_9_during_a_write_the_audit_shows_the_plan_and_an_unknown_outcome(
    device: Counted, tmp_path: Path
):
    device.loses_replies = True
    device.url = device.url.replace("0.2", "60")
    site, audit = tmp_path / "plant.toml", tmp_path / "audit.jsonl"
    site.write_text(MODBUS_SITE.format(url=device.url), encoding="utf-8")
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, str(site), str(audit), device.url)
    await device.arrived.wait()
    os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    await child.wait()
    assert verify(audit) == []
    assert [record["kind"] for record in read_records(audit)] == ["session", "plan", "approval", "sending"]
    (write,) = writes_of(read_records(audit))
    assert (write.after, write.effect) == (72.0, Effect.UNKNOWN)
    (said,) = left_behind(audit)
    assert "70 → 72 °C" in said
    assert "is UNKNOWN" in said
    assert device.writes == [(6, 0, [720])]
