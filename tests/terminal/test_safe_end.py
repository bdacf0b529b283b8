"""The question how the plant is to be left: asked once a session, and what was answered is kept."""

from dataclasses import dataclass, field
from typing import Any

from oasis.ui.terminal.safe_end import SafeEnd


@dataclass
class Plant:
    """A plant with a safe value, which writes down what it is told."""

    safe_state: str = "pump → false"
    safe_changes: str = "pump → false"
    told: list[str] = field(default_factory=list)

    def approve_safe(self) -> None:
        self.told.append("approved")

    def deny_safe(self) -> None:
        self.told.append("denied")


class Person:
    """Answers each question the same, and keeps what was asked and printed."""

    def __init__(self, answer: bool) -> None:
        self.answer, self.asked, self.printed = answer, list[str](), list[str]()

    async def agree(self, title: str) -> bool:
        self.asked.append(title)
        return self.answer


async def decided(plant: Any, answer: bool) -> tuple[SafeEnd, Person]:
    person = Person(answer)
    end = SafeEnd(person.printed.append, person.agree)
    await end.decide(plant, is_said=False)
    return end, person


async def test_what_would_be_written_is_printed_and_stands_in_the_question():
    _, person = await decided(Plant(), True)
    assert person.printed == ["pump → false"]
    assert person.asked == ["at the end pump → false, where this session wrote to it"]


async def test_it_is_asked_once_and_again_for_another_session():
    plant: Any = Plant()
    end, person = await decided(plant, True)
    await end.decide(plant, is_said=True)
    assert len(person.asked) == 1
    end.forget()
    await end.decide(plant, is_said=True)
    assert len(person.asked) == 2


async def test_the_plant_is_held_to_the_answer_and_it_is_not_printed_again():
    for answer, told in ((True, "approved"), (False, "denied")):
        plant: Any = Plant()
        end, person = await decided(plant, answer)
        end.hold(plant)
        end.say(plant, plant.safe_state)
        end.say(plant, "pump was left behind")
        assert plant.told == [told]
        assert person.printed == ["pump → false", "pump was left behind"]


async def test_a_plant_without_safe_values_is_not_asked_about():
    _, person = await decided(Plant(safe_state=""), True)
    assert person.asked == []
