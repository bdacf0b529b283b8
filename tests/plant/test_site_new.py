"""A first site file: made from points, or from what a scan finds; whatever a device says, it is a site file."""

import tomllib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis.errors import ToolFault
from oasis.plant.driver import Budget, Found, Scan
from oasis.plant.site_new import NewTag, skeleton
from oasis.plant.site_scan import explore
from oasis.plant.values import Form, Point
from tests.plant.device import Memory, MemoryDriver

TEXT = st.text(max_size=30)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5), TEXT, TEXT)
def test_no_text_of_a_device_becomes_anything_but_a_name_a_comment_or_a_value(
    found: list[tuple[str, str, str]], url: str, identity: str
):
    tags = [NewTag(Point(address, Form(unit="°C")), name, note) for address, name, note in found]
    read = tomllib.loads(skeleton("x", {url: tags}, {url: identity}))
    assert read["endpoints"] == {"device_1": {"url": url} | ({"identity": identity} if identity else {})}
    made = list(read.get("tags", {}).values())
    once = {address: {"endpoint": "device_1", "address": address, "unit": "°C"} for address, _, _ in found}
    assert made == list(once.values())


def test_tags_of_one_name_are_told_apart():
    points = [NewTag(Point(f"x {n}"), "Speed") for n in range(3)]
    assert list(tomllib.loads(skeleton("x", {"u://h": points}))["tags"]) == ["speed", "speed_2", "speed_3"]


class Tree(MemoryDriver):
    """Objects lead to cells; a gateway to another device, and to itself by another spelling."""

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        if not budget.spend():
            return Scan((), (), budget.stopped)
        below: dict[str, list[Found]] = {
            "": [Found("object", "Line"), Found("unit", "mem://h/2"), Found("endpoint", "mem://H/1?mode=x")],
            "Line": [Found("variable", "cell speed", {"name": "Belt speed"}), Found("object", "Line")],
        }
        if self.url == "mem://h/2":
            return Scan((Found("variable", "cell speed"), Found("variable", "cell gone")))
        if items and items[0] not in below:
            raise ToolFault("nothing below")
        return Scan(tuple(below[items[0] if items else ""]))


async def test_what_reads_is_found_below_objects_and_behind_a_gateway_once():
    memory = Memory({"speed": 12.5}, name="ACME\nPLC")
    found = await explore(lambda url: Tree(memory, url), "mem://h/1", (), Budget())
    shown = {url: [(str(tag.point), tag.name, tag.note) for tag in tags] for url, tags in found.tags.items()}
    assert shown == {
        "mem://h/1": [("cell speed", "Belt speed", "12.5; cell speed")],
        "mem://h/2": [("cell speed", "", "12.5; cell speed")],
    }
    assert found.identities == dict.fromkeys(shown, r"ACME\nPLC")
    assert found.stopped == ""


async def test_a_search_that_its_budget_stopped_says_so():
    memory = Memory({"speed": 12.5})
    found = await explore(lambda url: Tree(memory, url), "mem://h/1", (), Budget(requests=4))
    assert "4 requests" in found.stopped


async def test_an_endpoint_without_anything_that_reads_is_said():
    with pytest.raises(ToolFault, match="Nothing that can be read was found at mem://h/1"):
        await explore(lambda url: Tree(Memory(), url), "mem://h/1", (), Budget())


class Dark(MemoryDriver):
    """Has a cell that a scan finds and that cannot be read."""

    async def scan(self, items: Sequence[str], budget: Budget) -> Scan:
        return Scan((Found("variable", "cell gone"),))


async def test_why_nothing_of_what_was_found_reads_is_said():
    with pytest.raises(ToolFault, match=r"What was found cannot be read now: cell gone: no such cell\."):
        await explore(lambda url: Dark(Memory(), url), "mem://h/1", (), Budget())
