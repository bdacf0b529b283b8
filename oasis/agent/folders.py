"""Where Oasis keeps what belongs to a user on this machine."""

import sys
from pathlib import Path

from platformdirs import user_config_path, user_state_path


def sessions_folder() -> Path:
    """Session files, one each."""
    return user_state_path("oasis") / "sessions"


def kv_folder() -> Path:
    """Saved states of the model (oasis.kv.store)."""
    return user_state_path("oasis") / "kv"


def undo_folder() -> Path:
    """What files were before a turn changed them, a folder for each session (oasis.agent.snapshots)."""
    return user_state_path("oasis") / "undo"


def audit_folder() -> Path:
    """What was written to plants, one file for each site file (oasis.plant.audit)."""
    return user_state_path("oasis") / "audit"


def spill_folder() -> Path:
    """Outputs of tools that were too long to send."""
    return user_state_path("oasis") / "outputs"


def protected_folders() -> tuple[Path, ...]:
    """What no tool may write: settings and rules, sessions, audits, snapshots, saved states of the model."""
    return (user_config_path("oasis"), sessions_folder(), audit_folder(), undo_folder(), kv_folder())


def own_code(project: Path) -> tuple[Path, ...]:
    """Where Oasis and its libraries are: some are imported when first used, so what is changed there runs in Oasis.

    Left out is what lies in the project or has it inside: somebody works on Oasis itself.
    """
    root = project.resolve()
    environment = [sys.prefix] if sys.prefix != sys.base_prefix else []
    folders = [Path(place).resolve() for place in (*environment, Path(__file__).parents[1])]
    return tuple(folder for folder in folders if not (folder.is_relative_to(root) or root.is_relative_to(folder)))
