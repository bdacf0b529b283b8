"""What runs without being asked about: a mode that can be switched, the user's rules, what a session was allowed.

Nothing of it is in the prefix, so nothing of it moves a byte there. No rule here allows what actuates a device.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

from oasis.agent.gate import allowing, joins_commands, unshaped
from oasis.core.items import Notice, ToolCall
from oasis.core.rule import Allow, Decision, Deny
from oasis.core.tool import Preview, Risk, Tool

_FILE_TOOLS = ("write", "edit")
_PARTS = re.compile(r"\$\(|[;&|<>\n`()]")
_ASSIGNED = re.compile(r"(\w+=\S*\s+)+")
_STARTERS = frozenset(
    {"sudo", "doas", "env", "command", "exec", "nohup", "nice", "time", "xargs", "then", "do", "else", "!"}
)
_FREE_ARGUMENTS = (
    ("pytest",),
    ("python", "-m", "pytest"),
    ("python3", "-m", "pytest"),
    ("uv", "run", "pytest"),
    ("ruff", "check"),
    ("mypy",),
    ("pyright",),
    ("ls",),
    ("ctest",),
    ("cmake", "--build"),
    ("ninja",),
    ("cargo", "build"),
    ("cargo", "check"),
    ("cargo", "clippy"),
    ("cargo", "test"),
    ("dotnet", "build"),
    ("dotnet", "test"),
    ("go", "build"),
    ("go", "test"),
    ("npm", "test"),
    ("tsc",),
    ("eslint",),
)
"""Programs that build, test or look: with any arguments they do what a project does all day. Every other command is
proposed by its exact text, above all what runs the text it is given (python, sh, find, ssh, git)."""


class Mode(StrEnum):
    """How calls are answered that no rule of the user answers."""

    READ_ONLY = "read_only"
    ASK = "ask"
    ACCEPT_EDITS = "accept_edits"


_MEANING = {
    Mode.READ_ONLY: "read-only: nothing is written and nothing is run; read, and say what you would change",
    Mode.ASK: "ask: the engineer is asked before anything is written or run",
    Mode.ACCEPT_EDITS: "accept edits: files of the project are changed without asking; commands are asked about",
}


class Permissions:
    """The rules of a session. `mode` and what is allowed for the session change while it runs.

    Put `denies` before every rule that allows, `allows` last.
    """

    def __init__(self, mode: Mode = Mode.ASK, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> None:
        self.mode = mode
        self.allowed = tuple(allow)
        self.denied = tuple(deny)
        self._by_user = allowing(allow)
        self._session: list[str] = []
        self._by_session = allowing(())

    @property
    def for_session(self) -> tuple[str, ...]:
        """Patterns allowed until this session is left."""
        return tuple(self._session)

    def allow_for_session(self, patterns: Sequence[str]) -> None:
        """Allow these from now on, in this session."""
        self._session += [pattern for pattern in patterns if pattern not in self._session]
        self._by_session = allowing(self._session)

    def forget_for_session(self) -> None:
        """Ask again about what was allowed for the session."""
        self._session = []
        self._by_session = allowing(())

    def notice(self) -> Notice:
        """What the model is told when the mode was switched."""
        return Notice(f"Permissions are now {_MEANING[self.mode]}.")

    def denies(self, tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        """The user's `deny` rules, then read-only mode. A denial holds for what actuates too."""
        for pattern in self.denied:
            if _denies(pattern, tool, preview.subject):
                return Deny(f"Not allowed: {preview.title}. The engineer's settings deny `{pattern}`. Do without it.")
        if self.mode is Mode.READ_ONLY and tool.risk is not Risk.READ:
            return Deny(
                f"Not allowed: {preview.title}. The engineer works in read-only mode. Read, and say what you would do."
            )
        return None

    def allows(self, tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        """Accepted edits, the user's `allow` rules, and what was allowed for the session.

        What a later session would obey (AGENTS.md, skills) is allowed by the user's rules alone.
        """
        if tool.risk is Risk.ACTUATE or self.mode is Mode.READ_ONLY:
            return None
        if self._accepts(tool, preview):
            return Allow(by="mode accept_edits")
        if self._by_user(tool, call, preview):
            return Allow(by="a rule")
        if not preview.guards and self._by_session(tool, call, preview):
            return Allow(by="allowed for the session")
        return None

    def _accepts(self, tool: Tool, preview: Preview) -> bool:
        is_edit = tool.risk is Risk.WRITE and tool.spec.name in _FILE_TOOLS
        return self.mode is Mode.ACCEPT_EDITS and is_edit and not preview.guards


def _denies(pattern: str, tool: Tool, subject: str) -> bool:
    """Does a `deny` pattern cover this call? Case does not count, and of a joined command each part is looked at."""
    name, colon, wanted = pattern.partition(":")
    if name != tool.spec.name:
        return False
    subjects = [subject.strip()]
    if tool.risk is Risk.EXEC:
        subjects += [spelling for part in _PARTS.split(subject) for spelling in _spellings(part)]
    wanted = wanted.casefold()
    wholes = (wanted, wanted.removesuffix(" *"))
    return not colon or any(fnmatchcase(part.casefold(), whole) for part in subjects for whole in wholes)


def _spellings(command: str) -> list[str]:
    """A command as it is written, without variables set before it, and by its program's plain name."""
    bare = _ASSIGNED.sub("", command.strip(), count=1)
    words = bare.split()
    while words and (words[0] in _STARTERS or words[0].startswith("-")):
        words.pop(0)
    plain = [re.split(r"[/\\]", words[0])[-1].strip("'\""), *words[1:]] if words else []
    return [bare, " ".join(words), " ".join(plain)]


def propose(tool: Tool, preview: Preview) -> tuple[str, ...]:
    """The patterns to offer as "allow for the session"; empty where only this one call may be allowed.

    An edit is proposed for its folder, a command by its program only where that is safe with any arguments, otherwise
    by its exact text.
    """
    name, subject = tool.spec.name, preview.subject
    if tool.risk in (Risk.ACTUATE, Risk.READ) or preview.guards or not subject.strip():
        return ()
    if tool.risk is Risk.WRITE and name in _FILE_TOOLS:
        folder, slash, _ = subject.rpartition("/")
        return (f"{name}:{_literal(folder)}/*",) if slash else (f"{name}:{_literal(subject)}",)
    if name == "bash":
        return _for_command(subject)
    return (name,)


def _for_command(command: str) -> tuple[str, ...]:
    alone = unshaped(command)
    if joins_commands(alone):
        return (f"bash:{command}",)
    words = tuple(alone.split())
    for opening in _FREE_ARGUMENTS:
        if words[: len(opening)] == opening:
            program = " ".join(opening)
            return (f"bash:{program}", f"bash:{program} *")
    return (f"bash:{_literal(alone.strip())}",)


def _literal(text: str) -> str:
    """A pattern that matches this text and nothing else."""
    return re.sub(r"[*?[]", r"[\g<0>]", text)
