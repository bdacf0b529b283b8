"""Text from a model, a file or a device, made safe to print on a terminal."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """The text without control characters; line feeds and tabs stay. A terminal obeys none of it."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))
