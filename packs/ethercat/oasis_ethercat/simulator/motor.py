"""A motor shaft: position and velocity under a limited acceleration. Counts, counts/s, counts/s²."""

import math

_SLOWEST = 1.0
"""Counts/s under which the shaft stands."""


class Motor:
    """An ideal shaft: it does what it is told within the limits."""

    def __init__(self) -> None:
        self.position = 0.0
        self.velocity = 0.0
        self.acceleration = 0.0

    def coast(self) -> None:
        """No torque: this shaft stops by friction at once."""
        self.velocity = self.acceleration = 0.0

    def toward_velocity(self, goal: float, limit: float, seconds: float) -> None:
        """Change speed by at most `limit` counts/s² and turn on."""
        change = max(-limit * seconds, min(limit * seconds, goal - self.velocity))
        self._turn(self.velocity + change, seconds)

    def toward_position(self, goal: float, speed: float, limit: float, seconds: float) -> None:
        """Go to a position on a trapezoid: at most `speed`, braking early enough to stand there."""
        left = goal - self.position
        if abs(left) < 1 and abs(self.velocity) <= limit * max(seconds, 1e-4):
            self.position = goal
            self.coast()
            return
        braking = math.sqrt(2 * limit * abs(left))
        step = abs(left) / seconds if seconds else speed
        wanted = math.copysign(min(speed, braking, step), left)
        self.toward_velocity(wanted, limit, seconds)

    def follow(self, goal: float, seconds: float) -> None:
        """Be at a position that the master moves on each cycle."""
        if seconds:
            self._turn((goal - self.position) / seconds, seconds)

    def is_at(self, goal: float) -> bool:
        return abs(self.position - goal) < 1 and not self.velocity

    def _turn(self, velocity: float, seconds: float) -> None:
        if seconds:
            self.acceleration = (velocity - self.velocity) / seconds
        self.velocity = 0.0 if abs(velocity) < _SLOWEST else velocity
        self.position += self.velocity * seconds
