"""The line's process."""

import pytest
from oasis_opcua.simulator.process import Process


def test_the_belt_follows_its_set_point_at_its_own_rate():
    process = Process(is_started=True)
    process.step(1.0, 40.0, 140.0, True)
    assert process.speed == 15.0
    for _ in range(3):
        process.step(1.0, 40.0, 140.0, True)
    assert process.speed == 40.0


def test_a_pack_is_counted_for_each_quarter_metre_of_belt():
    process = Process(is_started=True, speed=60.0)
    for _ in range(10):
        process.step(0.1, 60.0, 140.0, True)
    assert process.travel_mm == pytest.approx(1000.0)
    assert process.packs in (3, 4)
    process.step(0.1, 60.0, 140.0, True)
    assert process.packs == 4


def test_a_stopped_line_runs_out_and_counts_no_further():
    process = Process(is_started=False, speed=10.0)
    process.step(1.0, 20.0, 140.0, True)
    packs = process.packs
    process.step(10.0, 20.0, 140.0, True)
    assert (process.speed, process.packs, process.state) == (0.0, packs, 0)
