"""`edit`: only the asked bytes change."""

import pytest

from oasis.core.items import Status
from oasis.core.tool import Outcome
from tests.tools.conftest import Project


async def edited(project: Project, before: bytes, old: str, new: str, **more: object) -> tuple[bytes, Outcome]:
    path = project.put("a.st", before)
    outcome = await project.call("edit", path="a.st", old=old, new=new, **more)
    return path.read_bytes(), outcome


async def test_an_edit_keeps_crlf(project: Project):
    after, _ = await edited(project, b"A := 1;\r\nB := 2;\r\n", "A := 1;\nB := 2;", "A := 1;\nC := 3;\nB := 2;")
    assert after == b"A := 1;\r\nC := 3;\r\nB := 2;\r\n"


async def test_an_edit_keeps_the_byte_order_mark(project: Project):
    after, _ = await edited(project, b"\xef\xbb\xbfA := 1;\n", "A := 1;", "A := 2;")
    assert after == b"\xef\xbb\xbfA := 2;\n"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
async def test_utf16_is_written_back_as_utf16(project: Project, codec: str):
    text = "Tag;Wert\r\nFörderband;1\r\n"
    after, _ = await edited(project, text.encode(codec), "band;1", "band;2 °C")
    assert after == text.replace("band;1", "band;2 °C").encode(codec)


async def test_latin1_bytes_of_other_lines_stay_single_bytes(project: Project):
    before = b"(* Temp \xb0C, F\xf6rderband *)\r\nA := 1;\r\n"
    after, _ = await edited(project, before, "A := 1;", "A := 2; (* ü *)")
    assert after == b"(* Temp \xb0C, F\xf6rderband *)\r\nA := 2; (* \xfc *)\r\n"


async def test_a_stray_byte_in_the_edited_line_stays_when_it_is_not_what_changes(project: Project):
    before = "ä ö ü ß é\n".encode() + b"T := 5; (* \xb0C *)\n"
    after, _ = await edited(project, before, "T := 5; (* °C *)", "T := 7; (* °C *)")
    assert after == "ä ö ü ß é\n".encode() + b"T := 7; (* \xb0C *)\n"


async def test_spaces_for_tabs_are_taken_where_unique_and_the_file_s_style_is_kept(project: Project):
    after, outcome = await edited(project, b"\tL\tMW 20\n\tT\tMW 30\n", "    L   MW 20", "    L   MW 22")
    assert after == b"\tL\tMW 22\n\tT\tMW 30\n"
    assert "old differed in white space; the file's own was kept" in outcome.text


async def test_new_lines_are_indented_as_the_file_is(project: Project):
    before = b"IF A THEN\n\tB := 1;\nEND_IF\n"
    new = "IF A THEN\n    B := 1;\n    IF C THEN\n        D := 2;\n    END_IF\nEND_IF"
    after, _ = await edited(project, before, "IF A THEN\n    B := 1;\nEND_IF", new)
    assert after == b"IF A THEN\n\tB := 1;\n\tIF C THEN\n\t\tD := 2;\n\tEND_IF\nEND_IF\n"


async def test_tabs_for_spaces_work_too(project: Project):
    after, _ = await edited(
        project, b"IF A THEN\n  B := 1;\nEND_IF\n", "IF A THEN\n\tB := 1;", "IF A THEN\n\tB := 1;\n\tC;"
    )
    assert after == b"IF A THEN\n  B := 1;\n  C;\nEND_IF\n"


async def test_white_space_inside_a_string_is_the_model_s_own(project: Project):
    after, _ = await edited(project, b"\tL\t20\n", "    L 20", "    L 21\n    S := 'a b    c'; T 5")
    assert after == b"\tL\t21\n\tS\t:=\t'a b    c';\tT\t5\n"


async def test_a_deleted_line_takes_nothing_of_the_next(project: Project):
    after, _ = await edited(project, b"\tA;\n\tB;\n\tC;\n", "    B;\n", "")
    assert after == b"\tA;\n\tC;\n"


async def test_a_line_break_before_is_one_line_break(project: Project):
    after, _ = await edited(project, b"\tA;  \n\tB;\n\tC;\n", "\n    B;", "\n    X;")
    assert after == b"\tA;  \n\tX;\n\tC;\n"


async def test_a_run_of_a_hundred_thousand_spaces_does_not_slow_an_edit_down(project: Project):
    _, outcome = await edited(project, b" " * 100_000 + b"A\n" + b"\t" * 100_000, "  B  C", "x")
    assert outcome.status is Status.ERROR


async def test_trailing_spaces_the_model_left_out_stay(project: Project):
    after, _ = await edited(project, b"A := 1;   \nB := 2;\n", "A := 1;\nB := 2;", "A := 1;\nB := 3;")
    assert after == b"A := 1;   \nB := 3;\n"


