"""Modbus over TLS."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oasis.errors import ToolFault
from tests.packs.modbus.servers import read, registers


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A device's and our own certificate, each signed by itself."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("device", "ours"):
        try:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}.local",
                 "-addext", f"subjectAltName=DNS:{name}.local", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
                cwd=folder, check=True, capture_output=True,
            )  # fmt: skip
        except FileNotFoundError:
            pytest.skip("openssl is not installed")
    return folder


@asynccontextmanager
async def device(folder: Path, asks_for_ours: bool = False) -> AsyncIterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "device.pem", folder / "device.key")
    if asks_for_ours:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "ours.pem")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.read(260):
                writer.write(registers(request, {0: 5}))
        except (ssl.SSLError, OSError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"modbus+tls://127.0.0.1:{server.sockets[0].getsockname()[1]}/1"


async def test_a_device_whose_certificate_is_trusted_is_read(certificates: Path):
    async with device(certificates) as url:
        (reading,) = await read(f"{url}?ca={certificates / 'device.pem'}&name=device.local", "holding 0 uint16")
    assert reading.value == 5


async def test_a_device_that_asks_for_our_certificate_is_given_it(certificates: Path):
    ours = f"cert={certificates / 'ours.pem'}&key={certificates / 'ours.key'}"
    async with device(certificates, asks_for_ours=True) as url:
        (reading,) = await read(f"{url}?ca={certificates / 'device.pem'}&name=device.local&{ours}", "holding 0 uint16")
    assert reading.value == 5


async def test_a_device_that_wants_our_certificate_and_gets_none_is_told(certificates: Path):
    async with device(certificates, asks_for_ours=True) as url:
        with pytest.raises(ToolFault) as fault:
            await read(f"{url}?ca={certificates / 'device.pem'}&name=device.local&timeout=1", "holding 0 uint16")
    assert "give cert=FILE and key=FILE" in str(fault.value)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "checked against this computer's store"),
        ("?ca={}/ours.pem&name=device.local", "checked against the file"),
    ],
)
async def test_a_certificate_that_is_not_trusted_says_which_file_to_trust_where(
    certificates: Path, query: str, words: str
):
    async with device(certificates) as url:
        with pytest.raises(ToolFault) as fault:
            await read(url + query.format(certificates), "holding 0")
    assert "is not trusted" in str(fault.value)
    assert "give it as ?ca=FILE" in str(fault.value)
    assert words in str(fault.value)


@pytest.mark.parametrize("name", ["", "&name=other.local"])
async def test_a_certificate_for_another_name_says_so(certificates: Path, name: str):
    async with device(certificates) as url:
        with pytest.raises(ToolFault) as fault:
            await read(f"{url}?ca={certificates / 'device.pem'}{name}", "holding 0")
    assert f"for another name than {name[6:] or '127.0.0.1'}:" in str(fault.value)
    assert "give the name in it as ?name=NAME" in str(fault.value)


async def test_a_certificate_that_has_expired_says_so(certificates: Path):
    folder = certificates / "expired"
    folder.mkdir()
    for command in (
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=device.local -keyout device.key -out device.csr",
        "x509 -req -in device.csr -signkey device.key -days -1 -out device.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    async with device(folder) as url:
        with pytest.raises(ToolFault, match=r"expired.*look at this computer's clock .* have the certificate renewed"):
            await read(f"{url}?ca={folder / 'device.pem'}&name=device.local", "holding 0")


async def test_a_device_whose_certificate_an_authority_signed_is_read(certificates: Path):
    folder = certificates / "signed"
    folder.mkdir()
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    for command in (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=plant-ca -keyout ca.key -out ca.pem",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=device -keyout device.key -out device.csr",
        "x509 -req -in device.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out device.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    async with device(folder) as url:
        (reading,) = await read(f"{url}?ca={folder / 'ca.pem'}", "holding 0 uint16")
    assert reading.value == 5


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?ca={0}/none.pem", "is no file of trusted certificates (PEM): No such file or directory"),
        ("?cert={0}/device.key&key={0}/device.key", "cannot be used"),
    ],
)
async def test_a_file_that_is_no_certificate_is_told(certificates: Path, query: str, words: str):
    async with device(certificates) as url:
        with pytest.raises(ToolFault) as fault:
            await read(url + query.format(certificates), "holding 0")
    assert words in str(fault.value)


@pytest.mark.parametrize("answer", [b"", b"\x00\x00\x00\x00\x00\x03\x01\x83\x01"])
async def test_what_speaks_no_tls_is_not_said_to_be_absent(answer: bytes):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer:
            writer.write(answer)
        else:
            writer.transport.abort()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(
            ToolFault, match=r"^The TLS handshake with .* failed \(.*it may speak plain Modbus"
        ) as fault:
            await read(f"modbus+tls://127.0.0.1:{port}/1", "holding 0")
    assert "nothing listens" not in str(fault.value)
