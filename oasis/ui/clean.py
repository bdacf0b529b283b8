"""Text from a model, a file or a device, made safe to print on a terminal."""

import re

from oasis.core.sound import sound

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text without control characters and marks that turn writing round; line feeds and tabs stay."""
    return _CONTROL.sub("", sound(text).replace("\r\n", "\n"))
