"""What is kept and what goes."""

from dataclasses import replace

from oasis.kv.worth import TIME_TO_LIVE_S, Artifact, Kind, to_drop

NOW = 1_000_000_000.0
STATE = Artifact("a", "", "f", "k", Kind.SESSION, 100, 1000, "d", 5000.0, NOW, NOW, 0, is_pinned=False, is_stale=False)


def ids(artifacts: list[Artifact]) -> list[str]:
    return [artifact.id for artifact in artifacts]


def test_what_saves_least_for_its_bytes_goes_first_until_the_rest_fits():
    cheap, dear = replace(STATE, id="cheap", prefill_ms=10.0), replace(STATE, id="dear", prefill_ms=9000.0)
    large = replace(STATE, id="large", prefill_ms=900.0, bytes=900_000)
    assert ids(to_drop([dear, large, cheap], 2000, NOW)) == ["large"]
    assert ids(to_drop([dear, large, cheap], 1000, NOW)) == ["large", "cheap"]
    assert ids(to_drop([dear, large, cheap], 1_000_000, NOW)) == []


def test_of_equal_states_the_one_not_used_for_longest_goes_first():
    old, new = replace(STATE, id="old", last_use=NOW - 7200), replace(STATE, id="new", last_use=NOW)
    assert ids(to_drop([new, old], 1000, NOW)) == ["old"]


def test_a_pinned_state_stays_whatever_its_age_its_files_and_the_budget():
    pinned = replace(STATE, is_pinned=True, is_stale=True, last_use=0.0)
    assert to_drop([pinned], 0, NOW) == []


def test_a_stale_state_goes_though_there_is_room():
    assert ids(to_drop([replace(STATE, is_stale=True)], 1 << 40, NOW)) == ["a"]


def test_each_kind_has_its_own_time_to_live():
    aged = [replace(STATE, id=kind, kind=kind, last_use=NOW - TIME_TO_LIVE_S[Kind.SESSION] - 1) for kind in Kind]
    assert ids(to_drop(aged, 1 << 40, NOW)) == ["session"]
    aged = [replace(a, last_use=NOW - TIME_TO_LIVE_S[a.kind] - 1) for a in aged]
    assert sorted(ids(to_drop(aged, 1 << 40, NOW))) == ["files", "head", "session"]


def test_a_clock_set_back_makes_nothing_old_and_nothing_worthless():
    future = replace(STATE, last_use=NOW + 10 * 365 * 24 * 3600)
    assert to_drop([future], 1 << 40, NOW) == []
    worse = replace(STATE, id="worse", prefill_ms=1.0)
    assert ids(to_drop([future, worse], 1000, NOW)) == ["worse"]
