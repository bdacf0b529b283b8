"""One place, however a URL spells it."""

import os
from pathlib import Path

import pytest

from oasis.plant.places import device_of, place_of


def test_units_of_one_gateway_are_one_place_and_serial_lines_are_their_own():
    urls = [
        "modbus://PLC:502/1",
        "modbus://plc:502/2?timeout=1",
        "modbus+rtu:///dev/ttyS0?unit=1",
        "ethercat://eth1",
        "opc.tcp://engineer@line:4840/x",
    ]
    assert [place_of(url) for url in urls] == ["plc:502", "plc:502", "/dev/ttyS0", "eth1", "line:4840"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("modbus://plc:502/1", "modbus://PLC.:502/1"),
        ("modbus://127.0.0.1:502/1", "modbus://localhost:502/1"),
        ("opc.tcp://[::1]:4840/x", "opc.tcp://LOCALHOST:4840/x?security=None"),
        ("modbus://[fe80::1]:502/1", "modbus://[FE80:0:0::0:1]:502/1"),
        ("modbus://[::ffff:10.0.0.1]:502/1", "modbus://10.0.0.1:502/1"),
    ],
)
def test_one_device_spelled_two_ways_is_one_device(one: str, other: str):
    assert device_of(one) == device_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("modbus://plc:502/1", "modbus://plc:502/2"),
        ("modbus://plc:502/1", "modbus://plc:503/1"),
        ("modbus://127.0.0.1:502/1", "modbus://127.0.0.2:502/1"),
        ("modbus+rtu:///dev/ttyS0?unit=1", "modbus+rtu:///dev/ttyS0?unit=2"),
        ("modbus://plc:502/1", "modbus://plc.works:502/1"),
    ],
)
def test_two_devices_are_two(one: str, other: str):
    assert device_of(one) != device_of(other)


@pytest.mark.skipif(os.name == "nt", reason="no links to devices there")
def test_a_line_reached_by_a_link_is_the_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    link = tmp_path / "by-id"
    link.symlink_to("/dev/null")
    monkeypatch.setattr("oasis.plant.places.LINES", f"{tmp_path}/")
    assert place_of(f"modbus+rtu://{link}?unit=1") == "/dev/null"
