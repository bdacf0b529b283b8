"""The simulated drive: its states under CiA 402, and a shaft that turns."""

import pytest
from oasis_ethercat import cia402
from oasis_ethercat.simulator.drive import DRIVE, DriveBehaviour
from oasis_ethercat.simulator.objects import Objects


class Axis:
    """A drive without a wire; time passes by steps of 1 ms."""

    def __init__(self) -> None:
        self.objects = Objects(DRIVE, 1)
        self.behaviour = DriveBehaviour()

    def run(self, seconds: float = 0.002, **values: int) -> str:
        for name, value in values.items():
            self.objects.put({"cw": 0x6040, "mode": 0x6060, "speed": 0x60FF, "goal": 0x607A}[name], value)
        for _ in range(round(seconds * 1000)):
            self.behaviour.step(self.objects, 0.001)
        return cia402.state(self.objects.number(0x6041))

    def enable(self, mode: int) -> None:
        for word in (6, 7, 15):
            self.run(cw=word, mode=mode)

    @property
    def position(self) -> int:
        return self.objects.number(0x6064)


def test_controlwords_lead_through_the_states():
    axis = Axis()
    said = [axis.run(cw=word) for word in (0, 6, 7, 15, 7, 6, 0)]
    assert said == [
        "switch on disabled",
        "ready to switch on",
        "switched on",
        "operation enabled",
        "switched on",
        "ready to switch on",
        "switch on disabled",
    ]


def test_enable_operation_from_switch_on_disabled_does_nothing():
    assert Axis().run(cw=15) == "switch on disabled"


def test_velocity_mode_ramps_up_and_turns_the_shaft():
    axis = Axis()
    axis.enable(mode=3)
    axis.run(0.05, speed=10_000)
    assert axis.objects.number(0x606C) == pytest.approx(5_000, abs=300)
    axis.run(1)
    assert (axis.objects.number(0x606C), axis.position) == (10_000, pytest.approx(10_000, abs=400))


def test_position_mode_arrives_and_says_so():
    axis = Axis()
    axis.enable(mode=1)
    axis.run(cw=0x1F, goal=5000)
    assert not axis.objects.number(0x6041) & 0x0400
    axis.run(1)
    assert (axis.position, axis.objects.number(0x6041) & 0x1400) == (5000, 0x1400)


def test_a_relative_set_point_counts_from_where_the_shaft_is():
    axis = Axis()
    axis.enable(mode=1)
    for _ in range(2):
        axis.run(1, cw=0x5F, goal=1000)
        axis.run(cw=0x4F)
    assert axis.position == 2000


def test_cyclic_position_follows_each_value():
    axis = Axis()
    axis.enable(mode=8)
    for goal in range(0, 500, 10):
        axis.run(0.001, goal=goal)
    assert axis.position == 490


def test_the_shaft_stands_while_the_drive_is_not_enabled():
    axis = Axis()
    axis.run(0.5, cw=6, mode=3, speed=10_000)
    assert axis.position == 0


def test_a_quick_stop_brakes_to_a_stand():
    axis = Axis()
    axis.enable(mode=3)
    axis.run(0.5, speed=10_000)
    assert axis.run(0.1, cw=2) == "quick stop active"
    assert axis.objects.number(0x606C) == 0


def test_losing_process_data_while_moving_is_a_fault_that_needs_a_reset():
    axis = Axis()
    axis.enable(mode=3)
    axis.run(0.5, speed=10_000)
    axis.behaviour.lost(axis.objects)
    assert axis.run(0.1) == "fault"
    assert axis.objects.number(0x603F) == 0x8700
    assert axis.run(cw=6) == "fault"
    assert [axis.run(cw=0), axis.run(cw=0x80)] == ["fault", "switch on disabled"]
    assert axis.objects.number(0x603F) == 0
