"""Changes as a unified diff."""

from oasis.tools.diff import unified


def test_a_new_file_has_no_lines_before_and_its_own_lines_after():
    assert unified("a.st", "", "A := 1;\nB := 2;\n").split("\n")[2:] == ["@@ -0,0 +1,2 @@", "+A := 1;", "+B := 2;"]


def test_a_file_that_becomes_empty_has_no_lines_after():
    assert unified("a.st", "A := 1;\n", "").split("\n")[2:] == ["@@ -1 +0,0 @@", "-A := 1;"]
