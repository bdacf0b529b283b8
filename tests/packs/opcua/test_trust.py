"""Which certificates are believed: a server's own, or one that a trusted CA signed for its host, within its dates."""

import datetime
import ipaddress
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from oasis_opcua import keys, trust
from oasis_opcua.address import parse
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.line import running_line
from oasis_opcua.simulator.signals import APPLICATION

from oasis.errors import ToolFault

DER = serialization.Encoding.DER
Made = tuple[x509.Certificate, rsa.RSAPrivateKey]


def made(name: str, by: Made | None = None, host: str = "127.0.0.1", days: tuple[int, int] = (-10, 10)) -> Made:
    """A certificate and its key: a CA's where nobody signs it or its name ends in CA, else a server's for `host`."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [
        x509.UniformResourceIdentifier(APPLICATION), x509.IPAddress(ipaddress.ip_address(host)),
    ]  # fmt: skip
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by[0].subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=days[0]))
        .not_valid_after(now + datetime.timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=name.endswith("CA"), path_length=None), critical=True)
        .sign(by[1] if by else key, hashes.SHA256())
    )
    return certificate, key


def der(one: Made) -> bytes:
    return one[0].public_bytes(DER)


def trusts(*ones: Made, folder: str = "trusted", encoding: Any = DER) -> None:
    where = keys.folder() / folder
    where.mkdir(parents=True, exist_ok=True)
    for one in ones:
        (where / f"{one[0].serial_number}.crt").write_bytes(one[0].public_bytes(encoding))


@asynccontextmanager
async def server(folder: Path, own: Made) -> AsyncGenerator[OpcUaDriver]:
    """A line with this certificate, and a driver for its secure endpoint."""
    (folder / "line-certificate.der").write_bytes(der(own))
    private = own[1].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "line-key.pem").write_bytes(private)
    async with running_line(folder=folder, speed=0) as line:
        driver = OpcUaDriver(f"{line.url}?security=Basic256Sha256")
        try:
            yield driver
        finally:
            await driver.close()


async def test_a_servers_certificate_is_believed_once_its_ca_is_trusted(tmp_path: Path):
    ca = made("Plant CA")
    async with server(tmp_path, made("line", ca)) as driver:
        with pytest.raises(ToolFault, match=r"not trusted here: CN=line.*It is signed by CN=Plant CA: the certificate"):
            await driver.identity()
        trusts(ca, encoding=serialization.Encoding.PEM)
        assert "PL-500" in await driver.identity()


async def test_a_certificate_out_of_its_dates_is_refused_though_it_is_trusted(tmp_path: Path):
    own = made("line", days=(-10, -1))
    trusts(own)
    async with server(tmp_path, own) as driver:
        with pytest.raises(ToolFault, match=r"is valid from .* Make a new one at the server, or set the wrong clock"):
            await driver.identity()


def test_a_chain_is_followed_over_what_the_server_sends_or_the_folder_of_issuers_holds():
    root = made("Root CA")
    middle = made("Middle CA", root)
    own = made("line", middle)
    address = parse("opc.tcp://127.0.0.1")
    with pytest.raises(ToolFault, match=r"CA-127\.0\.0\.1_4840-"):
        trust.check(address, trust.split(der(own) + der(middle)))
    trusts(root)
    trust.check(address, trust.split(der(own) + der(middle)))
    with pytest.raises(ToolFault, match="not trusted here"):
        trust.check(address, (der(own),))
    trusts(middle, folder="issuers")
    trust.check(address, (der(own),))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"host": "10.0.0.9"}, "signed by a CA that is trusted here, and is not for this host"),
        ({"days": (5, 10)}, "The certificate of 127.0.0.1:4840 is valid from"),
    ],
)
def test_a_ca_vouches_for_the_hosts_it_names_only_and_within_the_dates(own: dict[str, Any], said: str):
    ca = made("Plant CA")
    trusts(ca)
    with pytest.raises(ToolFault, match=said):
        trust.check(parse("opc.tcp://127.0.0.1"), (der(made("line", ca, **own)),))


def test_what_is_no_ca_signs_nothing_and_a_ca_of_the_same_name_is_another():
    ca, impostor, plain = made("Plant CA"), made("Plant CA"), made("line")
    trusts(ca, plain)
    for signer in (impostor, plain):
        with pytest.raises(ToolFault, match="not trusted here"):
            trust.check(parse("opc.tcp://127.0.0.1"), (der(made("other", signer)),))


def test_a_ca_out_of_its_dates_is_named():
    ca = made("Plant CA", days=(-10, -1))
    trusts(ca)
    with pytest.raises(ToolFault, match="The CA certificate CN=Plant CA above that of"):
        trust.check(parse("opc.tcp://127.0.0.1"), (der(made("line", ca)),))
