"""The chat template out of a GGUF file."""

from pathlib import Path

import pytest
from gguf import GGUFWriter

from oasis.dialect.gguf import read_chat
from oasis.errors import DialectFault
from tests.dialect.templates import HERMES


def write(path: Path, template: str | None) -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_uint32("x.numbers", 3)
    writer.add_array("x.list", [1.5, 2.5])
    writer.add_token_list(["<s>", "</s>", "ä"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    if template is not None:
        writer.add_chat_template(template)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def test_template_and_tokens_are_read(tmp_path: Path) -> None:
    write(tmp_path / "m.gguf", HERMES)
    chat = read_chat(tmp_path / "m.gguf")
    assert (chat.template, chat.bos, chat.eos) == (HERMES, "<s>", "</s>")


def test_a_base_model_says_that_it_has_no_template(tmp_path: Path) -> None:
    write(tmp_path / "m.gguf", None)
    with pytest.raises(DialectFault, match="no chat template"):
        read_chat(tmp_path / "m.gguf")


@pytest.mark.parametrize("keep", [0, 3, 12, 40, 200])
def test_a_file_cut_short_says_so(tmp_path: Path, keep: int) -> None:
    write(tmp_path / "m.gguf", HERMES)
    data = (tmp_path / "m.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[:keep])
    with pytest.raises(DialectFault, match=r"cut\.gguf cannot be read"):
        read_chat(tmp_path / "cut.gguf")


def test_another_format_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04" * 20)
    with pytest.raises(DialectFault, match="GGUF"):
        read_chat(tmp_path / "a.gguf")
