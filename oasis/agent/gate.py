"""What answers before a tool runs. Rules in order, the first answer wins, the default is to ask."""

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from oasis.core.items import ToolCall
from oasis.core.rule import Allow, Ask, Decision, Deny, Rule
from oasis.core.tool import Preview, Risk, Tool

Answer = Allow | Deny
Asker = Callable[[Ask], Awaitable[Answer]]
_JOINS = (";", "&", "|", "<", ">", "\n")
_SUBSTITUTIONS = ("`", "$(")
_SHAPED = re.compile(r"(\s+2>&1)?(\s*\|\s*(head|tail)(\s+-n\s*\d+|\s+-\d+)?)?\Z")
_SHAPED_CHARS = 60


def decide(rules: Sequence[Rule], tool: Tool, call: ToolCall, preview: Preview) -> Decision:
    """The first rule's answer, Ask where none has one."""
    for rule in rules:
        decision = rule(tool, call, preview)
        if decision is not None:
            return decision
    return Ask(preview)


def reading_is_free(tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
    """READ needs no answer from anyone."""
    return Allow() if tool.risk is Risk.READ else None


def allowing(patterns: Sequence[str]) -> Rule:
    """A rule from the user's patterns: `edit`, `write:docs/*`, `bash:pytest *`.

    The part behind the colon is matched against the preview's subject. A command that joins several (`;`, `&&`,
    a pipe, a redirection, a substitution) is matched by `bash` alone or by its own exact text, never by a
    wildcard that was meant for one command; `2>&1` and a pipe into head or tail at its end join nothing. What a later
    session would obey (AGENTS.md, skills) is covered only by a pattern that begins with its name or folder. No pattern
    answers ACTUATE.
    """
    split = [pattern.partition(":") for pattern in patterns]

    def rule(tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        if tool.risk is Risk.ACTUATE:
            return None
        for name, colon, wanted in split:
            if name != tool.spec.name:
                continue
            if preview.guards and not _names_a_place(wanted):
                continue
            if not colon or _matches(tool.risk, wanted, preview.subject):
                return Allow()
        return None

    return rule


def commands_ask(why: Callable[[], str]) -> Rule:
    """A rule for commands that could reach the plant past every limit: where there is a `why`, each one asks."""

    def rule(tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        if tool.spec.name != "bash" or not (reason := why()):
            return None
        said = f"A pack is chosen and {reason}: the command could reach the plant past every limit, so each one asks."
        return Ask(replace(preview, body=f"{preview.body}\n[{said}]"))

    return rule


def _matches(risk: Risk, wanted: str, subject: str) -> bool:
    if risk is Risk.EXEC and joins_commands(subject):
        alone = unshaped(subject)
        return wanted == subject or (not joins_commands(alone) and fnmatchcase(alone.lstrip(), wanted))
    return fnmatchcase(subject.lstrip(), wanted)


def _names_a_place(wanted: str) -> bool:
    first = wanted.partition("/")[0]
    return bool(first) and not any(sign in first for sign in "*?[")


def unshaped(command: str) -> str:
    """The command without what only says how much of its output is seen: `2>&1`, a pipe into head or tail."""
    whole = command.rstrip()
    return whole[:-_SHAPED_CHARS] + _SHAPED.sub("", whole[-_SHAPED_CHARS:], count=1)


def joins_commands(command: str, is_posix: bool = sys.platform != "win32") -> bool:
    """Does a shell run more than one command here, or open a file?

    Inside quotes a join is text; inside double quotes a substitution is not. Windows' cmd knows no single quotes,
    so there quotes count for nothing.
    """
    if not is_posix:
        return any(join in command for join in (*_JOINS, *_SUBSTITUTIONS))
    quote = ""
    at = 0
    while at < len(command):
        here = command[at]
        if quote != "'" and here == "\\":
            at += 2
            continue
        if quote != "'" and command.startswith(_SUBSTITUTIONS, at):
            return True
        if not quote and here in _JOINS:
            return True
        if here == quote:
            quote = ""
        elif not quote and here in "'\"":
            quote = here
        at += 1
    return bool(quote)


def nobody_to_ask(allow: Sequence[str]) -> Asker:
    """Headless: what would be asked is denied, and the model is told what is allowed."""
    allowed = ", ".join(allow) or "nothing but reading"

    async def ask(ask: Ask) -> Answer:
        if ask.preview.token:
            return Deny(
                f"Not allowed: {ask.preview.title}. Nobody can approve it in this run, and the site file does not mark "
                "the tag as `unattended`; nothing was sent. Say at the end what should be written, and why."
            )
        joined = " It joins several commands, or redirects; a rule with a pattern allows a single one."
        why = joined if joins_commands(unshaped(ask.preview.subject)) and "bash:" in allowed else ""
        if why and ask.preview.subject.lstrip().startswith("cd "):
            why += " Commands run in the project's folder already: leave out cd."
        if ask.preview.guards:
            why += " What a later session would obey is allowed by a rule that names it only."
        return Deny(
            f"Not allowed: {ask.preview.title}.{why} Nobody can be asked in this run. Allowed without asking: "
            f"{allowed}. Work within that, or say at the end what it needs (--allow)."
        )

    return ask
