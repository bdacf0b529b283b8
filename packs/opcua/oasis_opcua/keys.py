"""An application's key and certificate: made on first use, kept in the user's own folder.

Certificates follow OPC UA Part 6, 6.2.2: the application URI as subjectAltName, the key usages of applications.
"""

import datetime
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_config_path

from oasis.errors import ToolFault

APPLICATION = "urn:oasis:agent"
"""Application URI of Oasis as a client."""
VALID_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Identity:
    """Files of an application: its private key (PEM, readable by its owner only) and its certificate (DER)."""

    key: Path
    certificate: Path
    uri: str


def folder() -> Path:
    """Where Oasis keeps its own key and the servers it trusts."""
    return user_config_path("oasis") / "opcua"


def own() -> Identity:
    """Oasis' identity as a client, made when there is none yet. Raises ToolFault where it cannot be kept."""
    return made(folder(), "oasis", APPLICATION)


def trusted() -> Path:
    """The folder with the certificates of servers that the user trusts."""
    return folder() / "trusted"


def make_trusted() -> None:
    """Make that folder: a certificate that is moved or copied there would be a file of its name. Raises OSError."""
    if not trusted().is_file():
        trusted().mkdir(parents=True, exist_ok=True)


def made(where: Path, name: str, uri: str) -> Identity:
    """The identity of these names in `where`; the key is made first, then its certificate."""
    identity = Identity(where / f"{name}-key.pem", where / f"{name}-certificate.der", uri)
    if identity.key.is_file() and identity.certificate.is_file():
        return identity
    try:
        where.mkdir(parents=True, exist_ok=True)
        with FileLock(where / f"{name}.lock"):
            if not (identity.key.is_file() and identity.certificate.is_file()):
                key, certificate = _self_signed(name, uri)
                _write_private(identity.key, key)
                identity.certificate.write_bytes(certificate)
    except OSError as fault:
        raise ToolFault(
            f"The key for OPC UA cannot be kept in {where}: {fault.strerror}. Without it no secure endpoint can be "
            "used. Make the folder writable."
        ) from fault
    return identity


def _write_private(path: Path, data: bytes) -> None:
    """Write a file that is its owner's from its first byte. Windows has no such modes; its user folder is private."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _self_signed(name: str, uri: str) -> tuple[bytes, bytes]:
    """A new RSA key of 2048 bits (PEM) and its own certificate (DER)."""
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID  # noqa: PLC0415

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Oasis")]
    )
    now = datetime.datetime.now(datetime.UTC)
    usages = x509.KeyUsage(
        digital_signature=True, content_commitment=True, key_encipherment=True, data_encipherment=True,
        key_agreement=False, key_cert_sign=True, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    names = [x509.UniformResourceIdentifier(uri), x509.DNSName(socket.gethostname() or "localhost")]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usages, critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, certificate.public_bytes(serialization.Encoding.DER)
