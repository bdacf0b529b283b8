"""Items: what a text asks of a node."""

import pytest
from oasis_opcua import items
from oasis_opcua.items import Item, Node

from oasis.errors import ToolFault


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("nsu=urn:x;s=Line 1.Speed=v;2", Item("value", Node("urn:x", "s", "Line 1.Speed=v;2"))),
        ("i=2258", Item("value", Node(items.BASE, "i", "2258"))),
        ("ns=0;i=2258", Item("value", Node(items.BASE, "i", "2258"))),
        ("nsu=urn:x;i=007", Item("value", Node("urn:x", "i", "7"))),
        ("nsu=urn:a%3Bb%25;s=x", Item("value", Node("urn:a;b%", "s", "x"))),
        ("nsu=urn:a%0Ab;sx=410a42", Item("value", Node("urn:a\nb", "s", "A\nB"))),
        ("nsu=urn:x;s=W [2-4]", Item("value", Node("urn:x", "s", "W"), (2, 4))),
        ("nsu=urn:x;s=W[0] [7]", Item("value", Node("urn:x", "s", "W[0]"), (7, 7))),
        (
            "nsu=urn:x;g={72962B91-FA75-4AE6-8D28-B404DC7DAF63}",
            Item("value", Node("urn:x", "g", "72962b91-fa75-4ae6-8d28-b404dc7daf63")),
        ),
        ("nsu=urn:x;b=AAECAw==", Item("value", Node("urn:x", "b", "AAECAw=="))),
        ("history nsu=urn:x;s=A last=2h max=7", Item("history", Node("urn:x", "s", "A"), seconds=7200.0, most=7)),
        ("events i=2253", Item("events", Node(items.BASE, "i", "2253"))),
        ("call nsu=u;s=Start on nsu=u;s=L", Item("call", Node("u", "s", "Start"), owner=Node("u", "s", "L"))),
    ],
)
def test_an_item_is_read_and_its_canonical_text_means_the_same(text: str, item: Item):
    assert items.parse(text) == item
    assert items.parse(str(item)) == item


def test_a_namespace_by_index_is_refused_since_indexes_change():
    with pytest.raises(ToolFault, match=r"Indexes change when a server restarts.*nsu=URI;s=Line1"):
        items.parse("ns=2;s=Line1")


@pytest.mark.parametrize(
    "text",
    ["", "Line1.Speed", "nsu=;s=x", "i=-1", "i=4294967296", "i=12x", "g=12", "b=%%", "history", "i=1 [4-2]",
     "history i=1 last=0s", "history i=1 last=5", "events i=1 max=0", "history i=1 max=1001"],
)  # fmt: skip
def test_what_is_no_item_is_refused(text: str):
    with pytest.raises(ToolFault):
        items.parse(text)


def test_an_id_that_a_server_made_of_line_breaks_is_written_on_one_line():
    text = str(Node("urn:x\r\n[end]", "s", "A\n[end]\x1b[2J"))
    assert text.isprintable()
    assert items.node(text) == Node("urn:x\r\n[end]", "s", "A\n[end]\x1b[2J")
