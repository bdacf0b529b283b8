"""AL states and status codes in words, with what to do.

Source: ETG.1000.6, AL status codes; ETG.1020.
"""

from oasis_ethercat.esc import ERROR_FLAG, State

_CODES = {
    0x0001: ("unspecified error", "look at the device's own error objects and display"),
    0x0002: ("no memory left in the slave", "map fewer or smaller PDOs"),
    0x0003: ("device setup invalid", "compare the modules plugged in with the configuration"),
    0x0004: (
        "SII and revision do not match",
        "the SII was written for another firmware: compare vendor, product, revision",
    ),
    0x0011: ("state change not allowed", "go one state at a time: INIT, PREOP, SAFEOP, OP"),
    0x0012: ("unknown state requested", "ask for INIT, PREOP, SAFEOP or OP"),
    0x0013: ("BOOT not supported", "stay out of BOOT"),
    0x0014: ("no valid firmware", "load a firmware over FoE"),
    0x0015: ("mailbox of BOOT configured wrongly", "take the BOOT mailbox from the SII"),
    0x0016: ("mailbox configured wrongly", "sync managers 0 and 1 must be as the SII says: initialise the bus again"),
    0x0017: ("sync managers configured wrongly", "compare sync manager addresses and lengths with the SII"),
    0x0018: ("no valid inputs available", "the device cannot read its inputs yet: wiring, encoder, supply"),
    0x0019: ("no valid outputs received", "send process data before asking for OP, and keep sending"),
    0x001A: ("synchronisation error", "cycle time and distributed clocks do not suit the device"),
    0x001B: (
        "sync manager watchdog: no outputs came for its time (100 ms by default)",
        "the master stopped or was too slow: find out why, then go to OP again",
    ),
    0x001C: ("sync manager types invalid", "the configuration is not for this device"),
    0x001D: (
        "output configuration invalid",
        "output PDOs are longer or shorter than the device's: compare the PDO map",
    ),
    0x001E: ("input configuration invalid", "input PDOs are longer or shorter than the device's: compare the PDO map"),
    0x001F: ("watchdog configuration invalid", "the device does not accept this watchdog time"),
    0x0020: ("needs a cold start", "switch the device off and on"),
    0x0021: ("needs INIT", "go to INIT, then up again"),
    0x0022: ("needs PREOP", "go to PREOP, then up again"),
    0x0023: ("needs SAFEOP", "go to SAFEOP, then up again"),
    0x0024: ("input mapping invalid", "an object mapped in 0x1A00 and following cannot be"),
    0x0025: ("output mapping invalid", "an object mapped in 0x1600 and following cannot be"),
    0x0026: ("settings inconsistent", "start-up objects contradict each other"),
    0x0027: ("free run not supported", "the device needs distributed clocks or sync manager events"),
    0x0028: ("synchronisation not supported", "let the device run freely"),
    0x0029: ("free run needs three buffers", "configure the sync manager in buffered mode"),
    0x002A: ("background watchdog", "the device's own processor was too slow"),
    0x002B: ("no valid inputs and outputs", "check wiring and supply of the device"),
    0x002C: ("fatal synchronisation error", "SYNC0 or SYNC1 does not arrive: distributed clocks"),
    0x002D: ("no SYNC signal", "distributed clocks were not started"),
    0x0030: ("distributed clocks configured wrongly", "compare the DC settings with the ESI file"),
    0x0031: ("distributed clocks latch configured wrongly", "compare the DC settings with the ESI file"),
    0x0032: ("PLL error", "the device cannot follow the master's clock: jitter"),
    0x0033: ("distributed clocks: input or output error", "cycle time or shift does not suit"),
    0x0034: ("distributed clocks time-out", "SYNC came too late"),
    0x0035: ("cycle time invalid", "choose a cycle time that the device supports"),
    0x0036: ("SYNC0 cycle time invalid", "choose a cycle time that the device supports"),
    0x0037: ("SYNC1 cycle time invalid", "choose a cycle time that the device supports"),
    0x0041: ("mailbox: AoE error", "read the device's error objects"),
    0x0042: ("mailbox: EoE error", "read the device's error objects"),
    0x0043: ("mailbox: CoE error", "a start-up SDO was refused: read its abort code"),
    0x0044: ("mailbox: FoE error", "the file transfer failed"),
    0x0045: ("mailbox: SoE error", "read the device's error objects"),
    0x004F: ("mailbox: VoE error", "read the device's error objects"),
    0x0050: ("SII not assigned", "give the SII back to the slave's processor (0x0500)"),
    0x0051: ("SII cannot be read", "the SII is damaged or its checksum is wrong"),
    0x0052: ("SII cannot be written", "the SII is write-protected or damaged"),
    0x0060: ("restarted by itself", "look for a dip of the supply"),
    0x0061: ("device identification changed", "an address switch was moved"),
    0x00F0: ("application controller available again", "go up through the states again"),
}


def words(code: int) -> str:
    """An AL status code with its meaning and what to do; `no error` for 0."""
    if not code:
        return "no error"
    if code in _CODES:
        meaning, remedy = _CODES[code]
        return f"0x{code:04X} {meaning}; {remedy}"
    kind = "the manufacturer's own code" if code >= 0x8000 else "a code without a standard meaning"
    return f"0x{code:04X} {kind}; look it up in the device's manual"


def state_name(status: int) -> str:
    """`OP`, or `SAFEOP+ERROR` with the error flag; `NONE` for 0, a slave that does not answer."""
    number = status & 0x0F
    name = State(number).name if number in State.__members__.values() else ("NONE" if not number else f"0x{number:X}")
    return f"{name}+ERROR" if status & ERROR_FLAG else name
