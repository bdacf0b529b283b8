"""A unified diff in colours, which says the same without them."""

from rich.text import Text

from oasis.ui.terminal.paint import words

MAX_LINES = 60
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def coloured(diff: str, max_lines: int = MAX_LINES) -> Text:
    """The diff line by line: added green, removed red. The names at its head are left out."""
    rows = changed_rows(diff)
    text = Text()
    for row in rows[:max_lines]:
        text.append_text(words("  " + row, _STYLES.get(row[:1], "dim")))
        text.append("\n")
    if len(rows) > max_lines:
        text.append(f"  [{len(rows) - max_lines:,} more lines]\n", style="dim")
    text.rstrip()
    return text


def changed_rows(diff: str) -> list[str]:
    """The rows below the two names at the head. Further down `--- x` is a line `-- x` that is removed."""
    rows = diff.rstrip("\n").split("\n")
    return rows[2:] if len(rows) > 1 and rows[0].startswith("--- ") and rows[1].startswith("+++ ") else rows
