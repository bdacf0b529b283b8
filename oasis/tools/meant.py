"""What a model is likely to have meant by the name of a tool or of an argument that there is not.

Models bring the names of the tools they were trained with; the words of such a name say what was wanted.
"""

import difflib
import re
from collections.abc import Sequence

from oasis.core.tool import ToolSpec

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_KIN = {
    "read": "list ls dir view cat open folder directory show",
    "search": "glob find grep rg",
    "write": "create save make",
    "edit": "replace patch modify update str change",
    "bash": "run exec execute shell terminal cmd command sh python",
    "plant": "modbus opc opcua ethercat register registers coil coils tag tags device devices sdo plc",
    "scan": "browse discover identify",
}
_MEANS = {word: name for name, words in _KIN.items() for word in (name, *words.split())}
_ARGUMENTS = {
    "path": "file filename filepath dir directory folder",
    "from": "start start_line line_start first line offset begin",
    "lines": "limit count num_lines max_lines",
    "old": "search find original",
    "new": "replace replacement",
    "content": "text data body",
    "pattern": "query regex search text",
    "glob": "include files",
    "command": "cmd script code",
    "timeout_s": "seconds",
    "items": "item addresses nodes registers",
    "tag": "item address",
    "url": "endpoint host device server",
    "name": "skill",
}
_KIN_OF_ARGUMENTS = {name: frozenset(words.split()) for name, words in _ARGUMENTS.items()}


def tool(name: str, specs: Sequence[ToolSpec]) -> str:
    """What to do in place of calling `name`, as a sentence; empty where nothing is like it."""
    skill = re.compile(rf"^(?:skill )?{re.escape(name.strip())}: ", re.MULTILINE)
    if any(skill.search(spec.description) for spec in specs) and any(spec.name == "skill" for spec in specs):
        return f'It is a skill: call skill with {{"name": "{name.strip()}"}}.'
    words = {_MEANS.get(word, word) for word in _words(name)}
    if "plant" in words:
        specs = [spec for spec in specs if spec.name.startswith("plant_")]
        if not specs:
            return "Devices are reached with a pack, which the engineer chooses when a session starts (--pack)."
        if "write" in words and "plant_write" not in [spec.name for spec in specs]:
            return "Devices are written to with a site file, which the engineer names when a session starts (--site)."
    shared = [(len(words & set(_words(spec.name))), spec.name) for spec in specs]
    most = max((count for count, _ in shared), default=0)
    near = [named for count, named in shared if most and count == most]
    near = near or difflib.get_close_matches(name.casefold(), [spec.name for spec in specs], 1, 0.6)
    return f"Nearest: {near[0]}." if near else ""


def arguments(unknown: Sequence[str], free: Sequence[str], missing: Sequence[str]) -> list[str]:
    """For each unknown argument the one that was meant, empty where none is likely; none is named twice.

    `free` are those that were not given, `missing` those of them that are required.
    """
    left, found = list(free), list[str]()
    for name in unknown:
        meant = _argument(name, left, [one for one in missing if one in left])
        found.append(meant)
        if meant:
            left.remove(meant)
    return found


def _argument(name: str, free: Sequence[str], missing: Sequence[str]) -> str:
    folded, words = name.casefold(), _words(name)
    near = [one for one in free if one in words or folded in _KIN_OF_ARGUMENTS.get(one, ())]
    near = near or [one for one in free if _KIN_OF_ARGUMENTS.get(one, frozenset()) & set(words)]
    near = near or difflib.get_close_matches(folded, free, 1, 0.6)
    if not near and len(missing) == 1:
        near = list(missing)
    return near[0] if near else ""


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]
