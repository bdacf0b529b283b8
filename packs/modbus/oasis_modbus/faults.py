"""What goes wrong on Modbus, in words."""

# Modbus Application Protocol V1.1b3, section 7.
EXCEPTIONS = {
    1: ("illegal function", "the device does not offer this table; try another table"),
    2: (
        "illegal data address",
        "one of the addresses does not exist there; ask for fewer, or check whether the document counts from 1 "
        "(document 40001 is wire address 0)",
    ),
    3: ("illegal data value", "the device does not accept this count; ask for fewer, or for whole values only"),
    4: ("device failure", "the device could not do it; look at the device itself"),
    5: ("acknowledge", "the device needs longer; read again in a while"),
    6: (
        "device busy",
        "it is serving someone else; wait before reading again, and read more registers with fewer calls",
    ),
    8: ("memory parity error", "the device found its memory faulty; look at the device itself"),
    10: (
        "gateway path unavailable",
        "the gateway has no way to this unit; check the unit number and the gateway's set-up",
    ),
    11: (
        "gateway target did not respond",
        "the gateway is there, the unit behind it is silent: wrong unit number, no power, wiring, or line settings",
    ),
}


def exception(code: int) -> str:
    """A device's exception code as name and advice."""
    name, advice = EXCEPTIONS.get(code, ("not in the standard", "see the device's manual"))
    return f"exception 0x{code:02X} ({name}): {advice}"


def unreachable(where: str) -> str:
    return (
        f"No connection to {where}: nothing listens there, a firewall is between, or the device takes no "
        "further client (many allow one to four). Check address and port; nothing was read."
    )


def silent(where: str, unit: int, timeout_s: float) -> str:
    other = " Unit 255 is silent on many devices: try 1." if unit == 255 else ""
    return (
        f"{where} took the connection and did not answer within {timeout_s:g} s: wrong unit number, or the unit is off."
        f"{other} Nothing was read."
    )


def other_unit(asked: int, answered: int) -> str:
    return (
        f"Asked unit {asked}, and unit {answered} answered. The reply is not used: it may be another device's values. "
        f"Check which units this gateway serves, or ask unit {answered} if that is the one meant."
    )
