"""Registers, commands and states of an EtherCAT slave controller (ESC).

Source: ETG.1000.4 (data link layer), ETG.1000.6 (application layer), the ESC register description of ETG.1300.
"""

from enum import IntEnum, IntFlag

ETHERTYPE = 0x88A4


class Command(IntEnum):
    """Datagram commands: auto-increment, configured, broadcast, logical; read, write, both."""

    NOP = 0
    APRD = 1
    APWR = 2
    APRW = 3
    FPRD = 4
    FPWR = 5
    FPRW = 6
    BRD = 7
    BWR = 8
    BRW = 9
    LRD = 10
    LWR = 11
    LRW = 12
    ARMW = 13
    FRMW = 14


class State(IntEnum):
    """States of the EtherCAT state machine, as in the low four bits of 0x0120 and 0x0130."""

    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


ERROR_FLAG = 0x10
"""In 0x0130: a change was refused or the state was lost. Written to 0x0120 it acknowledges that."""


class Register(IntEnum):
    """Addresses in the register space."""

    TYPE = 0x0000
    FMMUS = 0x0004
    SYNC_MANAGERS = 0x0005
    RAM_KB = 0x0006
    PORTS = 0x0007
    FEATURES = 0x0008
    STATION_ADDRESS = 0x0010
    STATION_ALIAS = 0x0012
    DL_CONTROL = 0x0100
    DL_STATUS = 0x0110
    AL_CONTROL = 0x0120
    AL_STATUS = 0x0130
    AL_STATUS_CODE = 0x0134
    RX_ERRORS = 0x0300
    LOST_LINKS = 0x0310
    WATCHDOG_DIVIDER = 0x0400
    WATCHDOG_TIME = 0x0420
    WATCHDOG_STATUS = 0x0440
    WATCHDOG_COUNTER = 0x0442
    SII_CONFIG = 0x0500
    SII_CONTROL = 0x0502
    SII_ADDRESS = 0x0504
    SII_DATA = 0x0508
    FMMU = 0x0600
    SYNC_MANAGER = 0x0800
    SYNC_ACTIVATION = 0x0981
    SYNC0_CYCLE = 0x09A0
    RAM = 0x1000


HAS_CLOCK, IS_CLOCK_64_BIT = 0x04, 0x08
"""In the features register: distributed clocks, and how wide they are."""
FMMU_BYTES = 16
SYNC_MANAGER_BYTES = 8
MAILBOX_FULL = 0x08
"""In the status byte of a sync manager in mailbox mode."""


class Mailbox(IntFlag):
    """Mailbox protocols as SII word 0x1C names them."""

    AOE = 0x01
    EOE = 0x02
    COE = 0x04
    FOE = 0x08
    SOE = 0x10
    VOE = 0x20


class CoeDetail(IntFlag):
    """What the SII's General category says of CoE."""

    SDO = 0x01
    SDO_INFO = 0x02
    PDO_ASSIGN = 0x04
    PDO_CONFIG = 0x08
    STARTUP_UPLOAD = 0x10
    COMPLETE_ACCESS = 0x20
