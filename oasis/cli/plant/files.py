"""Files that a command makes: new ones only, since what was saved once is evidence."""

from pathlib import Path

from oasis.errors import ConfigError


def check_new(path: Path) -> None:
    """Raise ConfigError where there is something already, before anything is asked of a plant."""
    if path.exists() or path.is_symlink():
        raise _there(path)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet. Raises ConfigError."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise _there(path) from None
    except OSError as fault:
        raise ConfigError(f"{path} cannot be written: {fault.strerror or fault}. Name another file.") from fault


def _there(path: Path) -> ConfigError:
    return ConfigError(f"{path} exists and is left as it is. Name another file, or remove it.")
