"""The first start: at most three questions, none where there is nothing to decide; only what was chosen is written."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from oasis.agent import first_start
from oasis.agent.first_start import Chosen, Findings, Question, carry_out, choose, is_needed, look
from oasis.agent.model_files import ModelFile, model_files, usual_folders
from oasis.config import Settings, load, user_file
from oasis.engine.catalogue import GB, HUB
from oasis.engine.tiny import tiny
from oasis.errors import EngineFault
from oasis.models.discover import Found

LLAMA = Found("http://127.0.0.1:8080", "llama.cpp", ("qwen.gguf",))
OLLAMA = Found("http://127.0.0.1:11434", "ollama", ("a", "b"))
EMPTY = Found("http://127.0.0.1:1234", "lmstudio", (), "It has no model loaded.")
FILE = ModelFile(Path("/data/qwen3.gguf"), 4 * GB)


class Person:
    """Answers questions in order with the choice whose label begins so."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> int | None:
        self.asked.append(question)
        wanted = self.answers.pop(0)
        if wanted is None:
            return None
        return next(n for n, choice in enumerate(question.choices) if choice.label.startswith(wanted))

    @property
    def labels(self) -> list[list[str]]:
        return [[choice.label for choice in question.choices] for question in self.asked]


async def test_a_single_server_is_taken_without_a_question():
    person = Person()
    assert await choose(Findings((LLAMA,), (FILE,), 16 * GB), person) == Chosen({"server": LLAMA.url})
    assert person.asked == []


async def test_of_several_servers_one_is_chosen_and_kept():
    person = Person("ollama", "b", "Yes")
    chosen = await choose(Findings((LLAMA, OLLAMA)), person)
    assert chosen == Chosen({"server": OLLAMA.url, "model": "b"}, is_kept=True)
    assert person.labels[0][:2] == ["llama.cpp at http://127.0.0.1:8080", "ollama at http://127.0.0.1:11434"]
    assert person.asked[0].choices[1].detail == "a, b"


async def test_a_single_server_with_several_models_is_asked_about():
    person = Person("ollama", None)
    assert await choose(Findings((OLLAMA,)), person) is None
    assert person.labels[1] == ["a", "b"]


async def test_a_server_without_a_model_is_not_taken_by_itself():
    person = Person(None)
    assert await choose(Findings((EMPTY,)), person) is None
    assert person.asked[0].choices[0].detail == "It has no model loaded."


async def test_a_model_file_that_was_found_is_chosen_by_its_path():
    person = Person("qwen3.gguf", "No")
    assert await choose(Findings((), (FILE,), 16 * GB), person) == Chosen({"model": str(FILE.path)})


async def test_the_model_that_fits_the_memory_is_proposed():
    person = Person("Fetch gpt-oss-20b", "Yes")
    wanted = next(model for model in HUB if model.name == "gpt-oss-20b")
    chosen = await choose(Findings((), (), 17 * GB), person)
    assert chosen == Chosen({"model": "gpt-oss-20b"}, wanted, is_kept=True)
    assert person.labels[0] == ["Fetch gpt-oss-20b", "Fetch another model"]


async def test_there_are_never_more_than_three_questions():
    person = Person("Fetch another", "Fetch smollm2-135m", "Yes")
    chosen = await choose(Findings((LLAMA, OLLAMA), (FILE,) * 20, 2 * GB), person)
    assert chosen.settings == {"model": "smollm2-135m"}
    assert len(person.asked) == 3
    assert len(person.asked[0].choices) == 2 + 6 + 1


@pytest.mark.parametrize("answers", [(None,), ("Fetch another", None)])
async def test_whoever_wants_none_of_it_is_left_alone(answers: Sequence[str | None]):
    assert await choose(Findings((), (FILE,)), Person(*answers)) is None


@pytest.mark.parametrize(
    ("settings", "needed"), [({}, True), ({"server": "http://a"}, False), ({"model": "m.gguf"}, False)]
)
def test_flags_leave_nothing_to_ask(settings: dict[str, str], needed: bool):
    assert is_needed(Settings(**settings)) is needed


async def test_only_what_was_chosen_is_written(tmp_path: Path):
    file = await carry_out(Chosen({"server": "http://127.0.0.1:8080"}, is_kept=True))
    assert file == user_file() and file.read_text() == 'server = "http://127.0.0.1:8080"\n'
    assert load(tmp_path, {}).server == "http://127.0.0.1:8080"


async def test_nothing_is_written_that_is_not_to_be_kept():
    assert await carry_out(Chosen({"server": "http://127.0.0.1:8080"})) is None
    assert not user_file().exists()


async def test_what_was_not_fetched_is_not_written_either(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("oasis.engine.weights.user_cache_path", lambda _: tmp_path)
    with pytest.raises(EngineFault):
        await carry_out(Chosen({"model": HUB[0].name}, HUB[0], is_kept=True))
    assert not user_file().exists()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder as programs fill it: a model, its vision part, parts of a large one, something else, a link."""
    folder = tmp_path / "models"
    real = tiny("tiny-dense", tmp_path / "tiny").read_bytes()
    for name in ("a/owner/m.gguf", "a/owner/mmproj-m.gguf", "b/m-00001-of-00002.gguf", "b/m-00002-of-00002.gguf"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(real)
    (folder / "page.gguf").write_text("<!DOCTYPE html>" * 100)
    (folder / "notes.txt").write_bytes(real)
    (folder / "again.gguf").symlink_to(folder / "a/owner/m.gguf")
    return folder


def test_model_files_are_found_each_once(store: Path):
    names = {file.path.name for file in model_files([store, store / "a", store / "missing"], min_bytes=0)}
    assert names == {"again.gguf", "m-00001-of-00002.gguf"}


def test_small_files_are_no_models(store: Path):
    assert model_files([store], min_bytes=1 << 30) == []


def test_folders_that_the_environment_names_are_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path / "llama"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    assert {tmp_path / "hf" / "hub", tmp_path / "llama"} <= set(usual_folders())


async def test_looking_gathers_servers_files_and_memory(store: Path, monkeypatch: pytest.MonkeyPatch):
    async def found() -> list[Found]:
        return [LLAMA]

    monkeypatch.setattr(first_start, "discover", found)
    findings = await look([store])
    assert findings.servers == (LLAMA,) and findings.memory_bytes > 0
