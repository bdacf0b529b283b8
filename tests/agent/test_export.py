"""A session as a document: readable, with its costs, without secrets."""

import json
import os
from pathlib import Path

import pytest

from oasis.agent.export import as_json, as_markdown, save
from oasis.agent.masking import MASK, Masker, known_secrets
from oasis.core.items import Notice, User
from oasis.core.usage import Usage
from oasis.errors import SessionFault
from oasis.models.scripted import ScriptedModel, call, reply
from tests.agent.harness import build


async def a_session(folder: Path, task: str = "Go on.", text: str = "a") -> Path:
    looking = reply("Looking.", call("look", "c1", text=text), reasoning="Think `first`.")
    bench = build(folder, ScriptedModel([looking, reply("It is done."), reply("Bye.")]))
    await bench.agent.turn([Notice("The directory."), User(task)])
    await bench.agent.turn([User("Thanks.")])
    bench.session.close()
    return bench.session.path


async def test_a_document_reads_in_the_order_of_the_session_with_what_each_turn_cost(tmp_path: Path):
    text = as_markdown(await a_session(tmp_path))
    wanted = [
        "# Session ",
        "| Prefill amplification |",
        "The directory.",
        "## You\n\nGo on.",
        "## Model",
        "Think `first`.",
        "Looking.",
        "Calls `look`:",
        "prompt tokens computed in",
        "#### look: ok",
        "look did a",
        "It is done.",
        "**Turn 1 ended (done): 2 steps, ",
        "## You\n\nThanks.",
        "**Turn 2 ended (done): 1 step, ",
    ]
    places = [text.find(part) for part in wanted]
    assert -1 not in places and places == sorted(places)


class Silent(ScriptedModel):
    """A server that does not say what it reused."""

    def _usage(self, request, message):
        return Usage(len(request.wire) // 4, 0, len(message.wire) // 4, is_cache_known=False)


async def test_what_a_server_did_not_say_is_not_told_as_computed(tmp_path: Path):
    bench = build(tmp_path, Silent([reply("Done.")]))
    await bench.agent.turn([User("Go on.")])
    bench.session.close()
    text = as_markdown(bench.session.path)
    assert "how many of them were computed is not known" in text
    assert "computed in" not in text


async def test_the_json_holds_entries_and_costs_and_no_token_ids(tmp_path: Path):
    document = json.loads(as_json(await a_session(tmp_path)))
    kinds = [entry["kind"] for entry in document["entries"]]
    assert kinds[:7] == ["notice", "user", "assistant", "step", "output", "assistant", "step"]
    assert all(not {"wire", "raw", "chain"} & entry.keys() for entry in document["entries"])
    costs = document["costs"]
    assert (costs["turns"], costs["steps"]) == (2, 3)
    assert costs["computed_tokens"] == costs["prompt_tokens"] - costs["cached_tokens"]
    assert document["session"]["lane"] == "tokens"


async def test_a_fence_in_an_output_does_not_end_the_block(tmp_path: Path):
    text = as_markdown(await a_session(tmp_path, text="```\n# not a heading\n```"))
    assert "````\nlook did ```\n# not a heading\n```\n[end]\n````" in text


async def test_a_long_output_keeps_its_head_and_tail(tmp_path: Path):
    long = "A" + "x" * 50_000 + "Z"
    path = await a_session(tmp_path, text=long)
    text = as_markdown(path)
    assert "characters left out of this document" in text
    assert len(text) < 100_000
    assert long in as_json(path)


async def test_a_document_is_still_made_of_a_file_whose_last_line_was_cut(tmp_path: Path):
    path = await a_session(tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert "was cut; everything before it is kept" in as_markdown(path)


async def test_secrets_are_left_out_of_both_forms(tmp_path: Path):
    key = "sk-abcdefghijklmnop1234"
    path = await a_session(tmp_path, task=f"Use {key} and hunter22hunter22.", text=f'{{"password": "{key}"}}')
    for document in (as_markdown(path, ["hunter22hunter22"]), as_json(path, ["hunter22hunter22"])):
        assert key not in document and "hunter22" not in document
        assert MASK in document
    assert json.loads(as_json(path))["secrets_left_out"] > 0
    assert "values that looked like secrets were left out." in as_markdown(path)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ("-----BEGIN PRIVATE KEY-----\nMIIcut", "MIIcut"),
        ("Authorization: Bearer abc.def", "abc.def"),
        ("opc.tcp://user:hunter2@10.0.0.1:4840", "hunter2"),
        ("API_KEY=abcd1234", "abcd1234"),
        ("export DB_PASSWORD=abcd1234", "abcd1234"),
        ("Password := 'abcd1234';", "abcd1234"),
        ('"accessToken": "abcd1234"', "abcd1234"),
        (r"{\"api_key\": \"abcd1234\"}", "abcd1234"),
        ("ghp_abcdefghijklmnopqrst1234", "ghp_abc"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "c2ln"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, secret: str):
    mask = Masker()
    assert secret not in mask(text)
    assert mask.count == 1


@pytest.mark.parametrize(
    "text",
    [
        "token = next_token()",
        "http://127.0.0.1:8080/v1",
        "the password is asked for",
        "max_tokens=4096 token=$TOKEN",
        "A := TokenCount + 1;",
        "10:30@line",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str):
    assert Masker()(text) == text


def test_values_of_the_environment_whose_names_speak_of_secrets_are_known():
    found = known_secrets({"HF_TOKEN": "abcdefgh", "HOME": "/home", "MY_API_KEY": "12345678"}, "mine-mine")
    assert found == ["abcdefgh", "12345678", "mine-mine"]


def test_the_folder_a_shell_is_in_is_no_secret():
    found = known_secrets({"PWD": "/plant/line3", "OLDPWD": "/plant/line2", "DB_PWD": "abcdefgh"})
    assert found == ["abcdefgh"]


def test_a_short_value_is_not_masked_everywhere():
    assert Masker(["1"])("11 01") == "11 01"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_a_document_is_the_owners_alone(tmp_path: Path):
    save(tmp_path / "docs" / "a.md", "text")
    assert (tmp_path / "docs" / "a.md").stat().st_mode & 0o777 == 0o600


def test_a_document_does_not_overwrite_a_file_unless_told_to(tmp_path: Path):
    file = tmp_path / "a.md"
    file.write_text("mine, and longer")
    with pytest.raises(SessionFault, match="is there already"):
        save(file, "text")
    assert file.read_text() == "mine, and longer"
    save(file, "text", overwrite=True)
    assert file.read_text() == "text"
