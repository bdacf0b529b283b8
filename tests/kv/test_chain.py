"""Keys of token sequences."""

from hypothesis import given
from hypothesis import strategies as st

from oasis.kv.chain import Grown, ids_of, key_of, keys_at, packed, unpacked
from tests.kv.slot_work import wire

IDS = st.lists(st.integers(0, 2**31 - 1), max_size=60)


@given(IDS, st.lists(st.integers(-3, 80)))
def test_the_key_at_a_boundary_is_that_of_the_ids_before_it_whatever_the_other_boundaries(
    ids: list[int], ends: list[int]
):
    found = keys_at(ids, ends)
    assert found == {end: key_of(ids[:end]) for end in ends if 0 < end <= len(ids)}


@given(IDS, IDS)
def test_two_sequences_have_the_same_key_only_where_they_are_equal(one: list[int], other: list[int]):
    assert (key_of(one) == key_of(other)) == (one == other)


@given(IDS)
def test_ids_come_back_from_their_bytes_and_from_a_prompt(ids: list[int]):
    assert unpacked(packed(ids)) == ids
    assert ids_of(wire(ids)) == ids


@given(st.lists(st.tuples(IDS, st.booleans()), max_size=6))
def test_a_prompt_that_grows_or_begins_anew_is_read_as_it_stands(steps: list[tuple[list[int], bool]]):
    grown, ids = Grown(), []
    for new, is_anew in steps:
        ids = new if is_anew else ids + new
        assert grown.follow(wire(ids)) == ids
        assert unpacked(grown.data) == ids


def test_a_prompt_is_not_taken_to_go_on_in_the_middle_of_a_number():
    grown = Grown()
    grown.follow(b"1,2")
    assert grown.follow(b"1,23") == [1, 23]
