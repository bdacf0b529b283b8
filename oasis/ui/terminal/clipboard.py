"""Text into the clipboard of the terminal in front of the person, over SSH too, by OSC 52."""

import base64
import os
from collections.abc import Mapping

MAX_BYTES = 74_994
"""Terminals take sequences up to 100,000 bytes; this many are so long as base64."""


def copying(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """The sequence that copies `text`; tmux passes on what is wrapped for it where it is allowed to.

    https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h3-Operating-System-Commands. Raises ValueError for a
    text that is too long for it.
    """
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise ValueError(f"{len(data):,} bytes are more than the {MAX_BYTES:,} that a terminal takes")
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if environment.get("TMUX"):
        return sequence + "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence
