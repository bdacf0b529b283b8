"""NodeSet2 files that are none, or need what is not there."""

from pathlib import Path

import pytest
from oasis_opcua.simulator.nodeset_files import examine, in_order

from oasis.errors import ToolFault
from tests.packs.opcua.lines import Shared
from tests.packs.opcua.simulator.nodeset_texts import loaded, nodeset, variable

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><UANodeSet>&b;</UANodeSet>'
OUTSIDE = '<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><x>&a;</x>'
REFUSED = "declares a document type or entities"


def test_a_model_that_no_file_holds_is_named_with_its_version(tmp_path: Path):
    with pytest.raises(ToolFault, match=r"a.xml needs the model urn:b version 2.0 or newer, which none of the files"):
        in_order([examine(nodeset(tmp_path, "a", needs="b"))])


async def test_models_that_need_each_other_are_loaded_together(shared: Shared, tmp_path: Path):
    parts = [nodeset(tmp_path, "mutual1", variable("A"), "mutual2"), nodeset(tmp_path, "mutual2", needs="mutual1")]
    assert (await loaded(shared, *parts)).nodes == {"urn:mutual1": 1, "urn:mutual2": 0}


async def test_a_model_in_an_older_version_than_asked_for_is_noted(shared: Shared, tmp_path: Path):
    counts = await loaded(shared, nodeset(tmp_path, "newer", needs="old"), nodeset(tmp_path, "old"))
    assert counts.notes == ("newer.xml asks for urn:old 2.0, and 1.0 is loaded: newer nodes may be missing",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<UANodeSet", "is not well-formed XML: line 1"),
        ("<a>\n<b>\n</a>", "is not well-formed XML: line 3"),
        ("", "is empty"),
        ("<html/>", "is no NodeSet2 file: its root element is html"),
        ("<ModelDesign xmlns='http://opcfoundation.org/UA/ModelDesign.xsd'/>", "compile it"),
        ("<?xml version='1.0' encoding='klingon'?><x/>", "encoding"),
        (BOMB, REFUSED),
        (OUTSIDE, REFUSED),
    ],
)
def test_what_is_no_nodeset_is_said(tmp_path: Path, text: str, said: str):
    path = tmp_path / "x.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolFault, match=said):
        examine(path)


def test_entities_are_refused_in_every_encoding(tmp_path: Path):
    path = tmp_path / "x.xml"
    path.write_bytes(OUTSIDE.replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16"))
    with pytest.raises(ToolFault, match=REFUSED):
        examine(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(ToolFault, match="cannot be read"):
        examine(tmp_path / "none.xml")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
async def test_a_file_may_begin_with_a_byte_order_mark_and_hold_comments(shared: Shared, tmp_path: Path, encoding: str):
    name = f"marked{encoding[-2:]}"
    path = nodeset(tmp_path, name, f"<!-- a -->{variable('A', 'i=12', '<t:String>Öl</t:String>')}<!-- b -->")
    text = path.read_text(encoding="utf-8").replace('encoding="utf-8"', f'encoding="{encoding[:6].rstrip("-")}"')
    path.write_bytes(text.encode(encoding))
    counts = await loaded(shared, path)
    assert (counts.nodes, counts.notes) == ({f"urn:{name}": 1}, ())
