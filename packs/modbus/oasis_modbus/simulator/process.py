"""The moving process: a boiler, and a pump station that feeds the tank of the same plant.

First order throughout, in steps of half a second at most, so that what was written shows in what is read later and the
same commands at the same times always give the same values. The water is about ten times quicker than a real boiler's,
so that a change is seen while one waits. Times in seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

STEP_S = 0.5
MOST_STEPS = 4_000
"""A plant that nobody asked for hours catches up in this many longer steps."""

FIRED_C = 130.0
"""Where the water would end with the burner on for ever, in degrees Celsius."""
COLD_C = 40.0
"""Where it would end without: the return of the network."""
WATER_S = 300.0
PRESSURE_S = 15.0
FLUE_S = 45.0
BURNER_KW = 200.0
PUMP_FLOW = 12.3
"""Feed flow of one feed pump, in m3/h."""
PUMP_RPM = 1450.0


@dataclass(slots=True)
class Boiler:
    """A hot water boiler with a two-point control. Temperatures in degrees Celsius, pressures in bar, flow in m3/h."""

    set_point: float = 82.0
    high_warning: float = 85.0
    high_trip: float = 95.0
    is_automatic: int = 1
    hysteresis: float = 2.0
    pressure_limit: float = 3.0
    is_released: bool = True
    pump_1: bool = True
    pump_2: bool = False
    water: float = 78.3
    pressure: float = 1.64
    flow: float = PUMP_FLOW
    rpm: float = PUMP_RPM
    flue_gas: float = 164.5
    is_firing: bool = True
    burner_s: float = 135_195 * 3600.0
    energy_kwh: float = 1_204_873.0
    name: str = "Oasis BK-200"
    location: str = "Boiler house 1"

    def step(self, seconds: float) -> None:
        """Let `seconds` go by."""
        self.is_firing = self._fires()
        running = self.pump_1 + self.pump_2
        self.flow = _towards(self.flow, PUMP_FLOW * running * (0.8 if running == 2 else 1.0), seconds, 3.0)
        self.rpm = _towards(self.rpm, PUMP_RPM if running else 0.0, seconds, 2.0)
        self.water = _towards(self.water, FIRED_C if self.is_firing else COLD_C, seconds, WATER_S)
        self.pressure = _towards(self.pressure, 1.64 + (self.water - 78.3) * 0.03, seconds, PRESSURE_S)
        self.flue_gas = _towards(self.flue_gas, 165.0 if self.is_firing else 70.0, seconds, FLUE_S)
        if self.is_firing:
            self.burner_s += seconds
            self.energy_kwh += BURNER_KW * seconds / 3600

    def _fires(self) -> bool:
        is_safe = self.water < self.high_trip and self.pressure < self.pressure_limit and not self.has_low_water
        if not self.is_released or not is_safe:
            return False
        if not self.is_automatic:
            return True
        half = self.hysteresis / 2
        return self.water < self.set_point + half if self.is_firing else self.water < self.set_point - half

    @property
    def burner_hours(self) -> float:
        return self.burner_s / 3600

    @property
    def power(self) -> float:
        """Burner power in percent."""
        return 100.0 if self.is_firing else 0.0

    @property
    def has_low_water(self) -> bool:
        return self.flow < 1.0

    @property
    def has_closed_door(self) -> bool:
        return True

    @property
    def is_warning(self) -> bool:
        return self.water >= self.high_warning

    @property
    def is_tripped(self) -> bool:
        return self.water >= self.high_trip


INFLOW = 14.0
"""What comes into the tank, in m3/h."""
TANK_M3 = 6.0
FULL_FLOW = 20.0
"""Flow of one pump at full speed, in m3/h."""
FULL_KW = 7.5


@dataclass(slots=True)
class PumpStation:
    """Two pumps that empty a tank. Speeds and level in percent, flows in m3/h, pressure in bar, energy in kWh."""

    speed_1: float = 70.0
    speed_2: float = 0.0
    is_started_1: bool = True
    is_started_2: bool = False
    high_alarm: float = 90.0
    flow_1: float = 14.0
    flow_2: float = 0.0
    level: float = 61.5
    suction: float = -0.22
    motor: float = 48.25
    energy_1: float = 20_412.6
    energy_2: float = 3_977.1
    volume_m3: float = 88_104.3
    name: str = "Oasis PS-2"

    def step(self, seconds: float) -> None:
        """Let `seconds` go by."""
        has_water = self.level > 2.0
        self.flow_1 = _towards(self.flow_1, self._wanted(self.is_started_1 and has_water, self.speed_1), seconds, 4.0)
        self.flow_2 = _towards(self.flow_2, self._wanted(self.is_started_2 and has_water, self.speed_2), seconds, 4.0)
        pumped = self.flow_1 + self.flow_2
        inflow = INFLOW if self.level < 100.0 else 0.0
        self.level = min(100.0, max(0.0, self.level + (inflow - pumped) * seconds / 3600 / TANK_M3 * 100))
        self.suction = 0.3 - 0.0327 * (100 - self.level) * 0.2 - pumped * 0.0192
        self.motor = _towards(self.motor, 25.0 + 1.66 * self.flow_1, seconds, 120.0)
        self.energy_1 += FULL_KW * (self.flow_1 / FULL_FLOW) ** 3 * seconds / 3600
        self.energy_2 += FULL_KW * (self.flow_2 / FULL_FLOW) ** 3 * seconds / 3600
        self.volume_m3 += pumped * seconds / 3600

    @staticmethod
    def _wanted(is_on: bool, speed: float) -> float:
        return FULL_FLOW * speed / 100 if is_on else 0.0

    @property
    def runs_1(self) -> bool:
        return self.flow_1 > 0.5

    @property
    def runs_2(self) -> bool:
        return self.flow_2 > 0.5

    @property
    def is_low(self) -> bool:
        return self.level < 15.0

    @property
    def is_high(self) -> bool:
        return self.level >= self.high_alarm


@dataclass(slots=True)
class Neighbour:
    """An old energy meter at the same gateway that takes its time. Voltage in V, current in A, frequency in Hz."""

    voltage: float = 231.4
    current: float = 12.75
    frequency: float = 50.01
    name: str = "EM-17"


@dataclass(slots=True)
class Plant:
    """All of it, brought to now whenever somebody asks. `clock` gives seconds; `speed` 0 holds the process still."""

    clock: Callable[[], float]
    speed: float = 1.0
    boiler: Boiler = field(default_factory=Boiler)
    pumps: PumpStation = field(default_factory=PumpStation)
    neighbour: Neighbour = field(default_factory=Neighbour)
    faulty: dict[int, Boiler] = field(default_factory=dict[int, Boiler])
    """Boilers of their own for the units that have a fault each."""
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._at = self.clock()

    def catch_up(self) -> None:
        """Let the time since the last call go by, times `speed`."""
        now = self.clock()
        left, self._at = max(0.0, now - self._at) * self.speed, now
        length = max(STEP_S, left / MOST_STEPS)
        while left > 0:
            step = min(length, left)
            for process in (self.boiler, self.pumps, *self.faulty.values()):
                process.step(step)
            left -= step


def _towards(value: float, target: float, seconds: float, constant_s: float) -> float:
    """First order: 63 % of the way in `constant_s`."""
    return value + (target - value) * min(1.0, seconds / constant_s)
