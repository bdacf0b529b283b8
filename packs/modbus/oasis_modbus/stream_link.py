"""Modbus over a TCP connection: with an MBAP header, over TLS, and with serial frames."""

import asyncio
import contextlib
import os
import ssl
from abc import abstractmethod

from oasis_modbus import faults
from oasis_modbus.endpoint import Endpoint
from oasis_modbus.frames import MBAP, MOST_PDU, Reply, parse_tcp, rtu_frame
from oasis_modbus.hearing import Hearing
from oasis_modbus.link import Link

CONNECT_S = 5.0
_LOOKS = 2
"""Rounds of the loop until it has heard what has arrived."""


class StreamLink(Link):
    """What is common: connecting, and leaving a connection that can no longer be trusted."""

    def __init__(self, endpoint: Endpoint, gate: asyncio.Lock) -> None:
        super().__init__(endpoint, gate)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._is_late = False

    async def drop(self) -> None:
        writer, self._reader, self._writer = self._writer, None, None
        self.abandoned.clear()
        if writer:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError, asyncio.TimeoutError):
                async with asyncio.timeout(1):
                    await writer.wait_closed()

    async def _exchange(self, frame: bytes, timeout_s: float) -> Reply:
        """Any fault but a clean silence ends the connection, so that no reply can be taken for another's."""
        reader, writer = await self._ready()
        received = bytearray()
        self.requests += 1
        self._is_late = False
        try:
            writer.write(frame)
            async with asyncio.timeout(timeout_s):
                return await self._reply(reader, frame, received)
        except TimeoutError:
            if received or not self._may_stay(frame):
                await self.drop()
            unit, came = self._unit(frame), bytes(received)
            raise faults.silent(self.endpoint, unit, timeout_s, came, is_late=self._is_late) from None
        except (asyncio.IncompleteReadError, OSError) as fault:
            await self.drop()
            asks = self.endpoint.scheme == "modbus+tls" and not self.endpoint.tls.cert and not received
            raise faults.broken(self.endpoint, bytes(received), _OURS if asks else "") from fault
        except BaseException:
            await self.drop()
            raise

    async def _ready(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to send a request on.

        One that the device has ended is noticed before a request is lost on it: first the loop hears what has come.
        """
        for _ in range(_LOOKS if self._reader else 0):
            await asyncio.sleep(0)
        return await self._connected()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader and self._writer:
            if not (self._reader.at_eof() or self._reader.exception() or self._writer.is_closing()):
                return self._reader, self._writer
            await self.drop()
        context = _tls(self.endpoint) if self.endpoint.scheme == "modbus+tls" else None
        name = (self.endpoint.tls.name or self.endpoint.host) if context else None
        try:
            async with asyncio.timeout(max(CONNECT_S, self.endpoint.timeout_s)):
                self._reader, self._writer = await asyncio.open_connection(
                    self.endpoint.host, self.endpoint.port, ssl=context, server_hostname=name
                )
        except ssl.SSLCertVerificationError as fault:
            raise _untrusted(self.endpoint, fault) from fault
        except ssl.SSLError as fault:
            raise faults.no_tls(self.endpoint, fault.reason or str(fault)[:80]) from fault
        except TimeoutError as fault:
            or_tls = ", or none in TLS" if context else ""
            raise faults.unreachable(self.endpoint, f"no answer to the call{or_tls}") from fault
        except _CUT_OFF as fault:
            if context is None:
                raise faults.unreachable(self.endpoint, _said_by_the_system(fault)) from fault
            raise faults.no_tls(self.endpoint, "it ended the connection") from fault
        except OSError as fault:
            raise faults.unreachable(self.endpoint, _said_by_the_system(fault)) from fault
        return self._reader, self._writer

    @abstractmethod
    def _unit(self, frame: bytes) -> int:
        """The unit that the request is for."""

    @abstractmethod
    def _may_stay(self, frame: bytes) -> bool:
        """Whether the connection can be used on after silence."""

    @abstractmethod
    async def _reply(self, reader: asyncio.StreamReader, frame: bytes, received: bytearray) -> Reply:
        """The reply to the request; what came of it is in `received`, whole or not. Raises LinkFault."""


class TcpLink(StreamLink):
    """MBAP headers. A reply that comes late is known by its transaction id and skipped."""

    def _unit(self, frame: bytes) -> int:
        return frame[6]

    def _may_stay(self, frame: bytes) -> bool:
        self.give_up(int.from_bytes(frame[:2]), frame[6])
        return True

    async def _reply(self, reader: asyncio.StreamReader, frame: bytes, received: bytearray) -> Reply:
        while True:
            reply = parse_tcp(await self._whole(reader, received))
            if reply.transaction in self.abandoned:
                self.late[self.abandoned.pop(reply.transaction)] = reply
                self._is_late = True
                received.clear()
                continue
            asked = int.from_bytes(frame[:2])
            if reply.unit == frame[6] and reply.transaction != asked:
                raise faults.other_transaction(self.endpoint, asked, reply.transaction or 0, reply.unit)
            return self.checked(frame[6], frame[7], reply)

    async def _whole(self, reader: asyncio.StreamReader, received: bytearray) -> bytes:
        while True:
            if len(received) >= MBAP.size:
                _, protocol, length, _ = MBAP.unpack_from(received)
                if protocol or not 2 <= length <= MOST_PDU + 1:
                    raise faults.garbled(self.endpoint, bytes(received), "no Modbus TCP header")
                if len(received) == length + 6:
                    return bytes(received)
                missing = length + 6 - len(received)
            else:
                missing = MBAP.size - len(received)
            piece = await reader.read(missing)
            if not piece:
                raise asyncio.IncompleteReadError(bytes(received), None)
            received += piece


class RtuStreamLink(StreamLink):
    """Serial frames with a CRC. They carry no transaction id: after silence the connection is made anew.

    Not in a scan, where silence is the rule, and a late reply is known by its unit.
    """

    def __init__(self, endpoint: Endpoint, gate: asyncio.Lock) -> None:
        super().__init__(endpoint, gate)
        self._echoes = False

    def frame(self, unit: int, pdu: bytes) -> bytes:
        return rtu_frame(unit, pdu)

    def _unit(self, frame: bytes) -> int:
        return frame[0]

    def _may_stay(self, frame: bytes) -> bool:
        return self.is_scanning

    async def _ready(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """What came since the last reply is left out: nobody asked for it. The first look lets in what has arrived."""
        reader, _ = await self._connected()
        stray = bytearray()
        for _ in range(_LOOKS):
            with contextlib.suppress(OSError):
                async with asyncio.timeout(0):
                    while piece := await reader.read(256):
                        stray += piece
        self.note_stray(bytes(stray))
        return await self._connected()

    async def _reply(self, reader: asyncio.StreamReader, frame: bytes, received: bytearray) -> Reply:
        hearing = Hearing(frame, self._echoes, received)
        while (reply := hearing.reply()) is None:
            if hearing.is_spoiled:
                raise faults.garbled(self.endpoint, bytes(received), "its checksum is wrong")
            piece = await reader.read(256)
            if not piece:
                raise asyncio.IncompleteReadError(bytes(received), None)
            received += piece
        self._echoes = hearing.echoes
        if hearing.trailing(reply):
            raise faults.garbled(self.endpoint, bytes(received), "more came than one reply")
        return self.checked(frame[0], frame[1], reply)


_CUT_OFF = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
_OURS = "the device may ask for our certificate: give cert=FILE and key=FILE, and let the device trust cert"


def _tls(endpoint: Endpoint) -> ssl.SSLContext:
    """What to trust, and who we are. Raises Unreachable for files that cannot be used."""
    tls = endpoint.tls
    try:
        context = ssl.create_default_context(cafile=tls.ca or None)
    except (OSError, ssl.SSLError) as fault:
        words = f"ca={tls.ca} is no file of trusted certificates (PEM): {fault.strerror or fault}; nothing was sent."
        raise faults.Unreachable(words, False) from fault
    if tls.cert:
        try:
            context.load_cert_chain(tls.cert, tls.key, password=_no_password)
        except (OSError, ssl.SSLError, ValueError) as fault:
            raise faults.Unreachable(
                f"cert={tls.cert} and key={tls.key} cannot be used: {getattr(fault, 'strerror', None) or fault}; "
                "nothing was sent. Both are PEM, the key is the certificate's own and has no password.",
                False,
            ) from fault
    return context


def _said_by_the_system(fault: OSError) -> str:
    """Its own words for the number; asyncio's text repeats the address."""
    if fault.errno and fault.errno > 0:
        return os.strerror(fault.errno)
    return (fault.strerror or str(fault))[:80]


def _no_password() -> str:
    """Called for a key under a password: nobody is asked on the terminal."""
    raise ValueError("the key has a password")


_NOT_YET, _EXPIRED = 9, 10
_OTHER_NAME = (62, 64)
"""OpenSSL's codes for why a certificate is not trusted (X509_V_ERR): its time, and a name or address that differs."""


def _untrusted(endpoint: Endpoint, fault: ssl.SSLCertVerificationError) -> faults.Unreachable:
    tls = endpoint.tls
    said = f"The certificate of {endpoint.gateway} is not trusted ({fault.verify_message}), so nothing was sent. "
    if fault.verify_code in (_NOT_YET, _EXPIRED):
        return faults.Unreachable(
            f"{said}Its time is over or has not begun: look at this computer's clock and the device's, or have the "
            "certificate renewed by whoever set the device up.",
            False,
        )
    if fault.verify_code in _OTHER_NAME:
        return faults.Unreachable(
            f"{said}It is signed as it should be, for another name than {tls.name or endpoint.host}: use the address "
            "that it was made for, or give the name in it as ?name=NAME. Where you expect no other name, ask whether "
            "this is the device that you mean.",
            False,
        )
    ca = f"the file {tls.ca}" if tls.ca else "this computer's store"
    return faults.Unreachable(
        f"{said}It was checked against {ca}. Get the certificate of the authority that signed it (or its own, where it "
        "signed itself) from whoever set the device up, as a PEM file, and give it as ?ca=FILE; where the name in it "
        "is not the host's, give that as name=NAME. The other way round, the device must trust the file given as "
        "cert=.",
        False,
    )
