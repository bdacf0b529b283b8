"""Trust in both directions: which server is believed, and what to do where a server does not believe Oasis.

A server's certificate is trusted once its file, or that of the CA that signed it, lies in Oasis' folder `trusted`;
nothing puts it there but the user. Certificates between the two come from the server or lie in the folder `issuers`.
"""

import datetime
import hashlib
import ipaddress
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oasis.errors import ToolFault
from oasis_opcua import keys
from oasis_opcua.address import Address
from oasis_opcua.texts import plain

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_MOST_CHAIN = 8


def fingerprint(certificate: bytes) -> str:
    """SHA-1 of the DER bytes, as OPC UA tools show a certificate's thumbprint."""
    return hashlib.sha1(certificate, usedforsecurity=False).hexdigest().upper()


def split(chain: bytes) -> tuple[bytes, ...]:
    """The certificates of a chain, the server's own first: DER says their lengths in bytes 2 and 3 (X.690, 8.1.3)."""
    found: list[bytes] = []
    while len(chain) >= 4 and chain[:2] == b"\x30\x82" and len(found) < _MOST_CHAIN:
        length = int.from_bytes(chain[2:4], "big") + 4
        found.append(chain[:length])
        chain = chain[length:]
    return tuple(found) or (chain,)


def check(address: Address, chain: Sequence[bytes]) -> None:
    """Raises ToolFault unless the user trusts the first certificate of the chain, or a CA above it, and all are within
    their dates. One that is trusted for its CA only has to name the host as well."""
    where = f"{address.host}:{address.port}"
    own = _read(where, chain[0])
    trusted = keys.trusted()
    if any(_is(path, chain[0]) for path in _files(trusted)):
        path = [own]
    else:
        path = _path(own, [_read(where, one) for one in chain[1:]])
        if not path:
            raise ToolFault(_not_trusted(address, chain, own))
        if not _names(own, address.host):
            raise ToolFault(
                f"The certificate of {where} is signed by a CA that is trusted here, and is not for this host. "
                f"{_kept(address, chain[0])} If it is the right server, the engineer moves that file to {trusted}. "
                "Nothing was read or written."
            )
    now = datetime.datetime.now(datetime.UTC)
    for one in path:
        begins, ends = one.not_valid_before_utc, one.not_valid_after_utc
        if not begins <= now <= ends:
            of = "certificate" if one is own else f"CA certificate {plain(one.subject.rfc4514_string())} above that"
            raise ToolFault(
                f"The {of} of {where} is valid from {begins:%Y-%m-%d} to {ends:%Y-%m-%d} and it is "
                f"{now:%Y-%m-%d}. Make a new one at the server, or set the wrong clock. Nothing was read or written."
            )


def _read(where: str, certificate: bytes) -> "Certificate":
    from cryptography import x509  # noqa: PLC0415

    try:
        read = x509.load_der_x509_certificate(certificate)
        read.subject.rfc4514_string()
    except ValueError as fault:
        raise ToolFault(
            f"The certificate that {where} shows cannot be read: {fault}. Nothing was sent to it."
        ) from fault
    return read


def _path(own: "Certificate", sent: Sequence["Certificate"]) -> "list[Certificate]":
    """The certificates from the server's own up to a CA that is trusted; empty where none leads to one."""
    trusted = [one for one in _held(keys.trusted()) if _is_ca(one)]
    between = [one for one in (*sent, *_held(keys.folder() / "issuers")) if _is_ca(one)]
    path = [own]
    while len(path) <= _MOST_CHAIN:
        if above := next((ca for ca in trusted if _signed(path[-1], ca)), None):
            return [*path, above]
        above = next((ca for ca in between if ca not in path and _signed(path[-1], ca)), None)
        if above is None:
            return []
        path.append(above)
    return []


def _signed(one: "Certificate", by: "Certificate") -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        one.verify_directly_issued_by(by)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _is_ca(one: "Certificate") -> bool:
    from cryptography import x509  # noqa: PLC0415

    try:
        return one.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def _names(one: "Certificate", host: str) -> bool:
    """Is the certificate for this host (subjectAltName)?"""
    from cryptography import x509  # noqa: PLC0415

    try:
        names = one.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return False
    try:
        return ipaddress.ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        return host.lower() in (name.lower() for name in names.get_values_for_type(x509.DNSName))


def _held(folder: Path) -> "Iterator[Certificate]":
    """The certificates that a folder holds; files that are none are passed over."""
    from cryptography import x509  # noqa: PLC0415

    for path in _files(folder):
        data = path.read_bytes()
        try:
            yield from (
                x509.load_pem_x509_certificates(data)
                if b"-----BEGIN" in data
                else [x509.load_der_x509_certificate(data)]
            )
        except ValueError:
            continue


def _not_trusted(address: Address, chain: Sequence[bytes], own: "Certificate") -> str:
    where, trusted = f"{address.host}:{address.port}", keys.trusted()
    kept = _kept(address, chain[0])
    signed = ""
    if own.issuer != own.subject:
        issuer = plain(own.issuer.rfc4514_string())
        cas = [_set_aside(address, one, "CA-") for one in chain[1:]]
        file = f" ({', '.join(str(ca) for ca in cas)})" if cas else ""
        signed = (
            f" It is signed by {issuer}: the certificate of that CA{file} in the same folder trusts every server that "
            "it signed, for the host it names."
        )
    return (
        f"{where} shows a certificate that is not trusted here: {plain(own.subject.rfc4514_string())}, valid until "
        f"{own.not_valid_after_utc:%Y-%m-%d}, SHA-1 {fingerprint(chain[0])}. {_replaced(address, trusted)}{kept} The "
        f"engineer compares the thumbprint with the one at the server and, if they agree, moves that file to {trusted}."
        f"{signed} Nothing was read or written."
    )


def _kept(address: Address, certificate: bytes) -> str:
    return f"It is kept in {_set_aside(address, certificate)}."


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


def _set_aside(address: Address, certificate: bytes, kind: str = "") -> Path:
    """Keep a certificate that is not trusted, for the user to look at, and make the folder it may be moved to."""
    folder = keys.folder() / "untrusted"
    path = folder / f"{kind}{_place(address)}-{fingerprint(certificate)[:16]}.der"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(certificate)
        keys.make_trusted()
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
