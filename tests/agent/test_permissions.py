"""Modes, rules and what was allowed for a session; nothing here allows what moves a machine."""

import pytest

from oasis.agent.gate import decide, reading_is_free
from oasis.agent.permissions import Mode, Permissions, propose
from oasis.core.items import ToolCall
from oasis.core.rule import Allow, Ask, Deny
from oasis.core.tool import Preview, Risk, Tool
from oasis.models.scripted import ScriptedModel, reply
from tests.agent.harness import Runs, build, tool

CALL = ToolCall("c1", "any", "{}")
RISKS = {
    "read": Risk.READ,
    "write": Risk.WRITE,
    "edit": Risk.WRITE,
    "bash": Risk.EXEC,
    "plant_write": Risk.ACTUATE,
    "cad_save": Risk.WRITE,
}


def named(name: str) -> Tool:
    return tool(name, RISKS[name], Runs())


def answer(permissions: Permissions, name: str, subject: str, *, guards: bool = False) -> str:
    rules = (permissions.denies, reading_is_free, permissions.allows)
    decision = decide(rules, named(name), CALL, Preview("", subject, guards=guards))
    return {Allow: "allow", Deny: "deny", Ask: "ask"}[type(decision)]


@pytest.mark.parametrize(
    ("mode", "answers"),
    [
        (Mode.READ_ONLY, ["allow", "deny", "deny", "deny", "deny", "deny"]),
        (Mode.ASK, ["allow", "ask", "ask", "ask", "ask", "ask"]),
        (Mode.ACCEPT_EDITS, ["allow", "allow", "allow", "ask", "ask", "ask"]),
    ],
)
def test_each_mode_answers_each_kind_of_tool(mode: Mode, answers: list[str]):
    assert [answer(Permissions(mode), name, "a") for name in RISKS] == answers


def test_a_mode_is_switched_while_the_session_runs():
    permissions = Permissions()
    before = answer(permissions, "edit", "a.st")
    permissions.mode = Mode.ACCEPT_EDITS
    assert (before, answer(permissions, "edit", "a.st")) == ("ask", "allow")
    assert "without asking" in permissions.notice().text


async def test_switching_modes_changes_no_byte_of_the_prompt(tmp_path):
    permissions = Permissions()
    wires = []
    for mode in Mode:
        permissions.mode = mode
        folder = tmp_path / mode
        bench = build(
            folder, ScriptedModel([reply("ok")]), rules=(permissions.denies, reading_is_free, permissions.allows)
        )
        wires.append((await bench.session.request()).wire)
    assert wires[0] == wires[1] == wires[2]


def test_accepted_edits_do_not_cover_what_a_later_session_would_obey():
    assert answer(Permissions(Mode.ACCEPT_EDITS), "edit", "AGENTS.md", guards=True) == "ask"


def test_what_is_allowed_for_the_session_does_not_cover_it_either():
    permissions = Permissions()
    permissions.allow_for_session(["edit:src/*"])
    assert answer(permissions, "edit", "src/AGENTS.md", guards=True) == "ask"
    assert answer(permissions, "edit", "src/a.st") == "allow"


def test_a_denial_wins_over_everything_that_allows():
    permissions = Permissions(Mode.ACCEPT_EDITS, allow=["edit", "bash", "read"], deny=["edit:safety/*", "read:*.key"])
    permissions.allow_for_session(["edit:safety/*"])
    subjects = ("safety/estop.st", "SAFETY/estop.st", "line/a.st")
    assert [answer(permissions, "edit", subject) for subject in subjects] == ["deny", "deny", "allow"]
    assert answer(permissions, "read", "plc.key") == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm",
        "ls; rm x",
        "ls && rm x",
        "ls | rm x",
        "echo $(rm x)",
        "echo `rm x`",
        "ls\nrm x",
        "A=1 rm x",
        "ls & A=1 B=2 rm x",
        "(rm x)",
        " rm x",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "sudo rm x",
        "sudo -n /bin/rm x",
        "find . | xargs rm x",
        "if true; then rm x; fi",
        "C:\\tools\\rm x",
    ],
)
def test_a_denied_command_is_denied_inside_a_joined_one(command: str):
    assert answer(Permissions(allow=["bash"], deny=["bash:rm *"]), "bash", command) == "deny"


