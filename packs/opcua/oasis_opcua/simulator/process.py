"""The moving process of the packaging line: a belt that follows its set point and counts the packs it carries."""

from dataclasses import dataclass, field

PACK_MM = 250.0
"""Length of belt for one pack."""
SPEED_RATE = 15.0
"""Metres per minute by which the belt's speed changes in a second."""
HEAT_RATE = 6.0
"""Degrees Celsius by which the sealer changes in a second."""
AMBIENT_C = 23.5


@dataclass(slots=True)
class Process:
    """State of the line. Speeds in m/min, temperatures in degrees Celsius, travel in millimetres."""

    is_started: bool = False
    speed: float = 0.0
    temperature: float = AMBIENT_C
    travel_mm: float = 0.0
    packs: int = 0
    recipe_name: str = "Oat flakes 500 g"
    recipe_number: int = 7
    target_g: float = 500.0
    _counted_mm: float = field(default=0.0, repr=False)

    def step(self, seconds: float, speed_setpoint: float, temperature_setpoint: float, is_sealing: bool) -> None:
        """Let `seconds` go by."""
        self.speed = _towards(self.speed, speed_setpoint if self.is_started else 0.0, SPEED_RATE * seconds)
        warm = temperature_setpoint if is_sealing else AMBIENT_C
        self.temperature = _towards(self.temperature, warm, HEAT_RATE * seconds)
        moved = self.speed * 1000 / 60 * seconds
        self.travel_mm += moved
        self._counted_mm += moved
        packs, self._counted_mm = divmod(self._counted_mm, PACK_MM)
        self.packs += int(packs)

    @property
    def state(self) -> int:
        """0 stopped, 1 starting, 2 running."""
        if not self.is_started:
            return 0
        return 2 if self.speed > 1.0 else 1

    def values(self) -> dict[str, bool | int | float | str]:
        """The line's signals that follow from the state, by name."""
        return {
            "Line1.Conveyor.Speed": self.speed,
            "Line1.Conveyor.MotorCurrent": 0.4 + self.speed / 10 if self.speed else 0.0,
            "Line1.Conveyor.Running": self.speed > 0.0,
            "Line1.Sealer.Temperature": self.temperature,
            "Line1.Checkweigher.Weight": self.target_g + (self.packs % 7 - 3) * 0.4,
            "Line1.Checkweigher.Rejects": self.packs // 50,
            "Line1.PacksCounted": self.packs,
            "Line1.PacksPerMinute": self.speed * 1000 / PACK_MM,
            "Line1.BeltTravelMillimetres": int(self.travel_mm),
            "Line1.State": self.state,
            "Line1.Recipe.Name": self.recipe_name,
            "Line1.Recipe.Number": self.recipe_number,
            "Line1.Recipe.TargetWeight": self.target_g,
        }


def _towards(value: float, target: float, most: float) -> float:
    return min(target, value + most) if value < target else max(target, value - most)
