"""The file that a model means by a path it wrote."""

import os
import re
from pathlib import Path, PureWindowsPath

from oasis.core.sound import sound
from oasis.tools.clip import one_line

_CONTROLS = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r", "\b": r"\b", "\f": r"\f"})
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_EXPANDED_BY_A_SHELL = re.compile(r"(~|\$\w+|\$\{\w+\}|%\w+%)(?=[\\/]|$)")


class UnusablePath(ValueError):
    """A text that can be no path here; the reason in words for the model."""


def find(root: Path, text: str) -> Path:
    r"""The path in `root` that `text` means; it need not be there. Raises UnusablePath, in words.

    What is there by exactly this name is it. Otherwise white space round each part is passed over, a part may be
    spelled as a listing spells it (`F\udcf6rder.st`), and backslashes, also those that JSON made control characters
    of, separate.
    """
    if "\0" in text:
        raise UnusablePath("The path has a NUL character in it.")
    if not text.strip():
        raise UnusablePath("The path is empty.")
    if os.path.lexists(exact := root / text):
        return exact
    spelled = text.strip().translate(_CONTROLS)
    path = _walked(root, spelled)
    if os.path.lexists(path):
        return path
    if found := _EXPANDED_BY_A_SHELL.match(spelled):
        raise UnusablePath(
            f"{one_line(spelled[:200])}: {found[1]} is not expanded. Use a path relative to the project."
        )
    if os.sep == "/" and "\\" in spelled:
        if _DRIVE.match(spelled):
            raise UnusablePath(
                f"{one_line(spelled[:200])} is a path of another machine or drive, outside the project. "
                f"Use a path relative to the project, such as {one_line(PureWindowsPath(spelled).name)}."
            )
        return _walked(root, spelled.replace("\\", "/"))
    return path


def _walked(root: Path, text: str) -> Path:
    path = root
    for part in Path(text).parts:
        path = path / _name(path, part)
    return path


def _name(folder: Path, part: str) -> str:
    """The name in `folder` that `part` means: exactly it, or without white space round it, or as it is listed."""
    plain = part.strip()
    for name in (part, plain):
        if os.path.lexists(folder / name):
            return name
    if "\\" not in plain and "\ufffd" not in plain:
        return plain
    try:
        with os.scandir(folder) as scan:
            listed = [entry.name for entry in scan if plain in (one_line(entry.name), sound(entry.name))]
    except OSError:
        return plain
    return listed[0] if len(listed) == 1 else plain
