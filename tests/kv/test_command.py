"""`oasis kv`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.engine.tiny import tiny
from oasis.errors import KvFault
from oasis.kv.chain import Segment, Source
from oasis.kv.store import Store
from oasis.kv.worth import Kind
from tests.kv.slot_work import prompt
from tests.kv.states import write


def oasis(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["kv", *arguments], catch_exceptions=True)
    if isinstance(done.exception, KvFault):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.fixture
def store():
    store = Store()
    yield store
    store.close()


def test_ls_lists_what_is_saved(store: Store):
    artifact = write(store, prompt(20), Kind.HEAD, prefill_ms=1500.0)
    code, out = oasis("ls")
    assert code == 0
    assert f"{artifact.id[:8]}  head         20 tokens" in out
    (row,) = json.loads(oasis("ls", "--json")[1])
    shown: dict[str, Any] = {key: row[key] for key in ("id", "kind", "tokens", "prefill_ms", "pinned", "stale")}
    assert shown == {
        "id": artifact.id,
        "kind": "head",
        "tokens": 20,
        "prefill_ms": 1500.0,
        "pinned": False,
        "stale": False,
    }


def test_show_names_the_engine_and_the_files(store: Store):
    artifact = write(store, prompt(20), segments=[Segment(20, Source("/plc/main.st", "ab"))])
    shown = json.loads(oasis("show", artifact.id[:8], "--json")[1])
    assert shown["sources"] == [{"path": "/plc/main.st", "sha256": "ab", "end": 20}]
    assert shown["engine"]["model"] == "model"
    assert "main.st" in oasis("show", artifact.id)[1]


def test_rm_removes_what_is_named_and_all_but_what_is_pinned(store: Store):
    one, two, three = (write(store, prompt(20, n)) for n in range(3))
    oasis("pin", two.id)
    oasis("rm", one.id[:10])
    assert {a.id for a in store.all()} == {two.id, three.id}
    oasis("rm", "--all")
    assert [a.id for a in store.all()] == [two.id]
    assert not store.path(three).exists()
    oasis("pin", "--off", two.id)
    assert not store.all()[0].is_pinned


@pytest.mark.parametrize("arguments", [["rm"], ["rm", "--all", "ab"]])
def test_rm_wants_ids_or_all(arguments: list[str]):
    assert oasis(*arguments)[0] == 2


def test_an_id_that_is_none_is_said_in_words(store: Store):
    with pytest.raises(KvFault, match="oasis kv ls"):
        oasis("show", "nothing")


def test_stats_counts(store: Store):
    write(store, prompt(20), size=4096)
    store.count("restores", 3)
    figures = json.loads(oasis("stats", "--json")[1])
    assert (figures["states"], figures["bytes"], figures["restores"], figures["misses"]) == (1, 4096, 3, 0)
    assert "restores" in oasis("stats")[1]


@pytest.mark.engine
def test_warm_saves_head_and_files_and_verify_finds_them_the_same(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, store: Store
):
    monkeypatch.setenv("OASIS_THREADS", "1")
    engine = ["--model", str(tiny("tiny-dense", tmp_path_factory.getbasetemp().parent / "tiny-models"))]
    engine += ["--context", "8192"]
    (tmp_path / "main.st").write_text("VAR x : INT; END_VAR\n" * 30)
    code, out = oasis("warm", "main.st", *engine, "--project", str(tmp_path), "--json")
    warmed = json.loads(out)
    assert code == 0
    assert 0 < warmed["head_tokens"] < warmed["tokens"] == warmed["computed_tokens"]
    assert sorted((a.kind, a.tokens) for a in store.all()) == [
        ("files", warmed["tokens"]),
        ("head", warmed["head_tokens"]),
    ]
    code, out = oasis("verify", *engine, "--json")
    verdicts = json.loads(out)
    assert (code, [v["is_same"] for v in verdicts]) == (0, [True, True])
    (tmp_path / "main.st").write_text("VAR y : INT; END_VAR\n")
    again = json.loads(oasis("warm", "main.st", *engine, "--project", str(tmp_path), "--json")[1])
    assert again["computed_tokens"] == again["tokens"] - again["head_tokens"]
    assert sorted(a.kind for a in store.all()) == ["files", "head"]
