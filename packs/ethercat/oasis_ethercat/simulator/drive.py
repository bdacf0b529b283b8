"""A CiA 402 servo drive: its objects, and the state machine that its controlword moves.

Source: IEC 61800-7-201 (CiA 402). Units: counts, counts/s, counts/s²; 10,000 counts are one turn.
"""

from oasis_ethercat.coe_types import INT8, INT16, INT32, STRING, UINT16, UINT32
from oasis_ethercat.simulator.device import READ, WRITE, Behaviour, Device, Entry, Item, Mailboxes, Pdo, Values, padding
from oasis_ethercat.simulator.motor import Motor

CONTROLWORD, STATUSWORD, ERROR_CODE = 0x6040, 0x6041, 0x603F
MODE, MODE_DISPLAY = 0x6060, 0x6061
POSITION, VELOCITY, TORQUE = 0x6064, 0x606C, 0x6077
TARGET_POSITION, TARGET_VELOCITY = 0x607A, 0x60FF
PROFILE_VELOCITY, ACCELERATION, QUICK_STOP_DECELERATION = 0x6081, 0x6083, 0x6085

PROFILE_POSITION, PROFILE_VELOCITY_MODE, CYCLIC_POSITION, CYCLIC_VELOCITY = 1, 3, 8, 9

DISABLED, READY, SWITCHED_ON, ENABLED, QUICK_STOP, REACTION, FAULT = (
    "switch on disabled",
    "ready to switch on",
    "switched on",
    "operation enabled",
    "quick stop active",
    "fault reaction active",
    "fault",
)
STATUS = {
    DISABLED: 0x0250,
    READY: 0x0231,
    SWITCHED_ON: 0x0233,
    ENABLED: 0x0237,
    QUICK_STOP: 0x0217,
    REACTION: 0x021F,
    FAULT: 0x0218,
}
_TARGET_REACHED, _ACKNOWLEDGE = 1 << 10, 1 << 12
PROCESS_DATA_LOST = 0x8700
_GENERIC_ERROR = 0x01
"""In the error register of an emergency."""

_SHUTDOWN, _SWITCH_ON, _ENABLE = "shutdown", "switch on", "enable operation"
_NEXT = {
    DISABLED: {_SHUTDOWN: READY},
    READY: {_SWITCH_ON: SWITCHED_ON, _ENABLE: SWITCHED_ON},
    SWITCHED_ON: {_SHUTDOWN: READY, _ENABLE: ENABLED},
    ENABLED: {_SHUTDOWN: READY, _SWITCH_ON: SWITCHED_ON},
    QUICK_STOP: {_ENABLE: ENABLED},
}


def next_state(state: str, control: int) -> str:
    """The state after one controlword, faults apart: one transition at a time."""
    if state in {REACTION, FAULT}:
        return state
    if not control & 0x02:
        return DISABLED
    if not control & 0x04:
        return QUICK_STOP if state in {ENABLED, QUICK_STOP} else DISABLED
    return _NEXT[state].get(_command(control), state)


def _command(control: int) -> str:
    """What bits 0 to 3 ask for; bits 1 and 2 are set."""
    if not control & 0x01:
        return _SHUTDOWN
    return _ENABLE if control & 0x08 else _SWITCH_ON


