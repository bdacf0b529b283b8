"""Real PLC exports: found, read and edited without touching another byte."""

import shutil
from pathlib import Path

import pytest

from oasis.core.items import Status
from tests.tools.conftest import Project

INPUTS = Path(__file__).parents[3] / "shared" / "inputs" / "plc"

pytestmark = pytest.mark.skipif(not INPUTS.is_dir(), reason="no PLC exports beside the repository")

EDITS = [
    ("tcunit_FB_PrimitiveTypes.TcPOU", "Test_BYTE_Equals();\nTest_BYTE_Differ();", "Test_BYTE_Equals();"),
    ("l5x2c_ex1.L5X", "XIC(A)[XIO(B),XIO(C)]OTE(D);", "XIC(A)XIO(B)OTE(D);"),
    ("l5xlint_ACDTestsWithAOI.L5X", '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', "<?xml?>"),
    ("ironplc_first_steps.st", "    MSG : STRING;\n", "    MSG : STRING[80];\n"),
    ("homeautomation_codesys3_PLCopen.xml", '<pou name="FB_INPUT_BINARYSENSOR_MQTT" ', '<pou name="FB_X" '),
]


@pytest.mark.parametrize(("name", "old", "new"), EDITS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
async def test_an_edit_changes_its_bytes_only(project: Project, name: str, old: str, new: str, ends: str):
    data = (INPUTS / name).read_bytes().replace(b"\n", ends.encode())
    path = project.put(name, data)
    assert (await project.call("edit", path=name, old=old, new=new)).status is Status.OK
    was, now = (text.replace("\n", ends).encode() for text in (old, new))
    assert data.count(was) == 1
    assert path.read_bytes() == data.replace(was, now)


async def test_every_export_is_read_to_its_end_in_parts(project: Project):
    for file in sorted(INPUTS.iterdir()):
        shutil.copy(file, project.root / file.name)
        wanted = file.read_text(encoding="utf-8-sig").split("\n")
        number, seen = 1, list[str]()
        while number:
            text = (await project.call("read", path=file.name, **{"from": number, "lines": 3000})).text
            _, *body, foot = text.split("\n")
            seen += body
            number = int(foot.split("from=")[1].rstrip("]")) if "more: from=" in foot else 0
        assert seen == (wanted if wanted[-1] else wanted[:-1])


async def test_a_unit_in_an_export_of_a_megabyte_is_found_by_search(project: Project):
    shutil.copy(INPUTS / "homeautomation_codesys3_PLCopen.xml", project.root)
    text = (await project.call("search", pattern=r'<pou name="fb_input_binary', glob="*.xml")).text
    assert '  1796:       <pou name="FB_INPUT_BINARYSENSOR_MQTT" pouType="functionBlock">' in text


async def test_the_figures_of_the_bundled_skill_are_those_of_the_export(project: Project):
    shutil.copy(INPUTS / "homeautomation_codesys3_PLCopen.xml", project.root)
    counts = [
        (await project.call("search", pattern=pattern)).text.rsplit("[", 1)[1].split()[0]
        for pattern in ("<pou ", 'plcopenxml/method"')
    ]
    assert counts == ["42", "182"]
    assert "42 `<pou>` and 182 methods" in (await project.call("skill", name="reading-plc-exports")).text
