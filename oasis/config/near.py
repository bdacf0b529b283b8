"""The name that a misspelt one was meant to be."""

import difflib
from collections.abc import Sequence


def meant(key: str, known: Sequence[str]) -> str:
    """A sentence with the nearest known name, or with all of them."""
    near = difflib.get_close_matches(key.replace("-", "_"), known, n=1)
    return f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(known)}."
