"""Sparklines, cells and rows: what the plant's commands print, piece by piece."""

import json
import math
from datetime import UTC, datetime

import pytest
from rich.console import Console

from oasis.plant.values import Form, Point, Reading
from oasis.ui.plant import rows
from oasis.ui.plant.live import LiveView
from oasis.ui.plant.page import cell, table
from oasis.ui.plant.record import plain
from oasis.ui.plant.spark import PLAIN, bars_for, sparkline


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([7, 0], "█▁"),
        ([5, 5, 5], "▅▅▅"),
        ([0, None, 7], "▁ █"),
        ([0, math.nan, math.inf, 7], "▁  █"),
        ([None], ""),
        ([-1e300, 1e300], "▁█"),
    ],
)
def test_a_sparkline_lies_between_its_lowest_and_highest(values: list[float | None], shown: str):
    assert sparkline(values, 20) == shown


def test_a_sparkline_shows_the_last_values_only():
    assert sparkline([9, 0, 1], 2) == "▁█"


def test_a_terminal_without_bars_gets_plain_characters():
    assert (bars_for("utf-8"), bars_for("ascii"), bars_for(None), bars_for("no such code")) == (
        "▁▂▃▄▅▆▇█",
        *(PLAIN,) * 3,
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "1"),
        (False, "0"),
        (12, "12"),
        (0.1, "0.1"),
        (12.300000190734863, "12.300000190734863"),
        (-1.5, "-1.5"),
        ("=1+1", "'=1+1"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("a\x1b[2Jb", "a[2Jb"),
        (b"\x01\xff", "01 ff"),
        (None, ""),
    ],
)
def test_a_value_in_a_spreadsheet_is_a_number_or_a_harmless_text(value: object, shown: str):
    assert plain(value) == shown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "packed"),
    [(b"\x01\xff", {"hex": "01ff"}), (math.inf, {"float": "inf"}), (1.5, 1.5), (True, True), ("é\x1b", "é\x1b")],
)
def test_every_value_is_one_line_of_valid_json(value: object, packed: object):
    reading = Reading(Point("x", Form(unit="°C")), value)  # type: ignore[arg-type]
    line = rows.line(rows.reading("modbus://h/1", reading))
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line)["value"] == packed


def test_a_cell_has_one_line_and_no_control_characters():
    assert cell("a\r\nb\x1b[31m\tc\u202e").plain == "a b[31m c"


def test_a_cell_s_brackets_are_text():
    assert cell("[red]x[/red]").plain == "[red]x[/red]"


def printed(headings: list[str], row: list[str], width: int) -> str:
    made = table(*headings)
    made.add_row(*(cell(text) for text in row))
    console = Console(width=width)
    with console.capture() as capture:
        console.print(made)
    return capture.get()


@pytest.mark.parametrize(
    ("headings", "row"),
    [
        (
            ["sunspec", "model", "name", "length", "Mn", "Md", "Vr", "SN"],
            ["holding 40002-40069", "1", "common", "66", "Acme Inverters", "Solar-X 5000", "1.2.3", "SN-000123456"],
        ),
        (
            ["tag", "address", "value", "unit", "raw", "where"],
            [
                "set_point",
                "nsu=urn:acme:boiler;s=Line1.Boiler.SetPoint",
                "12.5",
                "degC",
                "CCCD 4144",
                "FC03 wire 10-11",
            ],
        ),
    ],
)
def test_no_short_word_is_broken_at_80_columns(headings: list[str], row: list[str]):
    words = printed(headings, row, 80).split()
    short = [word for text in [*headings, *row[1:]] for word in text.split() if len(word) <= 10]
    assert [word for word in short if word not in words] == []


def test_nothing_of_a_long_address_is_left_out():
    address = "nsu=urn:acme:boiler;s=" + "Line1." * 20
    shown = printed(["tag", "address", "value"], ["set_point", address, "12.5"], 80)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert address in "".join(shown.replace("set_point", "", 1).replace("12.5", "", 1).split())


def test_a_live_table_says_why_values_are_not_good():
    at = datetime(2026, 3, 14, 9, 0, tzinfo=UTC)
    view = LiveView()
    for name in ("water", "flame"):
        view.show(at, "modbus://h/1", Reading(Point("input 0", name=name), None, "the line\x1b[2J broke"))
    view.show(at, "modbus://h/1", Reading(Point("input 2"), 5))
    view.tick(at)
    assert str(view.table().caption) == "0 s watched, Ctrl-C ends it\nwater, flame: the line[2J broke"
