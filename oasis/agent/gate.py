"""What answers before a tool runs. Rules in order, the first answer wins, the default is to ask."""

from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase

from oasis.core.items import ToolCall
from oasis.core.rule import Allow, Ask, Decision, Deny, Rule
from oasis.core.tool import Preview, Risk, Tool

Answer = Allow | Deny
Asker = Callable[[Ask], Awaitable[Answer]]
_SHELL_JOINS = (";", "&", "|", "<", ">", "\n", "`", "$(")


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
    wildcard that was meant for one command. No pattern answers ACTUATE.
    """
    split = [pattern.partition(":") for pattern in patterns]

    def rule(tool: Tool, call: ToolCall, preview: Preview) -> Decision | None:
        if tool.risk is Risk.ACTUATE:
            return None
        for name, colon, wanted in split:
            if name == tool.spec.name and (not colon or _matches(tool.risk, wanted, preview.subject)):
                return Allow()
        return None

    return rule


def _matches(risk: Risk, wanted: str, subject: str) -> bool:
    if risk is Risk.EXEC and any(join in subject for join in _SHELL_JOINS):
        return wanted == subject
    return fnmatchcase(subject, wanted)


async def nobody_to_ask(ask: Ask) -> Answer:
    """Headless: what would be asked is denied, and the model is told how it could be allowed."""
    return Deny(
        f"Not allowed: {ask.preview.title}. Nobody can be asked in this run. "
        "Work without it, or say at the end that it needs `--allow`."
    )
