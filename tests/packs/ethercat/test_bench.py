"""The benchmark's figures are measured on slaves in OP and by reads that succeeded."""

from oasis_ethercat import bench
from oasis_ethercat.simulator.running import RunningSegment


def test_cycles_are_compared_in_op_and_the_segment_is_left(segment: RunningSegment):
    found = bench.cycles(segment, count=20, rounds=1)
    assert min(found.driver, found.bare, found.ratio) > 0
    assert segment.seen(3)["output_writes"] > 40
    assert segment.seen(3)["state"] == "INIT"


async def test_sdo_reads_of_both_reach_the_slave(segment: RunningSegment):
    found = await bench.sdo_reads(segment, "6 0x6041:0 uint16", count=10, rounds=2)
    assert min(found.driver, found.bare, found.ratio) > 0
    assert segment.seen(6)["sdo_uploads"] >= 40
