"""The segment as a station of the lab."""

import pytest
from oasis_ethercat import PACK
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.simulator import stations
from oasis_ethercat.simulator.veth import NoSegmentHere

from oasis.errors import ConfigError
from oasis.plant.driver import Budget


async def test_the_lab_s_segment_is_there_with_its_faults():
    try:
        async with PACK.simulators["segment"]({"faults": ["sii-mismatch@3"]}) as (station,):
            found = (await EthercatDriver(station.url).scan([], Budget())).found
            assert [f.fields["product"] for f in found[2:4]] == ["0x0000DEAD", "0x00002004"]
            assert station.url in station.site
    except NoSegmentHere as fault:
        pytest.skip(str(fault))


@pytest.mark.parametrize("given", [["flood"], ["vanished@9"], ["vanished@x"]])
def test_a_fault_that_is_none_is_refused_with_those_there_are(given: list[str]):
    with pytest.raises(ConfigError, match="There are: sii-mismatch"):
        stations.chosen(given)


def test_faults_have_a_slave_of_their_own_where_none_is_named():
    assert stations.chosen(["sdo-abort", "refuses-op@3"]) == [("sdo-abort", 6), ("refuses-op", 3)]
