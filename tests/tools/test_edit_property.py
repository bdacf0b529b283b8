"""Whatever the encoding and line ends: bytes outside of what changes never change."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.core.tool import Arguments, Tool
from oasis.errors import ToolFault
from oasis.tools import edit, encoding
from oasis.tools.workspace import Workspace

WORDS = st.sampled_from(["A := 1;", "\tL\tMW 20", "Förderband", "°C", "(* x *)", "  B", "", "END_IF ", "🙂", "\t"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.lists(st.tuples(WORDS, ENDS), min_size=1, max_size=8).map(lambda p: "".join(w + e for w, e in p))
CODECS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
MARK = "MARKER_0"


async def one_run(tool: Tool, arguments: Arguments) -> None:
    await tool.run(arguments)


def run_edit(data: bytes, old: str, new: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "f").write_bytes(data)
        tool = edit.tool(Workspace(root, root.parent / "spill"))
        asyncio.run(one_run(tool, {"path": "f", "old": old, "new": new}))
        return (root / "f").read_bytes()


def encoded(text: str, codec: str) -> bytes:
    return text.replace("🙂", "é").encode(codec) if codec == "cp1252" else text.encode(codec)


@settings(max_examples=60, deadline=None)
@given(before=TEXTS, after=TEXTS, codec=CODECS)
def test_an_edit_of_a_unique_word_leaves_every_other_byte(before: str, after: str, codec: str):
    whole = encoded(f"{before}{MARK}{after}", codec)
    assert run_edit(whole, MARK, "MARKER_1 x") == encoded(f"{before}MARKER_1 x{after}", codec)


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.tuples(st.binary(min_size=0, max_size=12), ENDS), max_size=8), at=st.integers(0, 8))
def test_any_bytes_beside_the_edit_stay(lines: list[tuple[bytes, str]], at: int):
    parts = [body + end.encode() for body, end in lines]
    head, tail = b"".join(parts[:at]), b"".join(parts[at:])
    whole = head + MARK.encode() + b"\n" + tail
    form = encoding.detect(whole)
    if form is None or form.codec.startswith("utf-16") or MARK.encode() in head + tail:
        return
    assert run_edit(whole, MARK, "MARKER_1") == head + b"MARKER_1\n" + tail


@settings(max_examples=60, deadline=None)
@given(before=TEXTS, after=TEXTS, end=ENDS, codec=CODECS)
def test_an_edit_over_a_line_end_keeps_what_is_around_it(before: str, after: str, end: str, codec: str):
    middle = f"MARKER_0{end}MARKER_1"
    whole = encoded(f"{before}{middle}{after}", codec)
    got = run_edit(whole, "MARKER_0\nMARKER_1", "MARKER_0\nNEW\nMARKER_1")
    assert got == encoded(f"{before}MARKER_0{end}NEW{end}MARKER_1{after}", codec)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_file_is_text_and_back_or_binary(data: bytes):
    form = encoding.detect(data)
    if form is None:
        return
    body = data[len(form.bom) :]
    text = form.decode(body)
    width = 2 if "16" in form.codec else 4 if "32" in form.codec else 1
    assert form.encode(text) == body[: len(body) // width * width]
    assert len(encoding.shown(text)) == len(text)


@settings(max_examples=40, deadline=None)
@given(text=TEXTS, old=st.text("A \t\nL;", min_size=1, max_size=6), new=st.text("B \t\n", max_size=6))
def test_an_edit_succeeds_or_says_why_and_never_breaks_off(text: str, old: str, new: str):
    data = text.encode()
    try:
        run_edit(data, old, new)
    except ToolFault as fault:
        assert str(fault)
