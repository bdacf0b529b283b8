"""A segment in one line."""

from oasis_ethercat.segment import described
from oasis_ethercat.sii import Identity


def test_slaves_whose_sii_is_held_are_counted_and_what_frees_it_is_said():
    whole = described([("OX-C", Identity(1, 2, 3, 0)), ("OX-D", Identity(1, 4, 1, 0))])
    partly = described([("OX-C", Identity(1, 2, 3, 0)), ("", None)])
    assert whole.endswith(": OX-C, OX-D")
    assert partly.endswith(": OX-C, ?; 1 did not give their SII: switch them off and on")
    assert whole.partition(":")[0] != partly.partition(":")[0]
