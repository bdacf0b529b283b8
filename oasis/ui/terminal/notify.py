"""A desktop notification when a long turn ends, by the sequence that this terminal understands."""

import os
from collections.abc import Mapping

LONG_S = 20.0
_OSC_777 = ("foot", "rxvt", "ghostty")
_OSC_9 = ("iterm.app", "wezterm", "kitty", "windows terminal", "warpterminal", "ghostty", "konsole")


def notification(title: str, text: str, environment: Mapping[str, str] = os.environ) -> str:
    """The sequence to send; a bell where the terminal is not known to show notifications.

    OSC 9 (iTerm2, WezTerm, kitty, Windows Terminal), OSC 777 (rxvt, foot); tmux passes on what is wrapped for it.
    """
    program = environment.get("TERM_PROGRAM", "").lower()
    term = environment.get("TERM", "").lower()
    if environment.get("WT_SESSION"):
        program = "windows terminal"
    said = f"{_plain(title)}: {_plain(text)}"
    if any(name in term for name in _OSC_777):
        sequence = f"\x1b]777;notify;{_plain(title)};{_plain(text)}\x07"
    elif program in _OSC_9 or "kitty" in term:
        sequence = f"\x1b]9;{said}\x07"
    else:
        return "\x07"
    if environment.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c != ";")[:80]
