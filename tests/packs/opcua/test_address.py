"""URLs of servers."""

import pytest
from oasis_opcua import address

from oasis.errors import ToolFault


@pytest.mark.parametrize(
    ("url", "canonical", "wire"),
    [
        ("opc.tcp://PLC.local", "opc.tcp://plc.local:4840", "opc.tcp://plc.local:4840"),
        ("opc.tcp://10.0.0.5:4841/UA/Line/", "opc.tcp://10.0.0.5:4841/UA/Line", "opc.tcp://10.0.0.5:4841/UA/Line"),
        ("opc.tcp://[::1]:4840", "opc.tcp://[::1]:4840", "opc.tcp://[::1]:4840"),
        (
            "opc.tcp://anna@h?security=basic256sha256&mode=sign",
            "opc.tcp://anna@h:4840?security=Basic256Sha256&mode=Sign",
            "opc.tcp://h:4840",
        ),
    ],
)
def test_an_address_is_canonical_and_its_options_stay_at_home(url: str, canonical: str, wire: str):
    parsed = address.parse(url)
    assert (parsed.url, parsed.wire) == (canonical, wire)
    assert address.parse(parsed.url) == parsed


def test_a_password_in_a_url_is_refused_and_not_repeated():
    with pytest.raises(ToolFault) as fault:
        address.parse("opc.tcp://anna:hunter2@10.0.0.5:4840")
    assert "hunter2" not in str(fault.value)
    assert "OASIS_OPCUA_PASSWORD_10_0_0_5_4840" in str(fault.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("opc.tcp://", "not an OPC UA address"),
        ("http://h", "not an OPC UA address"),
        ("opc.tcp://h:99999", "not an OPC UA address"),
        ("opc.tcp://h?security=Basic128Rsa15", "no option"),
        ("opc.tcp://h?user=x", "no option"),
    ],
)
def test_what_is_no_address_says_how_to_write_one(url: str, said: str):
    with pytest.raises(ToolFault, match=said):
        address.parse(url)
