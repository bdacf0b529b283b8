"""Encrypted sessions: trust in both directions, users, and where the secrets are."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from oasis_opcua import keys
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.simulator.line import PASSWORD, USER

from oasis.errors import ToolFault
from tests.packs.opcua.lines import Shared

POLICIES = ("Basic256Sha256", "Aes128Sha256RsaOaep", "Aes256Sha256RsaPss")


def trust_server(shared: Shared) -> None:
    keys.trusted().mkdir(parents=True, exist_ok=True)
    shutil.copy(shared.line.certificate, keys.trusted())


def trust_oasis(shared: Shared) -> None:
    shutil.copy(keys.own().certificate, shared.line.trusted / f"{os.urandom(4).hex()}.der")


@pytest.mark.parametrize("mode", ["SignAndEncrypt", "Sign"])
@pytest.mark.parametrize("policy", POLICIES)
async def test_each_policy_reads_over_a_secured_channel(shared: Shared, policy: str, mode: str):
    if mode == "Sign" and policy != "Basic256Sha256":
        pytest.skip("the line offers Sign with Basic256Sha256 only")
    trust_server(shared)
    driver = OpcUaDriver(f"{shared.url}?security={policy}&mode={mode}")
    assert "PL-500" in await driver.identity()
    await driver.close()


async def test_a_servers_certificate_is_not_believed_before_the_user_trusts_it(shared: Shared):
    driver = OpcUaDriver(f"{shared.url}?security=Basic256Sha256")
    with pytest.raises(ToolFault, match="not trusted here") as fault:
        await driver.identity()
    said = str(fault.value)
    (kept,) = (keys.folder() / "untrusted").iterdir()
    assert str(kept) in said
    assert str(keys.trusted()) in said
    assert kept.read_bytes() == shared.line.certificate.read_bytes()
    kept.rename(keys.trusted() / kept.name)
    assert "PL-500" in await driver.identity()
    await driver.close()


async def test_another_certificate_of_a_trusted_address_is_a_warning(shared: Shared, tmp_path: Path):
    other = keys.made(tmp_path, "other", "urn:other")
    keys.trusted().mkdir(parents=True)
    shutil.copy(other.certificate, keys.trusted() / f"127.0.0.1_{shared.line.port}-0000.der")
    with pytest.raises(ToolFault, match="ANOTHER certificate of this address is trusted"):
        await OpcUaDriver(f"{shared.url}?security=Basic256Sha256").identity()


async def test_a_server_that_does_not_trust_oasis_is_told_about_with_the_file_to_trust(
    guarded: Shared, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OASIS_OPCUA_PASSWORD", PASSWORD)
    trust_server(guarded)
    driver = OpcUaDriver(guarded.url.replace("//", f"//{USER}@"))
    with pytest.raises(ToolFault, match="does not trust Oasis") as fault:
        await driver.identity()
    assert str(keys.own().certificate) in str(fault.value)
    assert PASSWORD not in str(fault.value)
    trust_oasis(guarded)
    assert "PL-500" in await driver.identity()
    await driver.close()


async def test_a_wrong_password_is_named_by_its_variable_and_never_shown(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv(f"OASIS_OPCUA_PASSWORD_127_0_0_1_{shared.line.port}", "wrong-horse")
    trust_server(shared)
    driver = OpcUaDriver(shared.url.replace("//", f"//{USER}@"))
    with pytest.raises(ToolFault, match=f"does not let '{USER}' in") as fault:
        await driver.identity()
    assert "wrong-horse" not in str(fault.value) + caplog.text + driver.url


async def test_a_user_without_password_says_which_variable_to_set(shared: Shared):
    trust_server(shared)
    with pytest.raises(ToolFault, match=f"Set OASIS_OPCUA_PASSWORD_127_0_0_1_{shared.line.port}"):
        await OpcUaDriver(shared.url.replace("//", f"//{USER}@")).identity()


async def test_a_password_never_goes_over_a_channel_that_is_not_encrypted(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OASIS_OPCUA_PASSWORD", PASSWORD)
    for options in ("security=None", "security=Basic256Sha256&mode=Sign"):
        with pytest.raises(ToolFault, match="without encryption"):
            await OpcUaDriver(f"{shared.url.replace('//', f'//{USER}@')}?{options}").identity()


async def test_a_server_without_anonymous_sessions_says_how_to_name_a_user(guarded: Shared):
    with pytest.raises(ToolFault, match=r"takes no Anonymous session .*opc.tcp://USER@"):
        await OpcUaDriver(guarded.url).identity()


async def test_an_endpoint_that_is_not_offered_is_refused_with_those_that_are(guarded: Shared):
    with pytest.raises(ToolFault, match=r"offers no endpoint with None .*Aes256Sha256RsaPss SignAndEncrypt"):
        await OpcUaDriver(f"{guarded.url}?security=None").identity()


def test_keys_are_made_on_first_use_and_kept():
    own = keys.own()
    assert keys.own() == own
    assert keys.folder() in own.key.parents
    assert own.key.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the user's folder private, not each file")
def test_the_private_key_is_its_owners_alone():
    assert stat.S_IMODE(keys.own().key.stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ToolFault, match="cannot be kept"):
        keys.made(file, "x", "urn:x")
