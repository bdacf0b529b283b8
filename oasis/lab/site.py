"""The lab's sample site file: its endpoints and tags, with limits for what may be written."""

from collections.abc import Sequence
from pathlib import Path

from oasis.errors import ConfigError
from oasis.lab.lab import Device

_HEAD = """\
# The simulated plant of `oasis lab`. A site file says what a plant's tags are and what may be written.
# With it: oasis plant read water --site FILE, oasis plant write set_point 75 --site FILE, oasis run --site FILE ...
# `oasis plant site check FILE` explains what is wrong with one.
# The next `oasis lab --site` with this file writes it anew: keep changes of your own under another name.

[site]
name = "lab"
"""


def sample(devices: Sequence[Device]) -> str:
    """The site file's text."""
    return "\n".join([_HEAD, *(device.station.site.rstrip() + "\n" for device in devices if device.station.site)])


def check_new(path: Path) -> None:
    """Raise ConfigError when there is a file that no lab wrote, before anything is started."""
    if (path.exists() or path.is_symlink()) and not _is_a_lab_s(path):
        raise _exists(path)


def write_new(path: Path, text: str) -> None:
    """Write the file; one that a lab wrote is written anew. Raises ConfigError; any other is left as it is."""
    check_new(path)
    try:
        with path.open("w" if path.exists() else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as fault:
        raise _exists(path) from fault
    except OSError as fault:
        raise ConfigError(f"{path} cannot be written: {fault.strerror or fault}. Name another file.") from fault


def _exists(path: Path) -> ConfigError:
    return ConfigError(f"{path} exists, no lab wrote it, and it is left as it is. Name another file, or remove it.")


def _is_a_lab_s(path: Path) -> bool:
    """Whether the file begins as the lab's own."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(len(_HEAD)) == _HEAD
    except (OSError, ValueError):
        return False
