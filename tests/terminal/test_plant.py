"""Reading and writing a device from a session, in a real pty against the simulated boiler."""

import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

if sys.platform == "win32":
    pytest.skip("a pty is POSIX's", allow_module_level=True)

from oasis_modbus.simulator.stations import running

from tests.models.server import serving
from tests.terminal.pty_session import steady, terminal
from tests.terminal.script import calling, text


async def test_values_are_a_table_and_each_write_is_approved_on_its_own(
    project: Path, tmp_path: Path, snapshot: SnapshotAssertion
):
    site = tmp_path / "site.toml"
    async with running({"speed": 0}) as devices:
        site.write_text(f'[site]\nname = "Boiler house"\n\n{devices.stations[0].site}')
        script = [
            calling("plant_read", items=["water", "flame"]),
            calling("plant_write", tag="set_point", value=75),
            calling("plant_write", tag="set_point", value=74),
            text("It is at 74 degrees."),
        ]
        flags = ("--pack", "modbus", "--site", str(site))
        async with (
            serving(*script) as server,
            terminal(project, "--server", server.url, *flags, columns=120, rows=40) as session,
        ):
            await session.until(
                "WRITING POSSIBLE: Boiler house · ask · m · chat lane",
                "no substitute for a hardware emergency stop",
                "WRITE TO A DEVICE: at the end",
                "> n  no",
            )
            session.send("y")
            session.send("raise it to 74 degrees\r")
            await session.until("WRITE TO A DEVICE: write set_point", "> n  no", "FC06 wire 0")
            assert steady(session.end) == snapshot(name="a device write is asked about")
            session.send("\r")
            await session.until("denied · #2", "→ 74", "> n  no")
            session.send("y")
            await session.until("turn 1", "74 degrees.")
            session.send("/plan set_point 76\r")
            await session.until("→ 76 degC?", "> n  no")
            session.send("n")
            await session.until("Not written.")
            session.send("/plan\r")
            await session.until("Read back", "written")
            session.send("\x1b[Z\x1b[Z")
            await session.until("read only")
            session.send("/quit\r")
            assert await session.ended() == 0
            assert session.is_sane
    writes = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert "74" in writes[-1]
    assert "denied" in writes[-2]