def test_a_denial_leaves_other_commands_alone():
    permissions = Permissions(allow=["bash"], deny=["bash:rm *"])
    assert [answer(permissions, "bash", c) for c in ("rmdir x", "ls rm", "rm-not x")] == ["allow"] * 3


def test_a_denial_holds_for_a_device_write_and_an_allowance_does_not():
    assert answer(Permissions(deny=["plant_write"]), "plant_write", "Boiler.Setpoint") == "deny"
    permissions = Permissions(Mode.ACCEPT_EDITS, allow=["plant_write", "plant_write:*"])
    permissions.allow_for_session(["plant_write"])
    assert answer(permissions, "plant_write", "Boiler.Setpoint") == "ask"


def test_what_was_allowed_for_the_session_can_be_taken_back():
    permissions = Permissions()
    permissions.allow_for_session(["bash:pytest *"])
    permissions.allow_for_session(["bash:pytest *"])
    before = (permissions.for_session, answer(permissions, "bash", "pytest -q"))
    permissions.forget_for_session()
    assert before == (("bash:pytest *",), "allow")
    assert answer(permissions, "bash", "pytest -q") == "ask"


@pytest.mark.parametrize(
    ("name", "subject", "patterns"),
    [
        ("edit", "src/line/a.st", ("edit:src/line/*",)),
        ("write", "a.st", ("write:a.st",)),
        ("edit", "src[1]/a*.st", ("edit:src[[]1]/*",)),
        ("bash", "pytest -q tests", ("bash:pytest", "bash:pytest *")),
        ("bash", "python -m pytest -q", ("bash:python -m pytest", "bash:python -m pytest *")),
        ("bash", "python -m http.server", ("bash:python -m http.server",)),
        ("bash", "rm *.o", ("bash:rm [*].o",)),
        ("bash", "git push", ("bash:git push",)),
        ("bash", "pytest -q; rm x", ("bash:pytest -q; rm x",)),
        ("bash", "pytest -q 2>&1 | tail -5", ("bash:pytest", "bash:pytest *")),
        ("bash", "python x.py 2>&1 | head", ("bash:python x.py",)),
        ("bash", "FOO=1 pytest", ("bash:FOO=1 pytest",)),
        ("read", "a.st", ()),
        ("plant_write", "Boiler.Setpoint", ()),
        ("cad_save", "part 1", ("cad_save",)),
    ],
)
def test_what_is_proposed_for_the_session_is_narrow_and_covers_the_call(
    name: str, subject: str, patterns: tuple[str, ...]
):
    preview = Preview("", subject)
    assert propose(named(name), preview) == patterns
    permissions = Permissions()
    permissions.allow_for_session(patterns)
    if patterns:
        assert answer(permissions, name, subject) == "allow"


def test_nothing_is_proposed_for_what_a_later_session_would_obey():
    assert propose(named("edit"), Preview("", "docs/AGENTS.md", guards=True)) == ()


@pytest.mark.parametrize("other", ["rm a.o", "rm b.o c.o", "pytest -q; rm -rf /", "git push --force"])
def test_a_proposal_for_one_command_allows_no_other(other: str):
    permissions = Permissions()
    for command in ("rm *.o", "pytest -q", "git push"):
        permissions.allow_for_session(propose(named("bash"), Preview("", command)))
    assert answer(permissions, "bash", other) == "ask"


def test_a_reason_for_the_model_names_the_rule():
    decision = Permissions(deny=["edit:safety/*"]).denies(named("edit"), CALL, Preview("Edit a", "safety/a"))
    assert decision.reason == ("Not allowed: Edit a. The engineer's settings deny `edit:safety/*`. Do without it.")
