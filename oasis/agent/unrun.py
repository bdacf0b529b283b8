"""A final message that is a command in a code block: written, and run by nobody."""

import re

_BLOCK = re.compile(
    r"(?P<before>[^\n]*)\s*```(?:bash|sh|shell|zsh|console|shell-session|powershell|pwsh|cmd|bat)\s*\n.+?\n\s*```",
    re.DOTALL | re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"(?:(?:now|next|first|then|ok(?:ay)?)[ ,]+)*(?:let me|let's|i(?:'ll| will| am going to| now| run)\b).*:",
    re.IGNORECASE,
)


def is_command(text: str) -> bool:
    """Is the text one shell block and nothing else, or a line that says what the writer does now, and the block?

    A block that is part of an answer, as for the reader to run, is none.
    """
    found = _BLOCK.fullmatch(text.strip())
    if not found or found[0].count("```") != 2:
        return False
    before = found["before"].strip()
    return not before or bool(_ANNOUNCED.fullmatch(before))
