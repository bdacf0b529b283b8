"""Objects by SDO, with pysoem: each answer to its own request, each write sent once, every failure in words.

SOEM matches an answer to a request by its index alone, so that one that comes late would be taken for the answer to
the next request of the same object. After a request that was given up, another object is read until its own answer
comes: a slave answers in order.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from oasis_ethercat import abort_codes, library
from oasis_ethercat.slave import Slave

TIMEOUT_MS = 300
LARGEST_OBJECT = 8192
_DEVICE_TYPE, _IDENTITY = 0x1000, 0x1018
_STEPS = 4
_MOST_ERRORS = 64
_TOO_LONG = 3
T = TypeVar("T")


class SdoRefused(Exception):
    """The slave aborted an SDO; the text has the code in words."""


class SdoSilent(Exception):
    """No answer to an SDO came in time, or none that belongs to it."""


class SdoClient:
    """SDO of one master's slaves, one at a time under its lock."""

    def __init__(self, pysoem: Any, handle: Any, lock: threading.RLock) -> None:
        self._pysoem = pysoem
        self._lock = lock
        handle.sdo_read_timeout = handle.sdo_write_timeout = TIMEOUT_MS * 1000
        self._faults = (pysoem.SdoError, pysoem.WkcError, pysoem.MailboxError, pysoem.PacketError)

    def read(self, slave: Slave, index: int, subindex: int, *, is_complete: bool = False) -> bytes:
        """An object's bytes; complete: all its subindexes from this one on. Raises SdoRefused, SdoSilent."""

        def ask() -> bytes:
            return slave.handle.sdo_read(index, subindex, LARGEST_OBJECT, is_complete)

        with self._lock, library.frames_within(library.MAILBOX_FRAME_US):
            self._get_in_step(slave)
            try:
                return self._asked(slave, index, ask)
            except self._pysoem.PacketError as fault:
                if fault.error_code == _TOO_LONG:
                    raise SdoRefused(f"the value is longer than {LARGEST_OBJECT} bytes") from fault
            self._get_in_step(slave)  # another request's answer had come
            try:
                return self._asked(slave, index, ask)
            except self._pysoem.PacketError as fault:
                raise SdoSilent("another request's answer came twice") from fault

    def write(self, slave: Slave, index: int, subindex: int, data: bytes) -> None:
        """Write an object's bytes, once. Raises SdoRefused, SdoSilent: then it may have been taken."""
        with self._lock, library.frames_within(library.MAILBOX_FRAME_US):
            self._get_in_step(slave)
            try:
                self._asked(slave, index, lambda: slave.handle.sdo_write(index, subindex, data))
            except self._pysoem.PacketError as fault:
                raise SdoSilent("an answer came that is not this request's") from fault

    def _get_in_step(self, slave: Slave) -> None:
        """Read another object until its answer comes, where an answer may be under way. Raises SdoSilent."""
        if slave.out_of_step is None:
            return
        given_up = slave.out_of_step
        other = _IDENTITY if given_up == _DEVICE_TYPE else _DEVICE_TYPE
        said: Exception | None = None
        for _ in range(_STEPS):
            try:
                self._asked(slave, given_up, lambda: slave.handle.sdo_read(other, 0, LARGEST_OBJECT))
            except (SdoRefused, self._pysoem.PacketError) as fault:  # an abort may belong to an earlier request
                said = fault
            else:
                break
        else:
            if not isinstance(said, SdoRefused):
                raise SdoSilent("its answers do not belong to the requests")
        slave.out_of_step = None

    def _asked(self, slave: Slave, index: int, call: Callable[[], T]) -> T:
        """One call of pysoem. Raises SdoRefused, SdoSilent, PacketError."""
        try:
            return call()
        except self._pysoem.SdoError as fault:
            self.clear(slave)
            raise SdoRefused(abort_codes.words(fault.abort_code & 0xFFFFFFFF)) from fault
        except self._pysoem.MailboxError as fault:
            self.clear(slave)
            raise SdoRefused(f"mailbox error 0x{fault.error_code:04X}: {fault.desc}") from fault
        except self._pysoem.WkcError as fault:
            slave.out_of_step = index
            raise SdoSilent(f"no answer within {TIMEOUT_MS} ms") from fault
        except self._pysoem.PacketError:
            slave.out_of_step = index
            self.clear(slave)
            raise

    def clear(self, slave: Slave) -> None:
        """Take what pysoem keeps of earlier errors: it would raise them in the next call, of whichever slave."""
        for _ in range(_MOST_ERRORS):
            kept = list(slave.emergencies)
            try:
                slave.handle.mbx_receive()
            except Exception:  # noqa: S112 - pysoem has no type of its own for some of them
                continue
            if slave.emergencies == kept:
                return

    def mapping_faults(self, fault: Any) -> str:
        """What SOEM could not read while it mapped process data, in words."""
        return "; ".join(dict.fromkeys(self._words(error) for error in fault.error_list))

    def _words(self, error: Any) -> str:
        if isinstance(error, self._pysoem.SdoError):
            return f"slave {error.slave_pos}, {abort_codes.words(error.abort_code & 0xFFFFFFFF)}"
        if isinstance(error, self._pysoem.MailboxError):
            return f"slave {error.slave_pos}, mailbox error 0x{error.error_code:04X}"
        return "an answer came that belongs to no request, or an emergency"
