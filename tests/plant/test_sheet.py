"""Tables for other programs: no cell breaks out of its place, none is run."""

import csv
import io

import pytest

from oasis.plant.sheet import as_csv, as_markdown


def test_a_cell_cannot_break_out_of_a_markdown_table():
    text = as_markdown(["a"], [["x | y\n| <b> `c` [d](e)"]])
    assert text.splitlines()[2:] == ["| x \\| y \\| \\<b\\> \\`c\\` \\[d](e) |"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\tx", "'\tx"),
        ("-12.5", "-12.5"),
        ("1e-5", "1e-5"),
        ("%", "%"),
        (" =1+1", "' =1+1"),
        ('say "a, b"\nc', 'say "a, b"\nc'),
    ],
)
def test_csv_keeps_texts_and_runs_no_formula(cell: str, shown: str):
    assert list(csv.reader(io.StringIO(as_csv(["h", "i"], [[cell, "x"]]), newline=""))) == [["h", "i"], [shown, "x"]]
