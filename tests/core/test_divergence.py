"""Where two prompts part."""

from hypothesis import given
from hypothesis import strategies as st

from oasis.core.divergence import common_prefix, diverge


@given(st.binary(), st.binary(), st.binary())
def test_the_common_prefix_is_the_longest(shared: bytes, a: bytes, b: bytes):
    length = common_prefix(shared + a, shared + b)
    assert length >= len(shared)
    assert (shared + a)[:length] == (shared + b)[:length]
    assert (
        (shared + a)[length : length + 1] != (shared + b)[length : length + 1]
        or not (a and b)
        or length == len(shared + a)
    )


def test_a_divergence_names_its_place():
    found = diverge(b"one\ntwo three", b"one\ntwo Three")
    assert found is not None
    assert (found.offset, found.line, found.column) == (8, 2, 5)
    assert (found.before, found.after) == ("three", "Three")


def test_equal_prompts_do_not_diverge():
    assert diverge(b"same", b"same") is None
