"""Trust in both directions: which server is believed, and what to do where a server does not believe Oasis.

A server's certificate is trusted once its file lies in Oasis' folder `trusted`; nothing puts it there but the user.
"""

import datetime
import hashlib
import re
from pathlib import Path

from oasis.errors import ToolFault
from oasis_opcua import keys
from oasis_opcua.address import Address
from oasis_opcua.texts import plain


def fingerprint(certificate: bytes) -> str:
    """SHA-1 of the DER bytes, as OPC UA tools show a certificate's thumbprint."""
    return hashlib.sha1(certificate, usedforsecurity=False).hexdigest().upper()


def first(chain: bytes) -> bytes:
    """The server's own certificate of a chain: DER says its length in bytes 2 and 3 (X.690, 8.1.3)."""
    if len(chain) < 4 or chain[:2] != b"\x30\x82":
        return chain
    return chain[: int.from_bytes(chain[2:4], "big") + 4]


def check(address: Address, certificate: bytes) -> None:
    """Raises ToolFault unless the user trusts exactly this certificate and it is within its dates."""
    from cryptography import x509  # noqa: PLC0415

    where = f"{address.host}:{address.port}"
    try:
        read = x509.load_der_x509_certificate(certificate)
        subject, begins, ends = read.subject.rfc4514_string(), read.not_valid_before_utc, read.not_valid_after_utc
    except ValueError as fault:
        raise ToolFault(
            f"The certificate that {where} shows cannot be read: {fault}. Nothing was sent to it."
        ) from fault
    trusted = keys.trusted()
    if not any(_is(path, certificate) for path in _files(trusted)):
        path = _set_aside(address, certificate)
        others = _replaced(address, trusted)
        raise ToolFault(
            f"{where} shows a certificate that is not trusted here: {plain(subject)}, valid until {ends:%Y-%m-%d}, "
            f"SHA-1 {fingerprint(certificate)}. {others}It is kept in {path}. The engineer compares the thumbprint "
            f"with the one at the server and, if they agree, moves that file to {trusted}. Nothing was read or written."
        )
    now = datetime.datetime.now(datetime.UTC)
    if not begins <= now <= ends:
        raise ToolFault(
            f"The certificate of {where} is valid from {begins:%Y-%m-%d} to {ends:%Y-%m-%d} and it is "
            f"{now:%Y-%m-%d}. Make a new one at the server, or set the wrong clock. Nothing was read or written."
        )


def not_trusted_there(address: Address, said: str) -> str:
    """What to do where the server refuses Oasis' certificate, or the channel made with it: `said` is how."""
    own = keys.own()
    return (
        f"{address.host}:{address.port} does not trust Oasis ({said}). Oasis' certificate is {own.certificate}, SHA-1 "
        f"{fingerprint(own.certificate.read_bytes())}, application URI {own.uri}. The engineer adds that file to the "
        "server's trusted certificates (often pki/trusted/certs; most servers have put it among the rejected ones "
        "already, from where it is moved), then ask again. Nothing was read or written."
    )


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []


def _is(path: Path, certificate: bytes) -> bool:
    """Is the file this certificate, in DER or in PEM?"""
    data = path.read_bytes()
    if data == certificate:
        return True
    if b"-----BEGIN CERTIFICATE-----" not in data:
        return False
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    try:
        return x509.load_pem_x509_certificate(data).public_bytes(Encoding.DER) == certificate
    except ValueError:
        return False


def _set_aside(address: Address, certificate: bytes) -> Path:
    """Keep a certificate that is not trusted, for the user to look at."""
    folder = keys.folder() / "untrusted"
    path = folder / f"{_place(address)}-{fingerprint(certificate)[:16]}.der"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(certificate)
    except OSError as fault:
        raise ToolFault(
            f"The certificate of {address.host}:{address.port} is not trusted and cannot be kept in {folder}: "
            f"{fault.strerror}. Make the folder writable."
        ) from fault
    return path


def _replaced(address: Address, trusted: Path) -> str:
    """A warning where another certificate of the same server is trusted."""
    if any(path.name.startswith(f"{_place(address)}-") for path in _files(trusted)):
        return "ANOTHER certificate of this address is trusted: the server was set up anew, or this is another one. "
    return ""


def _place(address: Address) -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", f"{address.host}_{address.port}")
