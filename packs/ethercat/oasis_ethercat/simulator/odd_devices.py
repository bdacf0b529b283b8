"""Devices that few segments have and that a master must cope with: large, without CoE, with PDOs to choose from."""

from oasis_ethercat.coe_types import BOOL, INT32, UINT8, UINT16, UINT32
from oasis_ethercat.esc import CoeDetail, Mailbox
from oasis_ethercat.simulator.device import Device, Entry, Mailboxes, Pdo, padding

_VENDOR = 0x0000A515
_ALL_OF_COE = CoeDetail.SDO | CoeDetail.SDO_INFO | CoeDetail.PDO_ASSIGN | CoeDetail.COMPLETE_ACCESS
_WORDS = 100


def _words(pdo: int, index: int, name: str) -> Pdo:
    """400 bytes of process data."""
    entries = tuple(Entry(index, sub, UINT32, f"Word {sub}") for sub in range(1, _WORDS + 1))
    return Pdo(pdo, name, entries)


GATEWAY = Device(
    "OX-GATEWAY",
    _VENDOR,
    0x5501,
    0x00010000,
    receive=(_words(0x1600, 0x7000, "Outputs"),),
    transmit=tuple(_words(0x1A00 + n, 0x6000 + 0x10 * n, f"Inputs {n + 1}") for n in range(4)),
    mailboxes=Mailboxes(0x1000, 512, 0x1200, 512, Mailbox.COE | Mailbox.EOE | Mailbox.FOE | Mailbox.VOE, _ALL_OF_COE),
    has_clock=True,
    has_sii_pdos=False,
)
"""400 bytes of outputs and 1,600 of inputs, more than a frame holds; named by CoE alone."""

ENCODER = Device(
    "OX-ENC",
    _VENDOR,
    0x5002,
    0x00020001,
    transmit=(
        Pdo(
            0x1A00,
            "Status",
            (Entry(0x6000, 1, BOOL, "Warning"), padding(2), Entry(0x6000, 4, BOOL, "Error"), padding(12)),
        ),
        Pdo(0x1A01, "Position", (Entry(0x6000, 17, UINT32, "Position"),)),
    ),
    unassigned=(
        Pdo(0x1A02, "Velocity", (Entry(0x6000, 18, INT32, "Velocity"),)),
        Pdo(0x1A03, "Position, short", (Entry(0x6000, 19, UINT16, "Position, short"), padding(16))),
    ),
    mailboxes=Mailboxes(coe=_ALL_OF_COE),
    has_clock=True,
)
"""Its input PDOs are chosen by writing 0x1C13 in PREOP."""

SAFETY = Device(
    "OX-SAFE",
    _VENDOR,
    0x5904,
    0x00010002,
    receive=(
        Pdo(
            0x1600,
            "FSoE master frame",
            (
                Entry(0x7000, 1, UINT8, "Command"),
                *(Entry(0x7001, n, BOOL, f"Safe output {n}") for n in range(1, 9)),
                Entry(0x7000, 3, UINT16, "CRC 0"),
                Entry(0x7000, 2, UINT16, "Connection"),
            ),
        ),
    ),
    transmit=(
        Pdo(
            0x1A00,
            "FSoE slave frame",
            (
                Entry(0x6000, 1, UINT8, "Command"),
                *(Entry(0x6001, n, BOOL, f"Safe input {n}") for n in range(1, 33)),
                *(Entry(0x6000, 3 + n, UINT16, f"CRC {n}") for n in range(2)),
                Entry(0x6000, 2, UINT16, "Connection"),
            ),
        ),
    ),
    mailboxes=Mailboxes(coe=CoeDetail.SDO),
)
"""FSoE frames as process data, and no list of objects."""

BRIDGE = Device("OX-BRIDGE", _VENDOR, 0x6601, 0x00010000, mailboxes=Mailboxes(protocols=Mailbox.EOE))
"""A mailbox without CoE, and no process data."""
