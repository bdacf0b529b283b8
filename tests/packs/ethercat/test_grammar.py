"""Item texts and the points they mean."""

import pytest
from oasis_ethercat import grammar
from oasis_ethercat.grammar import Kind, Target

from oasis.errors import ToolFault


@pytest.mark.parametrize(
    ("text", "address", "kind"),
    [
        ("2 0x6041:0 uint16", "2 0x6041:0", "uint16"),
        ("slave 2 sdo 6041", "2 0x6041:0", ""),
        ("2 0x1018:0x03 UDINT", "2 0x1018:3", "uint32"),
        ("12 0x60ff:0 DINT", "12 0x60FF:0", "int32"),
        ("3 state", "3 state", "string"),
        ("Bus  State", "bus state", "string"),
        ("bus init", "bus init", "bool"),
        ("3 inputs", "3 in", ""),
        ("in", "in", ""),
        ("3 out 0x7000:1 BOOL", "3 out 0x7000:1", "bool"),
        ("2 0x6402:1 real", "2 0x6402:1", "float32"),
    ],
)
def test_a_text_has_one_canonical_address(text: str, address: str, kind: str):
    point = grammar.point(text)
    assert (point.address, point.form.type) == (address, kind)
    assert grammar.point(address).address == address


def test_a_target_is_what_the_address_says():
    assert grammar.target(grammar.point("3 out 0x7010:17 bool")) == Target(Kind.OUTPUT, 3, 0x7010, 17)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("holding 0", "is no EtherCAT item"),
        ("0 state", "slaves are counted from 1"),
        ("2 0x6041:300", "a subindex is 0 to 255"),
        ("2 in 0x0000:0", "index 0 is padding"),
        ("2 0x6041:0 quaternion", 'There is no type "quaternion"'),
        ("", "is no EtherCAT item"),
    ],
)
def test_what_means_nothing_is_refused_in_words(text: str, said: str):
    with pytest.raises(ToolFault, match=said):
        grammar.point(text)
