"""The lab's sample site file: its endpoints and tags, with limits for what may be written."""

from collections.abc import Sequence
from pathlib import Path

from oasis.errors import ConfigError
from oasis.lab.lab import Device

_HEAD = """\
# The simulated plant of `oasis lab`. A site file says what a plant's tags are and what may be written.
# With it: oasis plant read water --site FILE, oasis plant write set_point 75 --site FILE, oasis run --site FILE ...
# `oasis plant site check FILE` explains what is wrong with one.

[site]
name = "lab"
"""


def sample(devices: Sequence[Device]) -> str:
    """The site file's text."""
    return "\n".join([_HEAD, *(device.station.site.rstrip() + "\n" for device in devices if device.station.site)])


def check_new(path: Path) -> None:
    """Raise ConfigError when there is a file that no lab wrote, before anything is started."""
    if path.exists() and not _reads(path, _HEAD):
        raise _exists(path)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, or says the same. Raises ConfigError; another file is left as it is."""
    if _reads(path, text, whole=True):
        return
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as fault:
        raise _exists(path) from fault
    except OSError as fault:
        raise ConfigError(f"{path} cannot be written: {fault.strerror or fault}. Name another file.") from fault


def _exists(path: Path) -> ConfigError:
    return ConfigError(f"{path} exists and is left as it is. Name another file, or remove it.")


def _reads(path: Path, text: str, whole: bool = False) -> bool:
    """Whether the file begins with the text, or is it."""
    try:
        there = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return there == text if whole else there.startswith(text)
