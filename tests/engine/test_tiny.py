"""The tiny models."""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFReader

from oasis.engine.gguf_writer import write_gguf
from oasis.engine.llama import LlamaClient
from oasis.engine.tiny import KINDS, byte_symbols, tiny
from oasis.errors import EngineFault

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "read", "description": "Read.", "parameters": {"type": "object", "properties": {}}},
}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Level?"},
    {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "A tank.",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"tag": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "41 %"},
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_the_same_bytes_wherever_it_is_made(kind: str, tmp_path: Path) -> None:
    one, other = tiny(kind, tmp_path / "one"), tiny(kind, tmp_path / "other")
    assert (one.name, one.read_bytes()) == (other.name, other.read_bytes())
    assert list(one.parent.iterdir()) == [one]


def test_a_library_of_others_reads_what_was_written(tmp_path: Path) -> None:
    values = {"general.architecture": "x", "a": 7, "b": 0.5, "c": False, "d": ["ä", ""], "e": [1, -2]}
    write_gguf(tmp_path / "m.gguf", values, {"one": ((3,), [1.0, 2.0, 3.0]), "two": ((2, 3), [0.5] * 6)})
    read = GGUFReader(tmp_path / "m.gguf")
    assert {name: read.fields[name].contents() for name in values} == values
    assert [(t.name, t.shape.tolist(), t.data.flatten().tolist()) for t in read.tensors] == [
        ("one", [3], [1.0, 2.0, 3.0]),
        ("two", [3, 2], [0.5] * 6),
    ]


def test_a_model_is_made_where_no_library_for_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("gguf", "numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert tiny("tiny-hybrid", tmp_path).read_bytes().startswith(b"GGUF")


def test_a_model_is_made_once(tmp_path: Path) -> None:
    made = tiny("tiny-dense", tmp_path).stat().st_mtime_ns
    assert tiny("tiny-dense", tmp_path).stat().st_mtime_ns == made


def test_an_unknown_kind_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(EngineFault, match="tiny-dense, tiny-swa, tiny-hybrid"):
        tiny("tiny-moe", tmp_path)


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineFault, match=r"tiny-dense was not made in .*: Not a directory"):
        tiny("tiny-dense", tmp_path / "file" / "tiny")


def test_every_byte_has_a_symbol_of_its_own() -> None:
    symbols = byte_symbols()
    assert len(set(symbols)) == 256
    assert "".join(symbols[33:127]) == bytes(range(33, 127)).decode()
    assert (symbols[32], symbols[10], symbols[173]) == ("Ġ", "Ċ", "Ń")


@pytest.mark.engine
async def test_the_template_writes_tools_reasoning_and_calls(client: LlamaClient, snapshot: Any) -> None:
    assert await client.apply_template({"messages": TALK, "tools": [TOOL]}) == snapshot


@pytest.mark.engine
async def test_the_template_only_ever_appends(client: LlamaClient) -> None:
    """Rendered before each answer, since the server takes a last message of the model's as one to go on with."""
    talk = [*TALK, {"role": "assistant", "content": "Half full."}, {"role": "user", "content": "And now?"}]
    prompts = [
        await client.apply_template({"messages": talk[:n], "tools": [TOOL], "add_generation_prompt": True})
        for n in (2, 4, 6)
    ]
    assert all(later.startswith(earlier) for earlier, later in pairwise(prompts))
