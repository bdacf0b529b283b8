"""Markdown as it comes: what is printed is final, and all of it is printed once."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oasis.ui.terminal.blocks import MAX_OPEN_CHARS, MAX_OPEN_LINES, Block, Blocks
from oasis.ui.terminal.markdown import Page
from oasis.ui.terminal.paint import Brush, bare

TEXT = """# Title

A paragraph
of two lines.

- one

  with more
- two

3. three
4. four

| a | b |
|---|---|
| 1 | 2 |

```st
A := 1;

B := 2;
```

> quoted

The end."""


def fed(*pieces: str) -> list[Block]:
    blocks = Blocks()
    return [block for piece in pieces for block in blocks.feed(piece)] + blocks.close()


def test_a_block_is_finished_when_the_next_one_begins():
    blocks = Blocks()
    assert blocks.feed("One.\n\n") == []
    assert blocks.feed("Two") == [Block("One.\n\n")]
    assert blocks.tail == "Two"


def test_a_list_with_empty_lines_is_one_block():
    assert [block.source.split()[0] for block in fed(TEXT)] == ["#", "A", "-", "3.", "|", "```st", ">", "The"]


@given(st.lists(st.integers(0, len(TEXT)), max_size=30))
def test_the_blocks_are_the_same_however_the_text_is_cut(cuts: list[int]):
    places = sorted({0, *cuts, len(TEXT)})
    pieces = [TEXT[a:b] for a, b in pairwise(places)]
    assert fed(*pieces) == fed(TEXT)


@given(st.text(st.sampled_from("ab \n`#-*1.|>~"), max_size=200))
def test_nothing_is_lost_whatever_comes(text: str):
    blocks = fed(*text)
    assert "".join(block.source for block in blocks).split() == text.split()


def test_long_code_is_printed_while_it_comes_and_every_line_once():
    lines = [f"x{n} := {n};" for n in range(5 * MAX_OPEN_LINES)]
    text = "Look:\n\n```st\n" + "\n".join(lines) + "\n```\n\nDone."
    blocks = Blocks()
    found, longest = [], 0
    for line in text.splitlines(keepends=True):
        found += blocks.feed(line)
        longest = max(longest, blocks.tail.count("\n"))
    found += blocks.close()
    drawn = [
        line for block in found for line in bare(Brush(lambda: 80, colour=True).draw(Page(block.source))).split("\n")
    ]
    assert [line.strip() for line in drawn if ":=" in line] == lines
    assert "```" not in "".join(drawn)
    assert longest <= MAX_OPEN_LINES + 1
    assert drawn[-2] == "Done."


def test_a_paragraph_without_end_does_not_grow_in_memory():
    blocks = Blocks()
    for _ in range(2_000):
        blocks.feed("word " * 20)
    assert len(blocks.tail) < 10_000


def test_headings_stand_at_the_left_and_code_has_no_background():
    drawn = Brush(lambda: 60, colour=True).draw(Page("# Title\n\n`x`\n\n```\ncode\n```"))
    assert bare(drawn) == "Title\n\nx\n\n  code\n"
    assert "\x1b[40m" not in drawn and ";40" not in drawn


def drawn(source: str, width: int) -> str:
    return bare(Brush(lambda: width + 1, colour=True).draw(Page(source)))


def test_empty_lines_of_long_code_are_kept_where_it_is_cut():
    """One of the cuts comes behind an empty line, whatever the length of a piece is."""
    for group in (1, 2, 3):
        text = "```st\n" + "".join("x := 1;\n" * group + "\n" for _ in range(2 * MAX_OPEN_LINES)) + "```\n\nDone."
        blocks = Blocks()
        found = [block for line in text.splitlines(keepends=True) for block in blocks.feed(line)]
        assert sum(block.goes_on for block in found) >= 1
        printed = "".join("\n" * block.blank_lines + drawn(block.source, 80) for block in found)
        assert printed == ("  x := 1;\n" * group + "\n") * (2 * MAX_OPEN_LINES - 1) + "  x := 1;\n" * group


def test_a_long_table_stays_a_table_where_it_is_cut():
    rows = [f"| {n} | the value of tag {n} |" for n in range(MAX_OPEN_CHARS // 20)]
    found = fed(*(f"{line}\n" for line in ["| n | value |", "|--:|---|", *rows, "", "End."]))
    pieces = [block for block in found if "|" in block.source]
    assert len(pieces) > 1
    assert [block.goes_on for block in pieces] == [False, *[True] * (len(pieces) - 1)]
    lines = "".join(drawn(block.source, 80) for block in pieces).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if "tag" in line] == [
        f"the value of tag {n}" for n in range(len(rows))
    ]
    assert not any("|" in line for line in lines)


def test_a_long_list_is_cut_between_two_items():
    items = [f"{n}. item {n}\n    - within it\n" for n in range(1, 400)]
    text = "".join(items)
    pieces = fed(*("".join(items[at : at + 20]) for at in range(0, len(items), 20)))
    assert len(pieces) > 1
    assert all(block.source[0].isdigit() for block in pieces)
    assert "".join(block.source for block in pieces) == text


TABLE = "| tag | comment |\n|---|---|\n| supply_temperature_of_the_boiler | as the manual says |\n| x | y |"


def test_no_cell_of_a_table_is_cut():
    assert drawn(TABLE, 47).splitlines()[2:5] == [
        " supply_temperature_of_the_boiler  as the",
        "                                   manual says",
        " x                                 y",
    ]


def test_a_table_that_is_too_wide_stands_as_lists():
    assert drawn(TABLE, 40) == (
        "tag: supply_temperature_of_the_boiler\ncomment: as the manual says\n\ntag: x\ncomment: y\n"
    )
