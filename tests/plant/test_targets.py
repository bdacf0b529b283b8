"""Which points are meant by what a person or a model names."""

from pathlib import Path

import pytest

from oasis.errors import ToolFault
from oasis.plant.connections import Connections
from oasis.plant.site import Tag
from oasis.plant.targets import grouped, is_url
from oasis.plant.values import Point
from tests.plant.device import Memory, pack

WATER = Tag("water", "mem://boiler", Point("cell 1", name="water"))


def named(*texts: str, url: str = "") -> dict[str, list[str]]:
    connections = Connections([pack(Memory(), Path("none"))])
    groups = grouped(connections.open, {"water": WATER}, texts, lambda text: f"no tag {text}", url)
    return {where: [str(point) for point in points] for where, points in groups.items()}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("opc.tcp://h:4840/x", True),
        (" MODBUS+RTU:///dev/ttyS0", True),
        ("nsu=http://opcfoundation.org/UA/;i=2258", False),
        ("holding 0", False),
        ("://", False),
    ],
)
def test_an_item_that_holds_an_address_is_no_address(text: str, is_one: bool):
    assert is_url(text) == is_one


def test_items_belong_to_the_url_before_them():
    assert named("mem://a", "cell x", "mem://b/", "cell http://y", "mem://a", "cell z") == {
        "mem://a": ["cell x", "cell z"],
        "mem://b": ["cell http://y"],
    }


def test_a_tag_stands_for_its_endpoint_wherever_it_is_named():
    meant = {"mem://a": ["cell x"], "mem://boiler": ["water (cell 1)"]}
    assert named("mem://a", "cell x", "water") == meant
    assert named("cell x", "water", url="mem://a") == meant


def test_what_is_no_tag_and_has_no_url_is_told_in_the_asker_s_words():
    with pytest.raises(ToolFault, match=r"^no tag watr$"):
        named("watr")
