"""CiA 402 in words: statusword, controlword, mode of operation.

Source: IEC 61800-7-201 (CiA 402), device control.
"""

STATUSWORD, CONTROLWORD = 0x6041, 0x6040
MODE, MODE_DISPLAY = 0x6060, 0x6061

_STATES = (
    (0x4F, 0x00, "not ready to switch on"),
    (0x4F, 0x40, "switch on disabled"),
    (0x6F, 0x21, "ready to switch on"),
    (0x6F, 0x23, "switched on"),
    (0x6F, 0x27, "operation enabled"),
    (0x6F, 0x07, "quick stop active"),
    (0x4F, 0x0F, "fault reaction active"),
    (0x4F, 0x08, "fault"),
)
_NEXT = {
    "switch on disabled": "controlword 0x06 leads to ready to switch on",
    "ready to switch on": "controlword 0x07 leads to switched on",
    "switched on": "controlword 0x0F leads to operation enabled: the motor can move",
    "operation enabled": "controlword 0x06 takes the torque away",
    "quick stop active": "controlword 0x00 leads to switch on disabled",
    "fault": "read 0x603F:0, remove the cause, then controlword 0x80 after 0x00 resets",
}
_MODES = {
    0: "none",
    1: "profile position",
    2: "velocity (frequency converter)",
    3: "profile velocity",
    4: "profile torque",
    6: "homing",
    7: "interpolated position",
    8: "cyclic synchronous position",
    9: "cyclic synchronous velocity",
    10: "cyclic synchronous torque",
}


def state(word: int) -> str:
    """The drive's state that a statusword shows."""
    return next((name for mask, value, name in _STATES if word & mask == value), "a state CiA 402 does not know")


def explained(index: int, subindex: int, value: object) -> str:
    """What the value of a CiA 402 object means, or nothing."""
    if not isinstance(value, int) or isinstance(value, bool) or subindex:
        return ""
    if index == STATUSWORD:
        return _status(value)
    if index == CONTROLWORD:
        return f"asks for: {command(value)}"
    if index in {MODE, MODE_DISPLAY}:
        return f"mode: {_MODES.get(value, 'of the manufacturer' if value < 0 else 'reserved')}"
    return ""


def _status(word: int) -> str:
    name = state(word)
    bits = ((0x80, "warning"), (0x0400, "target reached"), (0x0800, "internal limit active"))
    said = [f"drive: {name}", *(text for bit, text in bits if word & bit)]
    if not word & 0x10 and name not in {"switch on disabled", "not ready to switch on"}:
        said.append("no voltage on the power stage")
    return "; ".join([*said, *([_NEXT[name]] if name in _NEXT else [])])


def command(word: int) -> str:
    """What a controlword asks a drive to do."""
    if word & 0x80:
        return "fault reset (on the rising edge of bit 7)"
    if not word & 0x02:
        return "disable voltage"
    if not word & 0x04:
        return "quick stop"
    if not word & 0x01:
        return "shutdown"
    return "enable operation: the motor can move" if word & 0x08 else "switch on"
