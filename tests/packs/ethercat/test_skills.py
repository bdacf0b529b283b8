"""What the pack's skills say, beside what its code knows."""

import re
from importlib.resources import files

import oasis_ethercat
import pytest
from oasis_ethercat import abort_codes, al_codes, cia402
from oasis_ethercat.coe_types import INT8, INT32, UINT16, decode
from oasis_ethercat.esc import CoeDetail, Mailbox
from oasis_ethercat.process_map import from_objects
from oasis_ethercat.sii import Contents, Identity

from oasis.core.front_matter import split

SKILLS = files(oasis_ethercat) / "skills"
NAMES = ("al-and-abort-codes", "cia402-by-hand", "ethercat-bring-up", "pdo-mapping")


def text(name: str) -> str:
    return (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_named_as_its_folder_and_described_in_a_few_words(name: str):
    front, body = split(text(name))
    assert front["name"] == name
    assert 1 <= len(str(front["description"]).split()) <= 12
    assert len(body) > 1000


def test_every_code_of_the_skill_is_one_that_is_known():
    al, aborts = text("al-and-abort-codes").split("## SDO aborts")
    codes = [int(code, 16) for code in re.findall(r"^\| (0x[0-9A-F]{4})", al, re.MULTILINE)]
    assert len(codes) == 10
    assert {
        code: al_codes.words(code) for code in codes if code < 0x8000 and "without a standard" in al_codes.words(code)
    } == {}
    codes = [int(code, 16) for code in re.findall(r"^\| (0x[0-9A-F]{8})", aborts, re.MULTILINE)]
    assert len(codes) == 7
    assert {code for code in codes if "without a standard meaning" in abort_codes.words(code)} == set()


def test_the_states_of_the_skill_are_those_of_the_statusword():
    rows = re.findall(r"^\| (0x[0-9A-F]{2}) \| ([a-z ]+) \|", text("cia402-by-hand"), re.MULTILINE)
    assert len(rows) == 8
    for value, name in rows:
        assert cia402.state(int(value, 16)).startswith(name.strip().removesuffix(" "))


def test_the_worked_mapping_is_the_one_that_the_code_makes():
    body = text("pdo-mapping")
    words = [int(word, 16) for word in re.findall(r"^\| (0x[0-9A-F]{8}) \|", body, re.MULTILINE)]
    objects = {0x1C00: [b"\1", b"\2", b"\3", b"\4"], 0x1C12: [b"\0\x16"], 0x1C13: list[bytes]()}
    objects |= {0x1600: [word.to_bytes(4, "little") for word in words]}
    empty = Contents(Identity(0, 0, 0, 0), "", Mailbox(0), (0, 0, 0, 0), CoeDetail(0), (), (), (), True)
    mapped = from_objects(empty, lambda index: objects[index])
    assert mapped.output_bits == 96
    data = bytes.fromhex(re.search(r"`((?:[0-9a-f]{2} ){11}[0-9a-f]{2})`", body)[1])
    kinds = (UINT16, INT32, INT32, INT8)
    taken = [decode(kind, place.take(data)) for kind, place in zip(kinds, mapped.outputs, strict=True)]
    assert taken == [0x000F, 0, 5000, 3]
    assert [place.at for place in mapped.outputs] == [0, 16, 48, 80]