async def test_a_match_without_regard_to_white_space_must_be_the_only_one(project: Project):
    before = b"\tL\tMW 20\n\tL  MW 20\n"
    after, outcome = await edited(project, before, "    L MW 20", "x")
    assert after == before
    assert "2 times, at lines 1, 2" in outcome.text


async def test_no_match_shows_the_nearest_text_and_how_it_differs(project: Project):
    before = b"L MW 20\nT MW 30\n"
    after, outcome = await edited(project, before, "T MW 31", "T MW 32")
    assert after == before
    assert outcome == Outcome(
        "Not edited: old is not in a.st. Nearest, from line 2:\nT MW 30\n"
        "[first difference: the file has 'T MW 30' where old has 'T MW 31']",
        Status.ERROR,
    )


async def test_a_first_difference_is_not_one_of_white_space_alone(project: Project):
    _, outcome = await edited(project, b"\tA := 1;\n\tB := 2;\n", "  A := 1;\n  B := 9;", "x")
    assert "the file has '\\tB := 2;' where old has '  B := 9;'" in outcome.text


async def test_nothing_like_it_is_said(project: Project):
    _, outcome = await edited(project, b"A\n", "something else", "x")
    assert "nor anything like it" in outcome.text


async def test_an_ambiguous_old_says_how_often_and_where(project: Project):
    before = b"A\nB\nA\n"
    after, outcome = await edited(project, before, "A", "X")
    assert after == before
    assert outcome.text.startswith("Not edited: old is in a.st 2 times, at lines 1, 3.")


async def test_all_edits_every_place(project: Project):
    after, outcome = await edited(project, b"\xb0 A\r\nB\nA\r\n", "A", "XY", all=True)
    assert after == b"\xb0 XY\r\nB\nXY\r\n"
    assert outcome.text.endswith("[a.st edited in 2 places]")


async def test_mixed_line_ends_stay_where_they_were(project: Project):
    after, _ = await edited(project, b"A\r\nB\nC\r\nD\n", "A\nB\nC", "A\nX\nC")
    assert after == b"A\r\nX\nC\r\nD\n"


async def test_the_file_is_untouched_when_new_cannot_be_encoded(project: Project):
    before = b"F\xf6rder\nA\n"
    after, outcome = await edited(project, before, "A", "→")
    assert (after, outcome.status) == (before, Status.ERROR)


async def test_no_change_is_said(project: Project):
    _, outcome = await edited(project, b"A\n", "A", "A")
    assert outcome == Outcome("a.st is unchanged: new is the same as what stands there.", Status.ERROR)


async def test_an_empty_old_is_refused(project: Project):
    _, outcome = await edited(project, b"A\n", "", "A")
    assert outcome.status is Status.ERROR


async def test_a_missing_file_is_said(project: Project):
    outcome = await project.call("edit", path="none.st", old="A", new="B")
    assert outcome.text.startswith("There is no none.st")


async def test_the_output_shows_what_stands_there_now(project: Project):
    _, outcome = await edited(project, b"A\nB\nC\n", "B", "X")
    assert outcome == Outcome("@@ -1,3 +1,3 @@\n A\n-B\n+X\n C\n[a.st edited in 1 place]")


async def test_a_change_by_someone_else_is_mentioned(project: Project):
    path = project.put("a.st", "A\nB\n")
    await project.call("read", path="a.st")
    path.write_text("A\nC\n")
    assert "changed by someone else" in (await project.call("edit", path="a.st", old="A", new="X")).text
    assert path.read_text() == "X\nC\n"


async def test_an_edit_in_a_line_of_a_megabyte_changes_only_its_bytes(project: Project):
    line = b"<v/>" * 300_000
    before = line + b"<one>1</one>" + line
    after, outcome = await edited(project, before, "<one>1</one>", "<one>2</one>")
    assert after == line + b"<one>2</one>" + line
    assert len(outcome.text) < 3_000


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("[a.st lines 1-2 of 2; UTF-8, LF]\nA := 1;\nB := 2;", "old begins with read's own line [a.st lines 1-2 of 2;"),
        ("A := 1;\nB := 2;\n[end of file]", "old ends with read's own line [end of file]"),
        ("A := 1;\n[more: from=2]", "old ends with read's own line [more: from=2]"),
        ("  1: A := 1;\n  2: B := 2;", "old has search's line numbers before its text"),
    ],
)
async def test_a_tool_s_own_lines_pasted_into_old_are_named(project: Project, old: str, said: str):
    after, outcome = await edited(project, b"A := 1;\nB := 2;\n", old, "x")
    assert outcome.status is Status.ERROR
    assert said in outcome.text
    assert after == b"A := 1;\nB := 2;\n"
