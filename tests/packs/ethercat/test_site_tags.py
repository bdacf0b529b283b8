"""What the site file asks of the driver: what a write can change, and whether one can be made. Nothing is sent."""

import pytest
from oasis_ethercat.driver import EthercatDriver

from oasis.errors import ToolFault


def cells(text: str) -> frozenset[str]:
    driver = EthercatDriver("ethercat://none0")
    return driver.cells(driver.point(text))


def test_an_object_is_the_same_by_sdo_and_as_process_data():
    assert cells("2 0x7000:1 uint16") == cells("2 out 0x7000:1 uint16") == {"2 0x7000:1"}


@pytest.mark.parametrize("other", ["3 0x7000:1 uint16", "2 0x7000:2 uint16", "2 state", "bus state"])
def test_other_objects_and_states_do_not_overlap_with_it(other: str):
    assert not cells("2 0x7000:1 uint16") & cells(other)


def test_inputs_are_never_written():
    driver = EthercatDriver("ethercat://none0")
    driver.check_writable(driver.point("2 out 0x7000:1 uint16"))
    with pytest.raises(ToolFault, match="is an input"):
        driver.check_writable(driver.point("2 in 0x6000:1 uint16"))
