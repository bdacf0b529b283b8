"""Modbus URLs."""

import pytest
from oasis_modbus.driver import ModbusDriver
from oasis_modbus.endpoint import Endpoint, Line, Tls, parse

from oasis.errors import ToolFault


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("modbus://10.0.0.5", Endpoint("modbus", "10.0.0.5", 502)),
        ("modbus+tcp://10.0.0.5/3", Endpoint("modbus", "10.0.0.5", 502, 3)),
        ("modbus://plc.local:5020/0", Endpoint("modbus", "plc.local", 5020, 0)),
        ("modbus://[::1]:502/1", Endpoint("modbus", "::1", 502, 1)),
        ("modbus+rtutcp://10.0.0.5:4001/2?timeout=1.5", Endpoint("modbus+rtutcp", "10.0.0.5", 4001, 2, 1.5)),
        (
            "modbus+rtu:///dev/ttyUSB0?baud=9600&parity=none&stop=2&unit=3",
            Endpoint("modbus+rtu", "/dev/ttyUSB0", unit=3, timeout_s=1.0, line=Line(9600, "N", 8, 2)),
        ),
        ("modbus+rtu:///com3?unit=4", Endpoint("modbus+rtu", "COM3", unit=4, timeout_s=1.0)),
        (
            "modbus+tls://plc/1?ca=/etc/plc.pem&cert=me.pem&key=me.key",
            Endpoint("modbus+tls", "plc", 802, 1, tls=Tls("/etc/plc.pem", "me.pem", "me.key")),
        ),
    ],
)
def test_a_url_names_its_endpoint_and_its_canonical_form_names_the_same(url: str, endpoint: Endpoint):
    assert parse(url) == endpoint
    assert parse(endpoint.url) == endpoint
    assert parse(endpoint.url).url == endpoint.url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1/1", "is not a Modbus address. Write modbus://HOST[:502]/UNIT"),
        ("modbus:///1", "modbus:///1 names no host"),
        ("modbus://h:70000/1", "is not a Modbus address: Port out of range"),
        ("modbus://h/256", "Unit '256' is not a number from 0 to 255"),
        ("modbus://h/one", "Unit 'one' is not a number from 0 to 255"),
        ("modbus+rtu:///dev/ttyS0?unit=248", "Unit '248' is not a number from 0 to 247"),
        ("modbus+rtu:///dev/ttyS0?baudrate=9600&unit=1", "has no setting 'baudrate'. Did you mean baud?"),
        ("modbus+rtu:///dev/ttyS0?parity=even1&unit=1", "parity=even1 is none of E (even), O (odd), N (none)"),
        ("modbus+rtu:///dev/ttyS0?baud=fast&unit=1", "baud=fast is not a number from 50 to 4e+06"),
        ("modbus+rtu:///dev/ttyS0?baud=9600&baud=19200", "baud= is given twice"),
        ("modbus+rtu://dev/ttyS0?unit=1", "three slashes, modbus+rtu:///dev/ttyS0"),
        ("modbus+rtu:///?unit=1", "names no serial port"),
        ("modbus://h?unit=1", "has no setting 'unit'. Known are: timeout. The unit of a network device is in the path"),
        ("modbus+tls://h/1?cert=a.pem", "cert=FILE and key=FILE belong together"),
    ],
)
def test_a_url_that_is_wrong_says_what_is_right(url: str, words: str):
    with pytest.raises(ToolFault) as fault:
        parse(url)
    assert words in str(fault.value)


@pytest.mark.parametrize("url", ["modbus://h", "modbus://h/", "modbus+rtu:///dev/ttyS0"])
async def test_without_a_unit_nothing_is_read_and_none_is_assumed(url: str):
    driver = ModbusDriver(url)
    with pytest.raises(ToolFault, match="names no unit, and none is assumed") as fault:
        await driver.read([driver.point("holding 0")])
    assert "plant_scan finds them" in str(fault.value)


async def test_unit_0_of_a_serial_line_is_a_broadcast_and_is_refused():
    driver = ModbusDriver("modbus+rtu:///dev/ttyS0?unit=0")
    with pytest.raises(ToolFault, match="broadcast"):
        await driver.encode(driver.point("coil 0"), True)
