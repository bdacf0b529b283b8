"""SDO abort codes in words, with what to do.

Source: ETG.1000.6, SDO abort codes; CiA 301.
"""

_CODES = {
    0x05030000: ("toggle bit did not change", "the transfer got out of step: read again"),
    0x05040000: ("the slave's own SDO time-out", "read again, less often"),
    0x05040001: ("command unknown to the slave", "the slave does not offer this service"),
    0x05040005: ("out of memory", "the value is too long for the slave"),
    0x06010000: ("access not supported", "read subindex by subindex, without complete access"),
    0x06010001: ("write-only object", "it cannot be read"),
    0x06010002: ("read-only object", "it cannot be written"),
    0x06010003: ("subindex 0 must be written as 0 first", "write 0, the entries, then their number"),
    0x06010004: ("no complete access to this object", "read subindex by subindex"),
    0x06010005: ("longer than the mailbox", "read a smaller object"),
    0x06010006: ("mapped in a PDO, SDO download blocked", "write it as process data, or unmap it in PREOP"),
    0x06020000: ("no such object", "list the object dictionary: scan item `N od`"),
    0x06040041: ("cannot be mapped in a PDO", "map another object"),
    0x06040042: ("mapping longer than the PDO", "map fewer objects"),
    0x06040043: ("parameter incompatible", "compare with the manual"),
    0x06040047: ("internal incompatibility", "compare with the manual"),
    0x06060000: ("hardware fault", "look at the device itself"),
    0x06070010: ("length does not fit the type", "write it with the type of the object dictionary"),
    0x06070012: ("too long", "write it with the type of the object dictionary"),
    0x06070013: ("too short", "write it with the type of the object dictionary"),
    0x06090011: ("no such subindex", "read subindex 0: it says how many there are"),
    0x06090030: ("value out of range", "keep within the device's limits"),
    0x06090031: ("value too high", "keep within the device's limits"),
    0x06090032: ("value too low", "keep within the device's limits"),
    0x06090033: ("module list does not match", "compare the modules plugged in with 0xF030"),
    0x06090036: ("maximum below minimum", "write the limits in the other order"),
    0x08000000: ("general error", "read the device's error objects"),
    0x08000020: ("cannot be stored or transferred", "read the device's error objects"),
    0x08000021: ("not while under local control", "release the device from its own panel or tool"),
    0x08000022: ("not in this state", "mostly: only in PREOP, or only while the drive is switched off"),
    0x08000023: ("no object dictionary", "the slave could not build it: its firmware or SII is damaged"),
}


def words(code: int) -> str:
    """An SDO abort code with its meaning and what to do."""
    meaning, remedy = _CODES.get(code, ("a code without a standard meaning", "look it up in the device's manual"))
    return f"SDO abort 0x{code:08X}: {meaning}; {remedy}"
