"""Texts for a spreadsheet: shown there, never run, whatever device or person they come from."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|")
"""What spreadsheets take for the beginning of a formula, or of a command."""


def harmless(cell: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take for a formula; a number stays one."""
    if not cell.lstrip(" ").startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
