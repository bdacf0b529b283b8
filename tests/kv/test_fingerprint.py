"""What tells one engine from another."""

import os
from pathlib import Path

import pytest

from oasis.errors import KvFault
from oasis.kv.database import Database
from oasis.kv.fingerprint import Fingerprint, file_sha256, fingerprint_of, model_sha256

PROPS = {"chat_template": "{{ x }}", "default_generation_settings": {"n_ctx": 4096, "params": {"lora": []}}}


@pytest.fixture
def database(tmp_path: Path):
    database = Database(tmp_path / "kv.sqlite3")
    yield database
    database.close()


async def test_a_model_file_changed_under_the_same_name_is_another_model(tmp_path: Path, database: Database):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"one" * 1000)
    one = await model_sha256(model, database)
    os.utime(model, ns=(1, 1))
    model.write_bytes(b"two" * 1000)
    assert await model_sha256(model, database) == file_sha256(model) != one


async def test_a_model_file_is_read_once(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"one" * 1000)
    one = await model_sha256(model, database)
    monkeypatch.setattr("oasis.kv.fingerprint.file_sha256", lambda path: pytest.fail("read again"))
    assert await model_sha256(model, database) == one


async def test_a_model_file_that_is_gone_is_a_fault_in_words(tmp_path: Path, database: Database):
    with pytest.raises(KvFault, match="No such file"):
        await model_sha256(tmp_path / "none.gguf", database)


@pytest.mark.parametrize(
    "change",
    [
        {"chat_template": "{{ y }}"},
        {"default_generation_settings": {"n_ctx": 8192, "params": {"lora": []}}},
        {"default_generation_settings": {"n_ctx": 4096, "params": {"lora": [{"id": 0, "scale": 1.0}]}}},
        {"cache_type_k": "q8_0"},
        {"swa_full": True},
    ],
    ids=str,
)
def test_whatever_changes_what_is_computed_changes_the_fingerprint(change: dict[str, object]):
    assert fingerprint_of(PROPS | change, "m").digest != fingerprint_of(PROPS, "m").digest


def test_the_engines_build_is_shown_and_not_compared():
    other = fingerprint_of(PROPS | {"build_info": "b7000"}, "m")
    assert (other.parts["build"], other.digest) == ("b7000", fingerprint_of(PROPS, "m").digest)
    assert isinstance(other, Fingerprint)
