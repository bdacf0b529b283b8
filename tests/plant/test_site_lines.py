"""Lines of a TOML document's keys: the same keys that tomllib finds, each where it stands."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.errors import ConfigError
from oasis.plant.site_lines import lines_of


def keys_of(table: dict, above: tuple = ()) -> set[tuple]:
    found = set()
    for key, value in table.items():
        found.add((*above, key))
        if isinstance(value, dict):
            found |= keys_of(value, (*above, key))
    return found


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2", ("b",), 2),
        ("a.b.c = 1", ("a", "b"), 1),
        ("[a]\n\n[a.'b.c']\nd = 1", ("a", "b.c", "d"), 4),
        ('"a\\"]" = 1\n"\\u0062" = 2', ("b",), 2),
        ('a = """\n[b]\nc = 1\n""""\nd = 1', ("d",), 5),
        ("a = '''\n'''''\nd = 1", ("d",), 3),
        ("a = '\\'\nd = 1", ("d",), 2),
        ("a = [\n[1, 2], # ]\n{ b = 1 },\n]\nd = 1", ("d",), 5),
        ("a = [\n[1, 2], # ]\n{ b = 1 },\n]\nd = 1", ("a", 1, "b"), 3),
        ("a = { b.c = 1, d = { e = '}' } }\nf = 1", ("a", "d", "e"), 1),
        ("a = 1979-05-27 07:32:00\nb = 1", ("b",), 2),
        ("[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1", ("a", 1, "b"), 4),
        ("[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1", ("a", 1, "c", "d"), 6),
        ("# c\n\t\n[ a . b ]\nc=1#x", ("a", "b", "c"), 4),
    ],
)
def test_a_key_is_found_on_its_line(text: str, path: tuple, line: int):
    tomllib.loads(text)
    assert lines_of(text)[path] == line


def test_what_cannot_be_followed_is_refused():
    with pytest.raises(ConfigError, match="line 2 is written in a way"):
        lines_of("a = 1\n? = 2")


BITS = st.sampled_from(
    [
        "a",
        "b",
        '"c"',
        "'d'",
        ".",
        " ",
        "=",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "#",
        '"',
        "'",
        "1",
        "'x'",
        "\\",
        '"""',
        "'''",
        "true",
        "[[",
        "]]",
    ]
)


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(BITS, max_size=16).map("".join))
def test_of_whatever_tomllib_reads_every_key_is_located(text: str):
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = lines_of(text)
    assert {path for path in lines if all(isinstance(key, str) for key in path)} == keys_of(document)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
