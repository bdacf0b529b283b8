"""Device files as other people write them: many devices, modules, encodings, gaps, size; and what is none."""

from pathlib import Path

import pytest
from oasis_ethercat.driver import EthercatDriver
from oasis_ethercat.esi import EsiDevice, EsiEntry, EsiSlot, read_esi

from oasis.errors import ToolFault
from oasis.plant.driver import Budget

NAMED = "Klemme für Übung"


def file_of(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    file = tmp_path / "odd.xml"
    file.write_bytes(text.encode(encoding))
    return file


def esi(devices: str, modules: str = "", head: str = "") -> str:
    return (
        f"{head}<EtherCATInfo><Vendor><Id>#x000004D2</Id><Name>Maker</Name></Vendor><Descriptions>"
        f"<Devices>{devices}</Devices><Modules>{modules}</Modules></Descriptions></EtherCATInfo>"
    )


def device(inside: str = "", kind: str = '<Type ProductCode="#x10" RevisionNo="#x1">T1</Type>') -> str:
    return f"<Device>{kind}{inside}</Device>"


def only(tmp_path: Path, inside: str) -> EsiDevice:
    (found,) = read_esi(file_of(tmp_path, esi(device(inside))))
    return found


def test_devices_and_revisions_of_a_file_are_told_apart(tmp_path: Path):
    kinds = [f'<Type ProductCode="{code}" RevisionNo="{rev}">{name}</Type>' for code, rev, name in REVISIONS]
    found = read_esi(file_of(tmp_path, esi("".join(device(kind=kind) for kind in kinds))))
    assert [(d.product, d.revision, d.type, d.vendor) for d in found] == [
        (0x10, 0x10000, "T1", 1234),
        (0x10, 0x20000, "T1", 1234),
        (16, 0xFF, "T2", 1234),
    ]


REVISIONS = [("#x10", "#x00010000", "T1"), ("#X00000010", "#x20000", " T1 "), ("16", "0xFF", "T2")]


def test_names_in_several_languages_give_the_english_one_whole(tmp_path: Path):
    names = '<Name LcId="1031">Deutsch</Name><Name LcId="1033"><![CDATA[Servo <2 A>\n  & brake]]></Name>'
    assert only(tmp_path, names).name == "Servo <2 A> & brake"
    assert only(tmp_path, '<Name LcId="1033"> </Name><Name LcId="1031">Deutsch</Name>').name == "Deutsch"


ENTRIES = """
<RxPdo Fixed="true" Mandatory="1" Sm="#x2"><Index> #x1600 </Index><Exclude>#x1601</Exclude><Exclude>#x1602</Exclude>
  <Name>Outputs</Name>
  <Entry Fixed="1"><Index>#x7000</Index><SubIndex>#x0A</SubIndex><BitLen>1</BitLen><Name>On</Name><DataType>BOOL</DataType></Entry>
  <Entry><Index>0</Index><BitLen>7</BitLen></Entry>
  <Entry><Index>#x0</Index><SubIndex/><BitLen>4</BitLen><Name/></Entry>
  <Entry><BitLen>4</BitLen></Entry>
  <Entry><Index DependOnSlot="1">#x7010</Index><SubIndex>1</SubIndex><BitLen>64</BitLen><Name>Set</Name>
    <Comment><![CDATA[in <m>]]></Comment><DataType DScale="+/-10">ARRAY [0..3] OF INT</DataType></Entry>
</RxPdo>
<RxPdo Virtual="1"><Index>#x1601</Index><Name>Other</Name></RxPdo>
"""


def test_every_entry_is_named_with_padding_arrays_and_exclusions(tmp_path: Path):
    first, other = only(tmp_path, ENTRIES).pdos
    assert (first.index, first.sync_manager, first.is_fixed, first.is_mandatory) == (0x1600, 2, True, True)
    assert (first.excludes, first.bits, other.sync_manager, other.entries) == ((0x1601, 0x1602), 80, None, ())
    assert first.entries == (
        EsiEntry(0x7000, 10, 1, "On", "BOOL"),
        EsiEntry(0, 0, 7, "", ""),
        EsiEntry(0, 0, 4, "", ""),
        EsiEntry(0, 0, 4, "", ""),
        EsiEntry(0x7010, 1, 64, "Set", "ARRAY [0..3] OF INT"),
    )


MAILBOX = """
<Sm DefaultSize="256" StartAddress="#x1000" Enable="#x1"> MBoxOut </Sm><Sm/>
<Mailbox DataLinkLayer="true"><AoE GenerateOwnNetId="1"/><EoE IP="1"/><CoE SdoInfo="1" CompleteAccess="true" PdoUpload="1">
  <InitCmd><Transition>PS</Transition><Index>#x1C12</Index><Data>00</Data></InitCmd></CoE><FoE/><SoE ChannelCount="2"/>
  <VoE/><VendorSpecific><Thing/></VendorSpecific></Mailbox>
<Dc><OpMode><Name>DcSync</Name><Desc>DC, synchronous</Desc><AssignActivate>#x0300</AssignActivate></OpMode>
  <OpMode><Name>Free</Name></OpMode></Dc>
<Slots SlotPdoIncrement="1"><Slot MaxInstances="4"><Name>Axes</Name><ModuleIdent>#x77</ModuleIdent><ModuleIdent>8</ModuleIdent></Slot></Slots>
<Info><Mailbox><Timeout/></Mailbox></Info>
<Eeprom><ByteSize>2048</ByteSize><ConfigData>05</ConfigData><Data>00FF</Data></Eeprom>
<Profile><Dictionary><Objects><Object><Index>#x1000</Index></Object></Objects></Dictionary></Profile>
"""


def test_every_mailbox_protocol_clock_mode_and_slot_is_named(tmp_path: Path):
    found = only(tmp_path, MAILBOX)
    assert found.mailbox == {
        "AoE": {"GenerateOwnNetId": "1"},
        "EoE": {"IP": "1"},
        "CoE": {"SdoInfo": "1", "CompleteAccess": "true", "PdoUpload": "1"},
        "FoE": {},
        "SoE": {"ChannelCount": "2"},
        "VoE": {},
    }
    assert (found.has_dc, found.clock_modes) == (True, ("DcSync, DC, synchronous, AssignActivate #x0300", "Free"))
    assert (found.slots, found.sii_bytes) == ((EsiSlot("Axes", 4, (0x77, 8)),), 2048)
    assert [(m.use, m.start, m.default_bytes) for m in found.sync_managers] == [("MBoxOut", 0x1000, 256), ("", 0, 0)]


def test_modules_are_told_from_devices_and_need_no_name(tmp_path: Path):
    module = '<Module><Type ModuleIdent="#x77">Card</Type><TxPdo Sm="3"><Index>#x1A00</Index></TxPdo></Module><Module/>'
    found = read_esi(file_of(tmp_path, esi(device(), module)))
    assert [(d.is_module, d.product, d.type) for d in found] == [
        (False, 0x10, "T1"),
        (True, 0x77, "Card"),
        (True, 0, ""),
    ]


@pytest.mark.parametrize("kind", ["", "<Type/>", '<Type ProductCode="soon" RevisionNo="">X</Type>'])
def test_a_device_with_missing_parts_is_there_all_the_same(tmp_path: Path, kind: str):
    odd = device("<RxPdo/><Sm>Outputs</Sm><Mailbox/>", kind)
    (found,) = read_esi(file_of(tmp_path, esi(odd)))
    assert (found.product, found.revision, found.pdos[0].entries, found.has_mailbox) == (0, 0, (), True)


def test_a_file_without_a_vendor_or_with_several_is_read(tmp_path: Path):
    text = esi(device())
    bare = text[: text.index("<Vendor>")] + text[text.index("<Descriptions>") :]
    assert [d.vendor for d in read_esi(file_of(tmp_path, bare))] == [0]
    both = f"<EtherCATInfoList>{text}{text.replace('#x000004D2', '7')}</EtherCATInfoList>"
    assert [d.vendor for d in read_esi(file_of(tmp_path, both))] == [1234, 7]


ENCODINGS = [
    ("utf-8", ""),
    ("utf-8-sig", '<?xml version="1.0" encoding="utf-8"?>'),
    ("iso-8859-1", '<?xml version="1.0" encoding="ISO-8859-1"?>'),
    ("cp1252", "<?xml version='1.0' encoding='windows-1252' standalone='yes'?>"),
    ("cp1252", '<?xml version="1.0" encoding="utf-8"?>'),
    ("utf-16", '<?xml version="1.0" encoding="UTF-16"?>'),
    ("utf-16-le", '<?xml version="1.0"?>'),
    ("utf-8", '<?xml version="1.0" encoding="no-such"?>'),
    ("utf-8", '\n<?xml version="1.0"?>'),
    ("gb18030", '<?xml version="1.0" encoding="GB18030"?>'),
    ("utf-8", '<!DOCTYPE EtherCATInfo SYSTEM "EtherCATInfo.dtd">'),
]


@pytest.mark.parametrize(("encoding", "head"), ENCODINGS, ids=[f"{n}" for n in range(len(ENCODINGS))])
def test_a_file_is_read_in_whatever_encoding(tmp_path: Path, encoding: str, head: str):
    text = esi(device(f"<Name>{NAMED}</Name>"), head=head)
    assert [d.name for d in read_esi(file_of(tmp_path, text, encoding))] == [NAMED]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (esi(device("<Name>&b;</Name>"), head=BOMB), "utf-8", "declares entities"),
        (esi(device("<Name>&b;</Name>"), head=BOMB), "utf-16", "declares entities"),
        (esi(device(), head='<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'), "utf-8", "declares entities"),
        (esi(device("<Name>&nbsp;</Name>")), "utf-8", "is no XML: undefined entity"),
        ("MZ\0\0not at all", "latin-1", "is no XML"),
        ("", "utf-8", "is empty"),
        (" \n", "utf-8", "is empty"),
        ("{}", "utf-8", "is no XML"),
        ("<html><body/></html>", "utf-8", "is no ESI file: its root is <html>"),
        (esi(""), "utf-8", "describes no device and no module"),
        (esi(device())[:-20], "utf-8", "is no XML"),
    ],
)
def test_what_is_no_device_file_is_refused_with_the_reason(tmp_path: Path, text: str, encoding: str, said: str):
    with pytest.raises(ToolFault, match=said):
        read_esi(file_of(tmp_path, text, encoding))