class DriveBehaviour(Behaviour):
    """Follows the controlword, moves the motor while enabled; loses its process data as a fault when it was moving."""

    def __init__(self) -> None:
        self._state = DISABLED
        self._motor = Motor()
        self._reset_bit = self._setpoint_bit = False
        self._setpoint: int | None = None

    def step(self, objects: Values, seconds: float) -> None:
        control = objects.number(CONTROLWORD)
        mode = objects.number(MODE)
        self._advance_state(objects, control)
        if self._state == ENABLED:
            self._move(objects, control, mode, seconds)
        else:
            self._halt(objects, seconds)
        objects.put(MODE_DISPLAY, mode)
        objects.put(POSITION, round(self._motor.position))
        objects.put(VELOCITY, round(self._motor.velocity))
        objects.put(TORQUE, round(self._motor.acceleration / 1000))
        objects.put(STATUSWORD, STATUS[self._state] | self._extra(objects, control, mode))

    def lost(self, objects: Values) -> None:
        if self._state in {ENABLED, QUICK_STOP}:
            self.trip(objects, PROCESS_DATA_LOST)

    def trip(self, objects: Values, code: int) -> None:
        self._state = REACTION
        objects.put(ERROR_CODE, code)
        objects.emergencies.append((code, _GENERIC_ERROR))

    def _advance_state(self, objects: Values, control: int) -> None:
        reset = bool(control & 0x80)
        if self._state == FAULT and reset and not self._reset_bit:
            self._state = DISABLED
            objects.put(ERROR_CODE, 0)
        elif not (self._state == QUICK_STOP and control & 0x02 and self._motor.velocity):
            self._state = next_state(self._state, control)
        self._reset_bit = reset
        if self._state != ENABLED:
            self._setpoint = None

    def _halt(self, objects: Values, seconds: float) -> None:
        if self._state in {QUICK_STOP, REACTION}:
            self._motor.toward_velocity(0, objects.number(QUICK_STOP_DECELERATION), seconds)
            if self._state == REACTION and not self._motor.velocity:
                self._state = FAULT
        else:
            self._motor.coast()

    def _move(self, objects: Values, control: int, mode: int, seconds: float) -> None:
        limit = objects.number(ACCELERATION)
        if mode == PROFILE_POSITION:
            self._take_setpoint(objects, control)
            speed = objects.number(PROFILE_VELOCITY)
            goal = self._motor.position if self._setpoint is None else self._setpoint
            self._motor.toward_position(goal, 0 if control & 0x100 else speed, limit, seconds)
        elif mode == CYCLIC_POSITION:
            self._motor.follow(objects.number(TARGET_POSITION), seconds)
        elif mode in {PROFILE_VELOCITY_MODE, CYCLIC_VELOCITY}:
            goal = 0 if control & 0x100 else objects.number(TARGET_VELOCITY)
            self._motor.toward_velocity(goal, limit if mode == PROFILE_VELOCITY_MODE else 1e9, seconds)
        else:
            self._motor.toward_velocity(0, limit, seconds)

    def _take_setpoint(self, objects: Values, control: int) -> None:
        """A new set point is taken on the rising edge of bit 4; with bit 6 it counts from where the motor is."""
        is_new = bool(control & 0x10)
        if is_new and not self._setpoint_bit:
            start = round(self._motor.position) if control & 0x40 else 0
            self._setpoint = start + objects.number(TARGET_POSITION)
        self._setpoint_bit = is_new

    def _extra(self, objects: Values, control: int, mode: int) -> int:
        """Target reached, and the bit whose meaning is the mode's."""
        if self._state != ENABLED:
            return 0
        if mode == PROFILE_POSITION:
            is_there = self._setpoint is None or self._motor.is_at(self._setpoint)
            return (_TARGET_REACHED if is_there else 0) | (_ACKNOWLEDGE if control & 0x10 else 0)
        if mode == PROFILE_VELOCITY_MODE:
            is_there = self._motor.velocity == objects.number(TARGET_VELOCITY)
            return (_TARGET_REACHED if is_there else 0) | (_ACKNOWLEDGE if not self._motor.velocity else 0)
        return _ACKNOWLEDGE if mode in {CYCLIC_POSITION, CYCLIC_VELOCITY} else 0


_LIMIT = 2**31 - 1
_BOTH = READ | WRITE

DRIVE = Device(
    "OX-DRIVE",
    0x0000A515,
    0x4402,
    0x00030001,
    receive=(
        Pdo(
            0x1600,
            "Drive outputs",
            (
                Entry(CONTROLWORD, 0, UINT16, "Controlword"),
                Entry(TARGET_POSITION, 0, INT32, "Target position"),
                Entry(TARGET_VELOCITY, 0, INT32, "Target velocity"),
                Entry(MODE, 0, INT8, "Mode of operation"),
                padding(8),
            ),
        ),
    ),
    transmit=(
        Pdo(
            0x1A00,
            "Drive inputs",
            (
                Entry(STATUSWORD, 0, UINT16, "Statusword"),
                Entry(POSITION, 0, INT32, "Position actual value"),
                Entry(VELOCITY, 0, INT32, "Velocity actual value"),
                Entry(MODE_DISPLAY, 0, INT8, "Mode of operation display"),
                padding(8),
                Entry(ERROR_CODE, 0, UINT16, "Error code"),
            ),
        ),
    ),
    mailboxes=Mailboxes(),
    objects={
        (0x1000, 0): Item(UINT32, 0x00020192, "Device type"),
        (0x100A, 0): Item(STRING, "3.1.4 (" + "servo firmware, safe torque off, " * 9 + "release)", "Software version"),
        (CONTROLWORD, 0): Item(UINT16, 0, "Controlword", _BOTH),
        (STATUSWORD, 0): Item(UINT16, STATUS[DISABLED], "Statusword"),
        (MODE, 0): Item(INT8, 0, "Mode of operation", _BOTH, 0, 9),
        (TORQUE, 0): Item(INT16, 0, "Torque actual value"),
        (TARGET_POSITION, 0): Item(INT32, 0, "Target position", _BOTH),
        (PROFILE_VELOCITY, 0): Item(UINT32, 20_000, "Profile velocity", _BOTH, 0, 200_000),
        (ACCELERATION, 0): Item(UINT32, 100_000, "Profile acceleration", _BOTH, 1, 10_000_000),
        (QUICK_STOP_DECELERATION, 0): Item(UINT32, 1_000_000, "Quick stop deceleration", _BOTH, 1, 10_000_000),
        (TARGET_VELOCITY, 0): Item(INT32, 0, "Target velocity", _BOTH, -200_000, 200_000),
        (0x2000, 0): Item(STRING, "axis 1", "User label", _BOTH),
        (0x6502, 0): Item(UINT32, 0x0185, "Supported drive modes"),
    },
    behaviour=DriveBehaviour,
)
