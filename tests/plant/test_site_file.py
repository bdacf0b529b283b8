"""The site file: what it may say, and each fault with its line. One fault, and none of it is used."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oasis_modbus.driver import ModbusDriver

from oasis.errors import ConfigError, ToolFault
from oasis.plant.site_file import MOST_BYTES, Finding, changed, check, load
from oasis.plant.values import Form, Point
from tests.plant.device import Memory, MemoryDriver
from tests.plant.plants import MEMORY_SITE

HEAD = '[site]\nname = "x"\n[endpoints.e]\nurl = "mem://e"\n'
TAG = '[tags.t]\nendpoint = "e"\naddress = "cell a"\n'
NUMBER = 'type = "int16"\nwrite = true\nmin = 0\nmax = 10\nmax_step = 1\n'


def driver(url: str) -> MemoryDriver:
    if not url.startswith("mem://"):
        raise ToolFault("no pack has this scheme")
    return MemoryDriver(Memory(), url)


def faults(folder: Path, text: str | bytes) -> list[tuple[int, str]]:
    path = folder / "plant.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(finding.line, finding.text) for finding in check(path, driver) if finding.is_error]


def test_a_site_file_gives_tags_with_their_limits(tmp_path: Path):
    path = tmp_path / "plant.toml"
    path.write_text(MEMORY_SITE, encoding="utf-8")
    site = load(path, driver)
    tag = site.tags["set_point"]
    assert (site.name, dict(site.endpoints)) == ("Boiler house", {"boiler": "mem://boiler"})
    assert tag.point == Point("cell sp", Form("uint16", scale=0.1, unit="°C"), "set_point")
    assert tag.limits == "20 to 95 °C, at most 10 °C at once, at most 15 °C a minute"
    assert (tag.safe, tag.is_unattended, tag.line) == (60.0, False, 8)
    assert site.tags["mode"].choices == (0, 1, 3)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (HEAD + "color = 1\n", 5, "`color` is no key of [endpoints.e]"),
        (HEAD + TAG + "uint = 'V'\n", 8, "`uint` is no key of [tags.t]. Did you mean `unit`"),
        ("[sites]\n" + HEAD, 1, "`sites` is no key"),
        (HEAD + '[endpoints.f]\nurl = "mem://e/"\n', 6, "the endpoints e and f are the same, mem://e"),
        (HEAD + '[endpoints.f]\nurl = "mem://e?timeout=1"\n', 6, "the endpoints e and f are the same"),
        (HEAD + TAG + TAG, 8, "stands here a second time"),
        (HEAD + TAG + 'unit = "V"\nunit = "V"\n', 9, "stands here a second time"),
        (HEAD + TAG + NUMBER + TAG.replace("tags.t", "tags.T") + NUMBER, 13, "differ only in upper and lower case"),
        (HEAD + TAG + NUMBER + TAG.replace("tags.t", "tags.u") + NUMBER, 15, "may both write cell a"),
        (HEAD + TAG + NUMBER.replace("min = 0", "min = 11"), 10, "`min` 11 is above `max` 10"),
        (HEAD + TAG + NUMBER.replace("min = 0", "min = 9.2").replace("max = 10", "max = 9.8"), 10, "none is between"),
        (HEAD + '[endpoints.f]\nurl = "mem://f"\nsame_as = "g"\n', 7, "is to name an endpoint above this one"),
        (HEAD + '[endpoints.f]\nurl = "mem://f"\nsame_as = "f"\n', 7, "is to name an endpoint above this one"),
        (HEAD + TAG + NUMBER + "safe = 11\n", 13, "`safe` is 11, which may not be written: the most allowed is 10"),
        (HEAD + TAG + NUMBER.replace("step = 1", "step = 0"), 12, "`max_step` must be above 0"),
        (HEAD + TAG + NUMBER.replace("step = 1", "step = -1"), 12, "`max_step` must be above 0"),
        (HEAD + TAG + NUMBER + "rate = 0\n", 13, "`rate` must be above 0"),
        (HEAD + TAG + NUMBER.replace("step = 1", "step = 0.5"), 12, "less than the point's resolution of 1"),
        (HEAD + TAG + NUMBER.replace("max = 10", "max = 40000"), 11, "outside of what int16 holds"),
        (HEAD + TAG + 'type = "int16"\nwrite = true\n', 5, "`min`, `max`, `max_step` of t is missing"),
        (HEAD + TAG + NUMBER.replace("max = 10\n", ""), 5, "`max` of t is missing"),
        (HEAD + TAG + "unattended = true\n", 8, "`unattended` is for a tag that may be written"),
        (HEAD + TAG + "safe = 1\n", 8, "`safe` is for a tag that may be written"),
        (HEAD + TAG + NUMBER + "scale = 0.1\nsafe = 0.55\n", 14, "`safe`: 0.55 cannot be held"),
        (HEAD + TAG + NUMBER + "scale = 0\n", 13, "`scale` must not be 0"),
        (HEAD + TAG + NUMBER + "scale = 1e-200\n", 13, "`scale` is no scale that devices use"),
        (HEAD + TAG + 'type = "int16"\nwrite = true\nvalues = [1, 1]\n', 10, "`values` has a value twice"),
        (HEAD + TAG + 'type = "int16"\nwrite = true\nvalues = []\n', 10, "`values` is empty"),
        (HEAD + TAG + 'type = "int16"\nwrite = true\nvalues = [1, "a"]\n', 10, "is no value of type int16"),
        (HEAD + TAG + 'type = "string"\nwrite = true\n', 5, "written from a list only"),
        (HEAD + TAG + 'type = "bool"\nwrite = true\nmin = 0\n', 10, "`min` is for numbers"),
        (HEAD + TAG + 'type = "flot32"\n', 8, "there is no type \"flot32\". Did you mean `float32`"),
        (HEAD + TAG + 'order = "ABDC"\n', 8, "there is no order"),
        (HEAD + TAG + "write = true\n", 5, "`type` of t is missing"),
        (HEAD + TAG + 'write = "yes"\n', 8, "`write` must be true or false, not text in quotes"),
        (HEAD + TAG + "scale = true\n", 8, "`scale` must be a number, not true or false"),
        (HEAD + TAG + "unit = 2026-03-14\n", 8, "`unit` must be text in quotes, not a date or time"),
        (HEAD + TAG + NUMBER.replace("max = 10", "max = inf"), 11, "`max` must be a finite number"),
        (HEAD + TAG + NUMBER.replace("max = 10", "max = nan"), 11, "`max` must be a finite number"),
        (HEAD + TAG + NUMBER.replace("max = 10", "max = 1" + "0" * 400), 11, "`max` must be a finite number"),
        (HEAD + TAG + 'unit = "a\\u001b[2J"\n', 8, "characters that cannot be shown"),
        (HEAD + TAG.replace("cell a", "coil 1"), 7, "the address \"coil 1\" cannot be used"),
        (HEAD + TAG.replace('"e"', '"f"'), 6, "there is no endpoint \"f\". There are: `e`."),
        (HEAD + '[tags.t]\nendpoint = "e"\n', 5, "`address` of the tag t is missing"),
        (HEAD + '[tags."a b"]\n', 5, "\"a b\" is no name for tag"),
        (HEAD + "[tags]\nt = 3\n", 6, "`tags.t` must be a table"),
        (HEAD + "[[tags.t]]\n", 5, "`tags.t` must be a table"),
        (HEAD.replace("mem://e", "ftp://e"), 4, "the URL of e cannot be used: no pack has this scheme"),
        (HEAD.replace("mem://e", "mem://a:b@e"), 4, "the URL holds a password"),
        (HEAD.replace("mem://e", "mem://e?password=b"), 4, "the URL holds a password"),
        ('[endpoints.e]\nurl = "mem://e"\n', 1, "`name` of [site] is missing"),
        ('[site]\nname = "x"\n', 1, "there is no endpoint"),
        (HEAD + "[tags.t\n", 5, "this is no TOML"),
        (HEAD + "x = 1" + "0" * 5000, 0, "cannot be followed"),
        (HEAD + "x = " + "[" * 3000, 0, "nested too deeply"),
        (HEAD.encode() + b'[tags.t]\nunit = "\xb0C"\n', 6, "not UTF-8"),
        (HEAD.encode("utf-16"), 1, "not UTF-8"),
    ],
)  # fmt: skip
def test_a_fault_is_explained_on_its_line(tmp_path: Path, text: str | bytes, line: int, said: str):
    found = faults(tmp_path, text)
    assert [at for at, words in found if said in words] == [line], found
    with pytest.raises(ConfigError, match="is not used, and nothing can be written"):
        load(tmp_path / "plant.toml", driver)


def test_all_faults_are_said_at_once(tmp_path: Path):
    text = HEAD + TAG + NUMBER.replace("min = 0", "min = 11\ncolour = 1") + "safe = 0.5\nrate = -1\n"
    assert [line for line, _ in faults(tmp_path, text)] == [10, 11, 14, 15]
    with pytest.raises(ConfigError, match=r"(?s)line 10: .*line 11: .*line 14: .*line 15: "):
        load(tmp_path / "plant.toml", driver)


@pytest.mark.parametrize(
    ("address", "more", "said"),
    [
        ("holding 0", 'type = "flaot32"\n', "Did you mean float32"),
        ("holding 0", 'type = "float32"\norder = "ABDC"\n', "ABDC"),
        ("coil 0", 'type = "uint16"\n', 'coil 0 is "bool": leave it out'),
        ("holding 0 uint16", 'type = "int16"\n', "leave it out"),
        ("holdin 0", "", "Did you mean holding"),
        ("holding 70000", "", "the last wire address"),
        ("holding 0-15 string", 'write = true\nvalues = ["a"]\nscale = 2\n', "`scale` is for numbers"),
        ("holding 0 x0.1", "scale = 0.2\n", "the address says 0.1"),
        ("holding 0", 'type = "float32"\nwrite = true\nmin = 0\nmax = 1\nmax_step = 1\n', "differ in their order"),
        ("input 0", NUMBER, "Input registers can only be read"),
        ("discrete 0", "write = true\n", "Discrete inputs can only be read"),
        ("40001", NUMBER, "may mean 'holding 0' or 'holding 40000'"),
        ("holding 0-3", NUMBER, "are 4 values; write one at a time"),
        ("coil 0-3", "write = true\n", "give each coil a tag of its own"),
    ],
)
def test_a_pack_s_own_words_explain_what_its_items_cannot_be(tmp_path: Path, address: str, more: str, said: str):
    path = tmp_path / "plant.toml"
    head = HEAD.replace("mem://e", "modbus://127.0.0.1:502/1")
    path.write_text(f'{head}[tags.t]\nendpoint = "e"\naddress = "{address}"\n{more}', encoding="utf-8")
    assert [said in finding.text for finding in check(path, ModbusDriver)] == [True], check(path, ModbusDriver)


def modbus_site(folder: Path, *tags: tuple[str, str]) -> list[str]:
    """What is wrong with a site of these writable tags, address and type."""
    text = HEAD.replace("mem://e", "modbus://127.0.0.1:502/1")
    for number, (address, kind) in enumerate(tags):
        limits = "" if kind == "bool" else "min = 0\nmax = 10\nmax_step = 1\n"
        text += f'[tags.t{number}]\nendpoint = "e"\naddress = "{address}"\ntype = "{kind}"\nwrite = true\n{limits}'
    path = folder / "plant.toml"
    path.write_text(text, encoding="utf-8")
    return [f"{finding.line}: {finding.text}" for finding in check(path, ModbusDriver) if finding.is_error]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("holding 1 ABCD", "uint32"), ("holding 2", "uint16")),
        (("holding 2", "uint16"), ("holding 0-3 CDAB", "float64")),
        (("holding 3 bit 2", "bool"), ("holding 3", "uint16")),
        (("holding 3 bit 2", "bool"), ("holding 3 bit 2", "bool")),
    ],
)
def test_two_tags_that_write_a_part_of_the_same_are_refused(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str]
):
    (fault,) = modbus_site(tmp_path, one, other)
    assert "t1 and t0 (line 5) may both write" in fault
    assert not modbus_site(tmp_path, one)


TWO_WAYS = """
[endpoints.f]
url = "mem://f"
{same}
[tags.u]
endpoint = "f"
address = "cell a"
"""


def test_two_tags_that_write_the_same_of_one_device_reached_in_two_ways_are_refused(tmp_path: Path):
    two = TWO_WAYS.format(same='same_as = "e"') + NUMBER
    assert faults(tmp_path, HEAD + TAG + NUMBER + two) == [
        (
            19,
            "u and t (line 5) may both write a part of the same: cell a of mem://f and cell a of mem://e, which is the "
            "same device, overlap, and the limits of one would not hold for the other",
        )
    ]
    assert faults(tmp_path, HEAD + TAG + two) == []
    assert faults(tmp_path, HEAD + TAG + NUMBER + TWO_WAYS.format(same="") + NUMBER) == []


def test_two_protocols_to_one_device_cannot_be_compared(tmp_path: Path):
    def either(url: str) -> MemoryDriver | ModbusDriver:
        return ModbusDriver(url) if url.startswith("modbus") else driver(url)

    path = tmp_path / "plant.toml"
    path.write_text(HEAD + '[endpoints.f]\nurl = "modbus://plc/1"\nsame_as = "e"\n', encoding="utf-8")
    (fault,) = check(path, either)
    assert (fault.line, "are spoken to by two protocols" in fault.text) == (7, True)


def test_two_endpoints_that_say_they_are_the_same_are_worth_a_look(tmp_path: Path):
    path = tmp_path / "plant.toml"
    head = HEAD + "identity = 'ACME'\n[endpoints.f]\nurl = 'mem://f'\nidentity = 'ACME'\n"
    path.write_text(head, encoding="utf-8")
    (hint,) = check(path, driver)
    assert (hint.line, hint.is_error, 'add `same_as = "e"`' in hint.text) == (8, False, True)
    path.write_text(head + "same_as = 'e'\n", encoding="utf-8")
    assert check(path, driver) == []


def test_bits_of_one_register_and_neighbours_do_not_overlap(tmp_path: Path):
    tags = [("holding 3 bit 2", "bool"), ("holding 3 bit 3", "bool"), ("holding 1 ABCD", "uint32"), ("coil 3", "bool")]
    assert modbus_site(tmp_path, *tags) == []


def test_a_point_that_its_pack_never_writes_is_refused_with_its_line(tmp_path: Path):
    text = HEAD + TAG.replace("cell a", "cell fixed") + NUMBER
    assert faults(tmp_path, text) == [
        (7, "cell fixed cannot be written: A cell whose name begins with fixed can only be read.")
    ]


def test_type_and_order_are_taken_as_the_pack_spells_them(tmp_path: Path):
    path = tmp_path / "plant.toml"
    head = HEAD.replace("mem://e", "modbus://127.0.0.1:502/1")
    tag = '[tags.t]\nendpoint = "e"\naddress = "hr 4"\ntype = "float"\norder = "CDAB"\nscale = 2\n'
    path.write_text(head + tag, encoding="utf-8")
    assert load(path, ModbusDriver).tags["t"].point == Point("holding 4", Form("float32", "CDAB", 2.0), "t")


def test_a_byte_order_mark_and_crlf_change_neither_meaning_nor_lines(tmp_path: Path):
    text = (HEAD + TAG + "uint = 1\n").replace("\n", "\r\n")
    assert faults(tmp_path, b"\xef\xbb\xbf" + text.encode())[0][0] == 8
    path = tmp_path / "plant.toml"
    path.write_bytes(b"\xef\xbb\xbf" + MEMORY_SITE.replace("\n", "\r\n").encode())
    assert load(path, driver).tags["set_point"].line == 8


def test_quoted_dotted_and_inline_keys_are_located(tmp_path: Path):
    text = HEAD + '[tags]\n\'a\'.endpoint = "e"\n"b" = { endpoint = "e", address = "cell b", uint = 1 }\n'
    assert [line for line, _ in faults(tmp_path, text)] == [6, 7]


def test_a_list_over_several_lines_does_not_shift_what_follows(tmp_path: Path):
    text = HEAD + TAG + 'type = "int16"\nwrite = true\nvalues = [\n  1, # ] one\n  2,\n]\ncolour = 1\n'
    assert [line for line, _ in faults(tmp_path, text)] == [14]


@pytest.mark.parametrize(
    "kind",
    [
        "folder",
        pytest.param("link", marks=pytest.mark.skipif(os.name == "nt", reason="links need rights there")),
        pytest.param("loop", marks=pytest.mark.skipif(os.name == "nt", reason="links need rights there")),
        "missing",
        "huge",
        "nul",
    ],
)
def test_what_is_no_plain_file_is_refused_in_words(tmp_path: Path, kind: str):
    path = tmp_path / "plant.toml"
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            (tmp_path / "real.toml").write_text(MEMORY_SITE, encoding="utf-8")
            path.symlink_to("real.toml")
        case "loop":
            path.symlink_to(path.name)
        case "huge":
            path.write_bytes(b"#" * (MOST_BYTES + 1))
        case "nul":
            path = tmp_path / "a\0b"
        case _:
            pass
    said = {
        "folder": "a folder",
        "link": "is a link",
        "loop": "loop",
        "missing": "No such file",
        "huge": "larger than 1 MiB",
    }
    with pytest.raises(ConfigError, match=said.get(kind, "cannot be read")):
        load(path, driver)
    assert check(path, driver)[0].line == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_without_waiting_for_it(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="no plain file"):
        load(tmp_path / "pipe", driver)


def test_a_changed_file_is_seen_and_one_that_only_was_touched_is_not(tmp_path: Path):
    path = tmp_path / "plant.toml"
    path.write_text(MEMORY_SITE, encoding="utf-8")
    site = load(path, driver)
    path.touch()
    assert changed(site) == ""
    path.write_text(MEMORY_SITE + "\n", encoding="utf-8")
    assert "was changed" in changed(site)
    path.unlink()
    assert "cannot be read" in changed(site)


def test_what_is_allowed_and_worth_a_look_is_a_hint(tmp_path: Path):
    path = tmp_path / "plant.toml"
    path.write_text(HEAD + TAG + NUMBER + "unattended = true\n", encoding="utf-8")
    assert check(path, driver) == [
        Finding(5, "t has no unit; limits are easier to check with one", False),
        Finding(13, "t is written without anybody asked", False),
    ]
    assert load(path, driver).tags["t"].is_unattended


SCALARS = st.one_of(
    st.sampled_from(["1", "-1", "0.1", "nan", "inf", "1e400", "true", "2026-03-14", "2026-03-14 07:32:00", "0xff"]),
    st.text(max_size=6).map(lambda text: '"' + "".join(f"\\u{ord(c):04x}" for c in text if ord(c) < 0xD800) + '"'),
    st.sampled_from(
        ["'''a\n=b'''", '"""a\n[b]"""', "[1, [2,\n 3]]", "{ a = 1, 'b c' = [] }", "''", '""', '"cell a"', '"e"']
    ),
)
KEYS = st.sampled_from(
    [
        "endpoint",
        "address",
        "type",
        "scale",
        "offset",
        "min",
        "max",
        "max_step",
        "rate",
        "values",
        "safe",
        "write",
        "'q q'",
        "a.b",
        '"\\u00e9"',
    ]
)
LINES = st.one_of(
    st.tuples(KEYS, SCALARS).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.sampled_from(
        [
            "[site]",
            "[endpoints.e]",
            "[tags.t]",
            "[[tags]]",
            "[tags.t.x]",
            "[ tags . 'u' ]",
            "# [x]",
            "",
            "name = 'n'",
            "url = 'mem://e'",
        ]
    ),
)


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(LINES, max_size=14).map("\n".join), st.booleans())
def test_no_site_file_ends_in_anything_but_a_site_or_a_config_error(tmp_path_factory, text: str, is_headed: bool):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(((HEAD if is_headed else "") + text).encode("utf-8", "replace"))
    findings = check(path, driver)
    has_errors = any(finding.is_error for finding in findings)
    try:
        site = load(path, driver)
    except ConfigError:
        assert has_errors
    else:
        assert not has_errors
        assert site.name
    assert all(0 <= finding.line <= text.count("\n") + 6 for finding in findings)


@settings(max_examples=50, deadline=None, database=None)
@given(st.binary(max_size=200))
def test_no_bytes_end_in_anything_but_a_config_error(tmp_path_factory, data: bytes):
    path = tmp_path_factory.getbasetemp() / "bytes.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError):
        load(path, driver)