def test_a_folder_with_the_name_of_a_file_is_refused(tmp_path: Path):
    (tmp_path / "odd.xml").mkdir()
    with pytest.raises(ToolFault, match="cannot be read"):
        read_esi(tmp_path / "odd.xml")


def test_the_objects_of_a_large_file_go_by_and_its_devices_stay(tmp_path: Path):
    objects = f"<Object><Index>#x2000</Index><Name>Parameter</Name><Comment>{'why ' * 500}</Comment></Object>" * 40
    picture = f"<ImageData16x14>{'00ff' * 5000}</ImageData16x14>"
    each = device(f"{picture}<Profile><Dictionary><Objects>{objects}</Objects></Dictionary></Profile>{ENTRIES}")
    file = file_of(tmp_path, esi(each * 205))
    assert file.stat().st_size > 20 << 20
    found = read_esi(file)
    assert (len(found), found[-1].pdos[0].bits) == (205, 80)


async def test_of_a_file_with_many_devices_one_is_chosen_by_number_or_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kinds = [f'<Type ProductCode="{n}" RevisionNo="1">T{n}</Type>' for n in range(1, 41)]
    file_of(tmp_path, esi("".join(device(ENTRIES, kind) for kind in kinds)))
    monkeypatch.chdir(tmp_path)
    driver = EthercatDriver("ethercat://eth9")
    every = (await driver.scan(["esi odd.xml"], Budget())).found
    assert [found.more for found in every] == [("by default: outputs 80 bits, inputs 0 bits",)] * 40
    for wanted in ("0x11", "17", "t17"):
        (one,) = (await driver.scan([f"esi odd.xml {wanted}"], Budget())).found
        assert (one.item, "  0x7000:10 On BOOL, 1 bits" in one.more) == ("T17", True)
    with pytest.raises(ToolFault, match='does not describe "T99"'):
        await driver.scan(["esi odd.xml T99"], Budget())
