"""Where Oasis keeps what belongs to a user on this machine."""

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
