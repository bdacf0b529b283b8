from oasis.measure.blame import blame, common_ids


def test_prompts_that_only_grow_are_blameless():
    assert blame([b"a", b"ab", b"abc"]) is None


def test_the_first_request_that_rewrites_is_named_with_the_place():
    found = blame([b"line one\nclock 1\nend", b"line one\nclock 1\nend\nmore", b"line one\nclock 2\nend\nmore"])
    assert found is not None
    assert (found.step, found.kept, found.divergence.line, found.divergence.column) == (3, 15, 2, 7)
    assert str(found).startswith(
        "request 3 keeps 15 of 25 (60%) of the prompt before it; they part at line 2, column 7"
    )


def test_a_prompt_cut_short_is_to_blame_too():
    found = blame([b"abc", b"ab"])
    assert found is not None
    assert (found.kept, found.length) == (2, 3)


def test_common_ids_counts_to_the_first_difference():
    assert common_ids([1, 2, 3], [1, 2, 4, 5]) == 2
    assert common_ids([1, 2], [1, 2, 3]) == 2
