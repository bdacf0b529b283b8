"""ESI device files read, beside the SII of the slaves they describe."""

from pathlib import Path

import oasis_ethercat.simulator
import pytest
from oasis_ethercat import esi, sii
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esc import CoeDetail, Mailbox
from oasis_ethercat.esi import EsiEntry, look_up, read_esi
from oasis_ethercat.esi_scan import differences
from oasis_ethercat.simulator import sii as simulated
from oasis_ethercat.simulator.devices import DEVICES
from oasis_ethercat.simulator.running import RunningSegment
from oasis_ethercat.simulator.sii import UNASSIGNED

from oasis.errors import ToolFault
from oasis.plant.driver import Budget

FILE = Path(oasis_ethercat.simulator.__file__).parent / "devices.xml"
MODULAR = """<?xml version="1.0" encoding="iso-8859-1"?>
<EtherCATInfo xmlns="http://www.ethercat.org/esi">
  <Vendor><Id>1234</Id><Name>Maker</Name></Vendor>
  <Descriptions>
    <Devices>
      <Device Physics="YY">
        <Type ProductCode="#x10" RevisionNo="#x1">M1</Type><Name><![CDATA[Modular drive]]></Name>
        <Sm DefaultSize="256" StartAddress="#x1000" ControlByte="#x26" Enable="1">MBoxOut</Sm>
        <RxPdo Sm="2" Fixed="true"><Index>#x1600</Index><Name>Standard</Name>
          <Entry><Index>#x6040</Index><SubIndex>0</SubIndex><BitLen>16</BitLen><Name>CW</Name><DataType>UINT</DataType></Entry>
        </RxPdo>
        <RxPdo><Exclude>#x1600</Exclude><Index>#x1610</Index><Name>Compact</Name>
          <Entry><Index>#x6040</Index><SubIndex>#x00</SubIndex><BitLen>16</BitLen><Name>CW</Name></Entry>
          <Entry><Index>#x6071</Index><SubIndex>0</SubIndex><BitLen>16</BitLen><Name>Torque</Name></Entry>
        </RxPdo>
        <Mailbox DataLinkLayer="true">
          <EoE IP="1" MAC="1"/><CoE SdoInfo="true" PdoAssign="true" CompleteAccess="true"><InitCmd/></CoE><FoE/>
        </Mailbox>
        <Dc><OpMode/></Dc>
      </Device>
    </Devices>
    <Modules>
      <Module><Type ModuleIdent="#x77">Encoder card</Type><Name>Encoder</Name>
        <TxPdo><Index DependOnSlot="1">#x1a00</Index><Name>Position</Name>
          <Entry><Index DependOnSlot="1">#x6000</Index><SubIndex>17</SubIndex><BitLen>32</BitLen><Name>Count</Name></Entry>
        </TxPdo>
      </Module>
    </Modules>
  </Descriptions>
</EtherCATInfo>
"""


DETAILS = {
    "SdoInfo": CoeDetail.SDO_INFO,
    "PdoAssign": CoeDetail.PDO_ASSIGN,
    "CompleteAccess": CoeDetail.COMPLETE_ACCESS,
}


@pytest.mark.parametrize("name", sorted(DEVICES.keys() - {"gateway"}))
def test_every_entry_and_size_agrees_with_the_simulator_s_sii(name: str):
    image = bytes(simulated.image(DEVICES[name], 1))
    stored = sii.contents(sii.Image(lambda word: image[word * 2 : word * 2 + 8].ljust(8, b"\xff")))
    device = look_up(read_esi(FILE), stored.identity.product, stored.identity.revision)
    assert device
    assert device.vendor == stored.identity.vendor
    for is_output, pdos in ((True, stored.receive), (False, stored.transmit)):
        described = [pdo for pdo in device.pdos if pdo.is_output is is_output]
        assert [
            (
                pdo.index,
                pdo.name,
                UNASSIGNED if pdo.sync_manager is None else pdo.sync_manager,
                [(e.index, e.subindex, e.bits, e.name) for e in pdo.entries],
            )
            for pdo in described
        ] == [
            (pdo.index, pdo.name, pdo.sync_manager, [(e.index, e.subindex, e.bits, e.name) for e in pdo.entries])
            for pdo in pdos
        ]
    sizes = {manager.use: manager.default_bytes for manager in device.sync_managers}
    assert (device.output_bits + 7) // 8 == sizes.get("Outputs", 0)
    assert (device.input_bits + 7) // 8 == sizes.get("Inputs", 0)
    assert {m.use: m.start for m in device.sync_managers if m.default_bytes} == {
        use: manager.start
        for manager in stored.sync_managers
        if manager.length
        for use in [("", "MBoxOut", "MBoxIn", "Outputs", "Inputs")[manager.kind]]
    }
    assert {name.upper() for name in device.mailbox} == {p.name for p in Mailbox if p in stored.protocols}
    coe = device.mailbox.get("CoE", {})
    assert {key: coe.get(key, "0") for key in DETAILS} == {k: str(int(bit in stored.coe)) for k, bit in DETAILS.items()}
    assert device.has_dc is DEVICES[name].has_clock
    assert differences(device, stored) == ["file and SII agree: revision, mailbox, every PDO and entry"]


