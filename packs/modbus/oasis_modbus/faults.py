"""What goes wrong on Modbus, in words."""

from oasis.errors import ToolFault
from oasis_modbus.endpoint import Endpoint

# Modbus Application Protocol V1.1b3, section 7.
EXCEPTIONS = {
    1: ("illegal function", "the device does not offer this table or function; try another table"),
    2: (
        "illegal data address",
        "the address does not exist there; check whether the document counts from 1 (40001 is wire address 0)",
    ),
    3: ("illegal data value", "the device does not accept this count or value"),
    4: ("device failure", "the device could not do it; look at the device itself"),
    5: ("acknowledge", "the device needs longer; read again in a while"),
    6: ("device busy", "it is serving someone else; wait, and read more registers with fewer calls"),
    7: ("negative acknowledge", "the device does not do what was asked; old controllers answer so to programming"),
    8: ("memory parity error", "the device found its memory faulty; look at the device itself"),
    10: ("gateway path unavailable", "the gateway has no way to this unit; check the unit number and its set-up"),
    11: (
        "gateway target did not respond",
        "the gateway is there, the unit behind it is silent: wrong unit number, no power, wiring, or line settings",
    ),
}
_OTHER = ("not in the standard", "see the device's manual")


class LinkFault(ToolFault):
    """The wire, not the device's answer, was at fault. `is_sent`: whether the request may have reached the device.

    `short` is it in three words.
    """

    short = "fault of the wire"

    def __init__(self, message: str, is_sent: bool) -> None:
        super().__init__(message)
        self.is_sent = is_sent


class Unreachable(LinkFault):
    """There is no connection; nothing was sent."""

    short = "no connection"


class Silent(LinkFault):
    """No reply within the time."""

    short = "no reply"


class Broken(LinkFault):
    """The connection ended before the reply was whole. `is_idle`: before any byte of it came."""

    short = "connection closed"

    def __init__(self, message: str, is_idle: bool) -> None:
        super().__init__(message, is_sent=True)
        self.is_idle = is_idle


class Garbled(LinkFault):
    """What came is no Modbus reply, or its checksum is wrong."""

    short = "no Modbus reply"


class Strange(LinkFault):
    """A whole reply, but not to this request: another unit, transaction or function. `unit` sent it."""

    short = "reply of another"

    def __init__(self, message: str, unit: int) -> None:
        super().__init__(message, is_sent=True)
        self.unit = unit


def exception(code: int) -> str:
    """A device's exception code as name and advice."""
    return f"{exception_name(code)}: {EXCEPTIONS.get(code, _OTHER)[1]}"


def exception_name(code: int) -> str:
    return f"exception 0x{code:02X} ({EXCEPTIONS.get(code, _OTHER)[0]})"


def unreachable(endpoint: Endpoint, why: str = "") -> Unreachable:
    """`why` is what the system said."""
    said = f" ({why})" if why else ""
    if endpoint.is_serial:
        return Unreachable(
            f"The serial port {endpoint.host} could not be opened{said}: it is not there, another program has it, or "
            "this user may not use it (on Linux: group dialout). Check the name and the cable; nothing was sent.",
            False,
        )
    return Unreachable(
        f"No connection to {endpoint.gateway}{said}: nothing listens there, a firewall is between, or the device takes "
        "no further client (many allow one to four). Check address and port; nothing was sent.",
        False,
    )


def no_tls(endpoint: Endpoint, why: str) -> Unreachable:
    """Something took the call and the TLS handshake with it failed; `why` is what the system said."""
    return Unreachable(
        f"The TLS handshake with {endpoint.gateway} failed ({why}): it may speak plain Modbus (modbus://HOST[:502]/UNIT)"
        " or be no Modbus device, or it may ask for our certificate: give cert=FILE and key=FILE, and let the device "
        "trust cert. Nothing was sent.",
        False,
    )


def unsettable(endpoint: Endpoint, why: str) -> Unreachable:
    """The port is there and does not take the line's settings; `why` is what the system said."""
    line = endpoint.line
    other = "N" if line.parity != "N" else "E"
    return Unreachable(
        f"The serial port {endpoint.host} does not take baud={line.baud}&parity={line.parity}&stop={line.stop}"
        f"&bits={line.bits} ({why}). Some ports know no parity, pseudo terminals among them, or no such baud rate: try "
        f"parity={other}, if the device has it too. Nothing was sent.",
        False,
    )


def silent(endpoint: Endpoint, unit: int, timeout_s: float, received: bytes = b"", *, is_late: bool = False) -> Silent:
    """`received` is what came of the reply; `is_late`: a reply to a request before came in place of it."""
    if received:
        return Silent(
            f"{endpoint.gateway} sent only {len(received)} bytes of a reply within {timeout_s:g} s "
            f"({received[:32].hex(' ')}) and then nothing. They are not used.",
            True,
        )
    if is_late:
        return Silent(
            f"{endpoint.gateway} did not answer for unit {unit} within {timeout_s:g} s, and meanwhile a reply to an "
            "earlier request came: it answers and takes longer. Give it more time "
            f"(?timeout={min(60, 4 * timeout_s):g} in the URL), and ask less often.",
            True,
        )
    other = " Unit 255 is silent on many devices: try 1." if unit == 255 else ""
    if endpoint.has_rtu_frames:
        other += " On a serial line, wrong baud rate, parity or swapped A and B wires look the same."
    return Silent(
        f"{endpoint.gateway} did not answer for unit {unit} within {timeout_s:g} s: wrong unit number, the unit is "
        f"off, or it takes longer than that.{other}",
        True,
    )


def broken(endpoint: Endpoint, received: bytes = b"", hint: str = "") -> Broken:
    if not received and endpoint.is_serial:
        return Broken(f"The serial port {endpoint.host} is gone: was its adapter pulled out?", True)
    if not received:
        said = f" ({hint})" if hint else ""
        return Broken(
            f"{endpoint.gateway} closed the connection without a reply{said}: it takes no further client (many allow "
            "one to four: is another program connected?), or does not know this unit or request.",
            True,
        )
    return Broken(
        f"{endpoint.gateway} closed the connection in the middle of a reply ({len(received)} bytes came: "
        f"{received[:32].hex(' ')}). They are not used.",
        False,
    )


def garbled(endpoint: Endpoint, received: bytes, why: str) -> Garbled:
    return Garbled(
        f"{endpoint.gateway} sent something that is not a Modbus reply ({why}): {received[:32].hex(' ')}. It is not "
        "used.",
        True,
    )


def other_unit(asked: int, answered: int) -> Strange:
    return Strange(
        f"Asked unit {asked}, and unit {answered} answered. The reply is not used: it may be another device's values. "
        f"Check which units this gateway serves, or ask unit {answered} if that is the one meant.",
        answered,
    )


def other_transaction(endpoint: Endpoint, asked: int, answered: int, unit: int) -> Strange:
    return Strange(
        f"{endpoint.gateway} answered transaction {answered} where {asked} was asked. The reply is not used: it may "
        "hold values of another request. Another client may share this gateway's connection, or it mixes replies up.",
        unit,
    )


def other_function(asked: int, answered: int, unit: int) -> Strange:
    return Strange(
        f"Asked function {asked:02d}, and a reply to function {answered:02d} came. It is not used.",
        unit,
    )
