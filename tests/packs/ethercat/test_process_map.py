"""Process data named from SII entries and mapping objects."""

import pytest
from oasis_ethercat.coe_types import BYTES, INT16, INT32, UINT16
from oasis_ethercat.esc import CoeDetail, Mailbox
from oasis_ethercat.process_map import Place, from_sii
from oasis_ethercat.sii import Contents, Entry, Identity, Pdo


def contents(*entries: Entry, sync_manager: int = 3) -> Contents:
    pdo = Pdo(0x1A00, "in", sync_manager, entries)
    return Contents(Identity(0, 0, 0, 0), "", Mailbox(0), (0, 0, 0, 0), CoeDetail(0), (), (pdo,), (), True)


def test_a_type_that_nobody_said_is_a_guess_and_one_that_was_said_is_not():
    entries = (Entry(0x6000, 1, "a", 0, 16), Entry(0x6000, 2, "b", 0x0003, 16), Entry(0x6064, 0, "c", 0, 32))
    found = from_sii(contents(*entries)).inputs
    assert [(place.kind, place.is_guessed) for place in found] == [(UINT16, True), (INT16, False), (INT32, False)]


def test_a_type_whose_length_is_another_is_not_believed():
    (place,) = from_sii(contents(Entry(0x6000, 1, "a", 0x0004, 16))).inputs
    assert (place.kind, place.is_guessed) == (UINT16, True)


def test_a_pdo_that_is_not_assigned_is_not_mapped():
    assert from_sii(contents(Entry(0x6000, 1, "a", 0x0003, 16), sync_manager=0xFF)).inputs == ()


def test_padding_moves_what_follows_and_is_no_place():
    found = from_sii(contents(Entry(0, 0, "", 0, 5), Entry(0x6000, 1, "a", 0x0001, 1))).inputs
    assert [(place.index, place.at) for place in found] == [(0x6000, 5)]


@pytest.mark.parametrize(("at", "bits"), [(0, 1), (3, 4), (4, 16), (9, 3), (0, 32)])
def test_a_value_put_is_the_value_taken_and_no_other_bit_changes(at: int, bits: int):
    place = Place(0x7000, 1, "x", BYTES, bits, at, 0x1600)
    size = (bits + 7) // 8
    value = (0x5A5A5A5A & (1 << bits) - 1).to_bytes(size, "little")
    for background in (bytes(6), b"\xff" * 6):
        image = place.put(background, value)
        assert place.take(image) == value
        others = int.from_bytes(image, "little") ^ int.from_bytes(background, "little")
        assert others & ~(((1 << bits) - 1) << at) == 0
