"""What is typed: history, pasted blocks, completion."""

import os
import stat
from pathlib import Path

import pytest
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent, Completion, DummyCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.output import DummyOutput

from oasis.ui.terminal.actions import Actions
from oasis.ui.terminal.clipboard import copying
from oasis.ui.terminal.complete import Files, InputCompleter, fuzzy
from oasis.ui.terminal.editor import Editor
from oasis.ui.terminal.equipment import Start
from oasis.ui.terminal.history import MAX_ENTRIES, InputHistory
from oasis.ui.terminal.notify import notification
from oasis.ui.terminal.paste import Pasted
from oasis.ui.terminal.workplace import Workplace


def test_history_is_kept_across_sessions_newest_first_for_its_owner_only(tmp_path: Path):
    file = tmp_path / "state" / "history.jsonl"
    first = InputHistory(lambda: file)
    first.store_string("one\nof two lines")
    first.store_string("two")
    assert list(InputHistory(lambda: file).load_history_strings()) == ["two", "one\nof two lines"]
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_history_is_cut_to_its_newest_entries(tmp_path: Path):
    file = tmp_path / "history.jsonl"
    file.write_text("".join(f'"{n}"\n' for n in range(2 * MAX_ENTRIES + 1)))
    newest = next(iter(InputHistory(lambda: file).load_history_strings()))
    assert newest == str(2 * MAX_ENTRIES)
    assert len(file.read_text().splitlines()) == MAX_ENTRIES


def test_a_damaged_history_is_read_as_far_as_it_goes(tmp_path: Path):
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'"one"\n{"no": 1}\n"two\n\xff\n"three"\n')
    assert list(InputHistory(lambda: file).load_history_strings()) == ["three", "one"]


def test_a_history_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path):
    (tmp_path / "file").write_text("")
    history = InputHistory(lambda: tmp_path / "file" / "history.jsonl")
    history.store_string("one")
    assert list(history.load_history_strings()) == []


def test_a_long_paste_is_folded_and_whole_when_it_is_sent():
    pasted = Pasted()
    block = "\r\n".join(f"line {n}" for n in range(42))
    shown = pasted.take(block)
    assert shown == "[pasted 42 lines #1]"
    assert pasted.expanded(f"see {shown} and [pasted 9 lines #7]") == (
        "see " + block.replace("\r\n", "\n") + " and [pasted 9 lines #7]"
    )


def test_a_short_paste_is_the_text_itself_without_control_characters():
    assert Pasted().take("A\x1b[31m := 1;\rB") == "A[31m := 1;\nB"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("main", ["src/main.st", "docs/domain.md"]),
        ("srcst", ["src/main.st", "src/deep/other.st"]),
        ("MAIN.S", ["src/main.st"]),
        ("zz", []),
    ],
)
def test_paths_are_found_by_their_letters_nearest_first(word: str, found: list[str]):
    names = ["docs/domain.md", "src/deep/other.st", "src/main.st", "README.md"]
    assert fuzzy(word, names) == found


@pytest.fixture
def completer(tmp_path: Path) -> InputCompleter:
    (tmp_path / ".gitignore").write_text("build/\n")
    for name in ("src/main.st", "build/main.o", "with blank.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    commands = {"model": "the model", "mcp": "servers"}
    return InputCompleter(lambda: commands, lambda name: ["qwen", "smol"] if name == "model" else [], Files(tmp_path))


def completed(completer: InputCompleter, text: str) -> list[tuple[str, int]]:
    found = completer.get_completions(Document(text), CompleteEvent())
    return [(completion.text, completion.start_position) for completion in found]


def test_arguments_are_offered_in_their_order_until_a_letter_is_typed(tmp_path: Path):
    sessions = ["last", "20260302", "20260301"]
    completer = InputCompleter(lambda: {"resume": ""}, lambda name: sessions, Files(tmp_path))
    assert [text for text, _ in completed(completer, "/resume ")] == sessions
    assert [text for text, _ in completed(completer, "/resume 01")] == ["20260301"]


def test_a_path_is_completed_without_what_git_ignores(completer: InputCompleter):
    assert completed(completer, "look at @main") == [("@src/main.st", -5)]
    assert completed(completer, "@blank") == [('@"with blank.md"', -6)]
    assert completed(completer, "mail a@b") == []


def test_commands_and_their_arguments_are_completed(completer: InputCompleter):
    assert completed(completer, "/m") == [("/mcp", -2), ("/model", -2)]
    assert completed(completer, "/model sm") == [("smol", -2)]
    assert completed(completer, "/mcp x") == []
    assert completed(completer, "not /m") == []


@pytest.mark.parametrize(
    ("environment", "sequence"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;Oasis: turn 1\x07"),
        ({"WT_SESSION": "x"}, "\x1b]9;Oasis: turn 1\x07"),
        ({"TERM": "foot"}, "\x1b]777;notify;Oasis;turn 1\x07"),
        ({"TERM": "xterm-kitty", "TMUX": "x"}, "\x1bPtmux;\x1b\x1b]9;Oasis: turn 1\x07\x1b\\"),
        ({"TERM": "xterm-256color"}, "\x07"),
    ],
)
def test_a_notification_is_what_the_terminal_understands(environment: dict[str, str], sequence: str):
    assert notification("Oasis", "turn\x1b 1;", environment) == sequence


def test_a_completion_that_is_the_only_one_leaves_no_menu(tmp_path: Path):
    editor = Editor(lambda: tmp_path / "history.jsonl", DummyCompleter())
    editor.buffer.document = Document("see @con")
    state = CompletionState(editor.buffer.document, [Completion("@conveyor.st", start_position=-4)])
    editor.buffer.complete_state = state
    editor.take_only_completion()
    assert editor.text == "see @conveyor.st"
    assert editor.buffer.complete_state is None
    editor.buffer.complete_state = CompletionState(editor.buffer.document, [Completion("a"), Completion("b")])
    assert editor.only_completion is None


def test_tmux_is_given_what_is_copied_to_pass_on_too():
    assert copying("half", {}) == "\x1b]52;c;aGFsZg==\x07"
    assert copying("half", {"TMUX": "1"}) == ("\x1b]52;c;aGFsZg==\x07\x1bPtmux;\x1b\x1b]52;c;aGFsZg==\x07\x1b\\")
    with pytest.raises(ValueError, match="more than the"):
        copying("x" * 80_000, {})


def test_a_mode_asked_for_before_the_settings_are_read_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    place = Workplace(Start(tmp_path), DummyOutput())
    Actions(place, Editor(lambda: tmp_path / "history.jsonl", DummyCompleter())).next_mode()
    assert "The settings are still being read." in capsys.readouterr().out
