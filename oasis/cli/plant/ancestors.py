"""Whether this command was started by a session's tool, and so perhaps by a model."""

from pathlib import PurePath

_MODULES = ("oasis", "oasis.cli.main")


def session_above() -> str:
    """The command line of the Oasis session among this process' ancestors; empty where there is none.

    A guard, not a wall: a process can leave its parents. What keeps a model's commands from the plant is that they have
    no network (docs/permissions.md).
    """
    import psutil

    try:
        parents = psutil.Process().parents()
    except psutil.Error:
        return ""
    for parent in parents:
        try:
            command = parent.cmdline()
        except psutil.Error:
            continue
        if is_session(command):
            return " ".join(command)[:80]
    return ""


def is_session(command: list[str]) -> bool:
    """Whether a command line is that of an Oasis that runs a model. `oasis plant` itself may have been wrapped."""
    names = [PurePath(part).stem.lower() for part in command[:2]]
    if names[:1] == ["oasis"]:
        rest = command[1:]
    elif names[1:] == ["oasis"] and names[0].startswith("python"):
        rest = command[2:]
    elif names and names[0].startswith("python") and (at := _module(command)):
        rest = command[at + 1 :]
    else:
        return False
    return rest[:1] not in (["plant"], ["lab"])


def _module(command: list[str]) -> int:
    """Where the words of `python -m MODULE` name Oasis; 0 where they do not."""
    at = command.index("-m") + 1 if "-m" in command else 0
    return at if at and command[at : at + 1] and command[at] in _MODULES else 0
