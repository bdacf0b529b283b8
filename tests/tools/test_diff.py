"""Changes as a unified diff."""

from oasis.tools.diff import unified


def test_a_new_file_has_no_lines_before_and_its_own_lines_after():
    assert unified("a.st", "", "A := 1;\nB := 2;\n").split("\n")[2:] == ["@@ -0,0 +1,2 @@", "+A := 1;", "+B := 2;"]


def test_a_file_that_becomes_empty_has_no_lines_after():
    assert unified("a.st", "A := 1;\n", "").split("\n")[2:] == ["@@ -1 +0,0 @@", "-A := 1;"]


def test_a_file_of_a_thousand_lines_is_seen_to_its_end():
    rows = unified("a.st", "", "".join(f"X{n} := {n};\n" for n in range(1_000))).split("\n")
    assert (len(rows), rows[-1]) == (1_003, "+X999 := 999;")


def test_what_is_cut_is_said():
    rows = unified("a.st", "", "".join(f"{n}\n" for n in range(5_000)), line_chars=4).split("\n")
    assert rows[-1] == "… 3003 more lines"
    assert "+100…" in rows
