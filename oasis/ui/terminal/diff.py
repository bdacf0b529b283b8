"""A unified diff in colours, which says the same without them."""

from rich.text import Text

from oasis.ui.terminal.paint import words

MAX_LINES = 60
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def coloured(diff: str, max_lines: int = MAX_LINES) -> Text:
    """The diff line by line: added green, removed red. The names at its head are left out."""
    rows = [row for row in diff.rstrip("\n").split("\n") if not row.startswith(("--- ", "+++ "))]
    text = Text()
    for row in rows[:max_lines]:
        text.append_text(words("  " + row, _STYLES.get(row[:1], "dim")))
        text.append("\n")
    if len(rows) > max_lines:
        text.append(f"  [{len(rows) - max_lines:,} more lines]\n", style="dim")
    text.rstrip()
    return text