def test_mailbox_capabilities_modules_and_unassigned_pdos_are_named(tmp_path: Path):
    file = tmp_path / "modular.xml"
    file.write_text(MODULAR, encoding="iso-8859-1")
    device, module = read_esi(file)
    assert device.mailbox == {
        "EoE": {"IP": "1", "MAC": "1"},
        "CoE": {"SdoInfo": "true", "PdoAssign": "true", "CompleteAccess": "true"},
        "FoE": {},
    }
    assert (device.name, device.vendor, device.has_dc, device.output_bits) == ("Modular drive", 1234, True, 16)
    assert [(pdo.name, pdo.sync_manager, pdo.bits) for pdo in device.pdos] == [
        ("Standard", 2, 16),
        ("Compact", None, 32),
    ]
    assert (module.type, module.product, module.is_module) == ("Encoder card", 0x77, True)
    assert module.pdos[0].entries == (EsiEntry(0x6000, 17, 32, "Count", ""),)


def test_another_revision_is_found_where_the_exact_one_is_not_there():
    found = look_up(read_esi(FILE), 0x4402, 0x00990000)
    assert found
    assert found.revision == 0x00030001


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<a>", "is no XML"),
        ("<a/>", "is no ESI file: its root is <a>"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><EtherCATInfo/>', "declares entities"),
    ],
)
def test_what_is_no_esi_file_is_refused(tmp_path: Path, text: str, said: str):
    file = tmp_path / "x.xml"
    file.write_text(text)
    with pytest.raises(ToolFault, match=said):
        esi.read_esi(file)


async def test_a_scan_reads_a_device_file_below_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ox.xml").write_bytes(FILE.read_bytes())
    monkeypatch.chdir(tmp_path)
    done = await EthercatDriver("ethercat://eth9").scan(["esi ox.xml"], Budget())
    drive = next(found for found in done.found if found.item == "OX-DRIVE")
    assert (drive.item, drive.fields["product"]) == ("OX-DRIVE", "0x00004402")
    assert "mailbox CoE: SdoInfo 1, PdoAssign 0, PdoConfig 0, CompleteAccess 0" in drive.more
    assert "  0x6064:0 Position actual value DINT, 32 bits" in drive.more


@pytest.mark.parametrize("name", ["../ox.xml", "/etc/passwd", "plant.toml"])
async def test_a_scan_reads_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    (tmp_path / "ox.xml").write_bytes(FILE.read_bytes())
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    with pytest.raises(ToolFault, match=r"is no \.xml file below the working directory"):
        await EthercatDriver("ethercat://eth9").scan([f"esi {name}"], Budget())


async def test_a_slave_is_compared_with_its_device_file(
    driver: EthercatDriver, segment: RunningSegment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = FILE.read_text(encoding="utf-8")
    (tmp_path / "ox.xml").write_text(text, encoding="utf-8")
    (tmp_path / "other.xml").write_text(
        text.replace("<BitLen>32</BitLen><Name>Target velocity", "<BitLen>16</BitLen><Name>V")
    )
    monkeypatch.chdir(tmp_path)
    same, other = (await driver.scan(["6 esi ox.xml", "6 esi other.xml"], Budget())).found
    assert same.more[0] == "file and SII agree: revision, mailbox, every PDO and entry"
    assert other.more[0] == "PDO 0x1600: other entries, 80 bits in the file, 96 in the SII"
    (tmp_path / "none.xml").write_text(text.replace("#x00002008", "#x00009999"), encoding="utf-8")
    with pytest.raises(ToolFault, match="does not describe slave 3"):
        await driver.scan(["3 esi none.xml"], Budget())
