"""Questions to the person and what their answers come to."""

import asyncio

import pytest

from oasis.core.rule import Allow, Ask, Deny
from oasis.core.tool import Preview
from oasis.ui.terminal import permission
from oasis.ui.terminal.permission import BY, Desk

EDIT = Preview("Edit a.st", "a.st", "a diff")
WRITE = Preview("write level: 1 → 2", "level", "wire 01 02", token="kestrel")


@pytest.fixture(autouse=True)
def questions_open_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission, "OPENS_S", 0.0)
    monkeypatch.setattr(permission, "DANGER_OPENS_S", 0.0)


class Office:
    def __init__(self) -> None:
        self.announced, self.allowed = [], []
        self.desk = Desk(
            lambda preview, call_id: self.announced.append((preview.body, call_id)),
            lambda: None,
            lambda preview: ("edit", "c1"),
            lambda tool, preview: (f"{tool}:{preview.subject}",),
            self.allowed.append,
        )

    async def asked(self, preview: Preview) -> asyncio.Task:
        task = asyncio.ensure_future(self.desk.ask(Ask(preview)))
        await self.opened()
        return task

    async def opened(self) -> None:
        while self.desk.question is None or not self.desk.question.is_open:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("key", "answer", "allowed"),
    [
        ("y", Allow("", BY), []),
        ("", Allow("", BY), []),
        ("a", Allow("", BY), [("edit:a.st",)]),
    ],
)
async def test_a_call_is_allowed_once_or_for_the_session(key: str, answer: Allow, allowed: list):
    office = Office()
    task = await office.asked(EDIT)
    assert office.announced == [("a diff", "c1")]
    office.desk.choose(key)
    assert await task == answer
    assert office.allowed == allowed
    assert office.desk.question is None


async def test_a_denial_carries_the_persons_words():
    office = Office()
    task = await office.asked(EDIT)
    office.desk.choose("w")
    assert "Why not?" in office.desk.question.lines(80)[0][1]
    assert office.desk.escape()
    office.desk.choose("w")
    office.desk.explain("  use the other file ")
    assert await task == Deny("The engineer denied this and says: use the other file")


async def test_a_plain_denial_says_what_to_do_instead():
    office = Office()
    task = await office.asked(EDIT)
    office.desk.choose("n")
    answer = await task
    assert isinstance(answer, Deny)
    assert "ask what they want instead" in answer.reason


async def test_a_device_write_is_proposed_as_no_and_never_allowed_for_the_session():
    office = Office()
    task = await office.asked(WRITE)
    question = office.desk.question
    assert [choice.key for choice in question.choices] == ["y", "n", "w"]
    assert question.choices[question.selected].key == "n"
    assert question.lines(80)[0] == ("class:danger", "WRITE TO A DEVICE: write level: 1 → 2?")
    office.desk.choose("y")
    assert await task == Allow("kestrel", BY)
    assert office.allowed == []


async def test_a_key_that_is_held_answers_no_question_after_the_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(permission, "DANGER_OPENS_S", 60.0)
    office = Office()
    first = await office.asked(EDIT)
    second = asyncio.ensure_future(office.desk.ask(Ask(WRITE)))
    office.desk.choose("y")
    await first
    while office.desk.question is None:
        await asyncio.sleep(0)
    assert "·  yes, this once" in office.desk.question.lines(80)[1][1]
    for _ in range(3):
        office.desk.choose("y")
        await asyncio.sleep(0)
    assert not second.done()
    office.desk._open(office.desk.question)
    office.desk.choose("n")
    assert isinstance(await second, Deny)


async def test_the_gates_question_is_not_left_with_escape_and_goes_away_when_the_turn_is_cancelled():
    office = Office()
    task = await office.asked(EDIT)
    assert not office.desk.escape()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert office.desk.question is None


async def test_questions_wait_for_each_other():
    office = Office()
    first, second = await office.asked(EDIT), asyncio.ensure_future(office.desk.ask(Ask(WRITE)))
    await asyncio.sleep(0)
    assert office.desk.question.title == "Edit a.st?"
    office.desk.choose("y")
    await first
    await office.opened()
    office.desk.choose("n")
    assert isinstance(await second, Deny)


async def test_one_of_several_is_picked_or_none():
    office = Office()
    task = asyncio.ensure_future(office.desk.pick("Which?", ["this", "that"]))
    await asyncio.sleep(0)
    assert office.desk.has_key("2")
    assert not office.desk.has_key("3")
    office.desk.move(1)
    office.desk.choose()
    assert await task == 1
    task = asyncio.ensure_future(office.desk.pick("Which?", ["this", "that"]))
    await asyncio.sleep(0)
    assert office.desk.escape()
    assert await task is None


async def test_a_pattern_that_is_long_is_shown_whole():
    office = Office()
    command = "for unit in 1 2 3 4 5 6; do ./read.sh $unit --quiet; done"
    task = await office.asked(Preview("run it", command))
    lines = [text for _, text in office.desk.question.lines(48)]
    assert " ".join(" ".join(lines[2:5]).split()) == f"a yes, and for this session: edit:{command}"
    assert max(map(len, lines)) <= 48
    office.desk.choose("n")
    await task


async def test_a_title_that_is_long_is_shown_to_its_end():
    desk = Office().desk
    price = "A new epoch begins: about 18,400 tokens are computed anew, about 153 s at the present model's rate."
    task = asyncio.ensure_future(desk.confirm(f"{price} Change the model?"))
    while desk.question is None:
        await asyncio.sleep(0)
    lines = [text for _, text in desk.question.lines(79)]
    assert " ".join(lines[:2]) == f"{price} Change the model?"
    assert lines[2:] == ["> y  yes", "  n  no"]
    desk.choose("n")
    assert not await task
