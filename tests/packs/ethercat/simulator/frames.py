"""A master in the same process: datagrams to a segment without a wire."""

import struct

from oasis_ethercat.datagram import answers, frame
from oasis_ethercat.esc import Command, Register, State
from oasis_ethercat.simulator.devices import DEVICES
from oasis_ethercat.simulator.segment import Segment
from oasis_ethercat.simulator.slave import Slave


class Wire:
    """Slaves by names of the catalogue, and single datagrams to them. Positions count from 1."""

    def __init__(self, *devices: str) -> None:
        self.slaves = [Slave(DEVICES[name], serial) for serial, name in enumerate(devices, 1)]
        self.segment = Segment(self.slaves)

    def send(self, command: Command, position: int, offset: int, data: bytes) -> tuple[bytes, int]:
        received = self.segment.frame(frame(1, [(command, position, offset, data)]))
        assert received is not None
        return answers(received)[0]

    def read(self, position: int, address: int, length: int) -> bytes:
        data, counter = self.send(Command.APRD, 1 - position, address, bytes(length))
        assert counter == 1
        return data

    def write(self, position: int, address: int, data: bytes) -> int:
        return self.send(Command.APWR, 1 - position, address, data)[1]

    def request(self, position: int, state: int) -> str:
        """Ask for a state; gives the state reached, with the status code where there is an error."""
        self.write(position, Register.AL_CONTROL, struct.pack("<H", state))
        status, _, _, _, code = struct.unpack("<BBBBH", self.read(position, Register.AL_STATUS, 6))
        return State(status & 15).name + (f"+0x{code:04X}" if status & 0x10 else "")

    def configure(self, position: int, logical: int = 0, first_bit: int = 0) -> None:
        """Sync managers and one FMMU for each direction, outputs at `logical` from `first_bit`, inputs 0x100 behind."""
        device = self.slaves[position - 1].device
        if boxes := device.mailboxes:
            self._sync_manager(position, 0, boxes.out, boxes.out_bytes, 0x26)
            self._sync_manager(position, 1, boxes.into, boxes.into_bytes, 0x22)
        ways = (
            (device.output_sync_manager, device.output_address, device.output_bits, 0x64, 2, logical),
            (device.input_sync_manager, device.input_address, device.input_bits, 0x20, 1, logical + 0x100),
        )
        for number, (manager, address, bits, control, kind, start) in enumerate(ways):
            if bits:
                self._sync_manager(position, manager, address, (bits + 7) // 8, control)
                last = first_bit + bits - 1
                row = (start, last // 8 + 1, first_bit, last % 8, address, 0, kind, 1)
                self.write(position, Register.FMMU + 16 * number, struct.pack("<IHBBHBBB3x", *row))

    def _sync_manager(self, position: int, number: int, start: int, length: int, control: int) -> None:
        row = struct.pack("<HHBBBB", start, length, control, 0, 1, 0)
        self.write(position, Register.SYNC_MANAGER + 8 * number, row)

    def run(self, position: int, **places: int) -> None:
        """Configure a slave and bring it to OP."""
        self.configure(position, **places)
        for state in (State.PREOP, State.SAFEOP, State.OP):
            assert self.request(position, state) == state.name

    def exchange(self, logical: int, data: bytes) -> tuple[bytes, int]:
        return self.send(Command.LRW, logical & 0xFFFF, logical >> 16, data)

    def mailbox(self, position: int, service: int, body: bytes) -> bytes:
        """Send a CoE message and give the reply's bytes after the CoE header."""
        boxes = self.slaves[position - 1].device.mailboxes
        assert boxes is not None
        message = struct.pack("<HHBBH", len(body) + 2, 0, 0, 3, service << 12) + body
        assert self.write(position, boxes.out, message.ljust(boxes.out_bytes, b"\0")) == 1
        reply = self.read(position, boxes.into, boxes.into_bytes)
        return reply[8 : 6 + struct.unpack_from("<H", reply)[0]]
