"""What answers before a tool runs."""

import pytest

from oasis.agent.gate import allowing, decide, nobody_to_ask, reading_is_free
from oasis.core.items import ToolCall
from oasis.core.rule import Allow, Ask
from oasis.core.tool import Preview, Risk
from tests.agent.harness import Runs, tool

CALL = ToolCall("c1", "any", "{}")


def answer(name: str, risk: Risk, subject: str, *patterns: str):
    rules = (reading_is_free, allowing(patterns))
    return decide(rules, tool(name, risk, Runs()), CALL, Preview("", subject))


def test_reading_is_free():
    assert answer("read", Risk.READ, "x") == Allow()


@pytest.mark.parametrize("risk", [Risk.WRITE, Risk.EXEC, Risk.ACTUATE])
def test_without_a_rule_everything_else_is_asked(risk: Risk):
    assert isinstance(answer("any", risk, "x"), Ask)


@pytest.mark.parametrize(
    ("pattern", "subject", "allowed"),
    [
        ("bash", "rm -rf build; make", True),
        ("bash:pytest *", "pytest -q tests", True),
        ("bash:pytest *", "pytest -q; rm -rf /", False),
        ("bash:pytest *", "pytest $(evil)", False),
        ("bash:pytest *", "pytest x\nrm y", False),
        ("bash:make && make test", "make && make test", True),
        ("bash:pytest", "pytest -q", False),
        ("edit", "pytest", False),
        ("bash:python3 *", 'python3 -c "print(1); print(2 > 1)"', True),
        ("bash:python3 *", "python3 -c 'a = `x`; $(y)'", True),
        ("bash:python3 *", 'python3 -c "$(evil)"', False),
        ("bash:python3 *", 'python3 -c "`evil`"', False),
        ("bash:python3 *", "python3 'a' ; evil", False),
        ("bash:python3 *", "python3 \\' ; evil '", False),
        ("bash:python3 *", "python3 'unclosed", False),
        ("bash:python3 *", "python3 a <(evil)", False),
        ("bash:python3 *", "  python3 -V", True),
        ("bash:pytest *", "pytest -q 2>&1 | tail -20", True),
        ("bash:pytest *", "pytest -q | head -n 5", True),
        ("bash:pytest", "pytest 2>&1", True),
        ("bash:pytest *", "pytest -q > out 2>&1", False),
        ("bash:pytest *", "pytest -q || tail -5", False),
        ("bash:pytest *", "pytest -q | tail -f /etc/passwd", False),
        ("bash:pytest *", "pytest -q; evil | tail -5", False),
        ("bash:pytest *", "pytest 'a | tail -5", False),
    ],
)
def test_a_pattern_allows_one_command_and_never_what_is_joined_to_it(pattern: str, subject: str, allowed: bool):
    assert (answer("bash", Risk.EXEC, subject, pattern) == Allow()) is allowed


def test_a_path_pattern_is_matched_against_the_path():
    assert answer("write", Risk.WRITE, "docs/a.md", "write:docs/*") == Allow()
    assert isinstance(answer("write", Risk.WRITE, "src/a.md", "write:docs/*"), Ask)


def test_no_pattern_answers_what_moves_metal():
    assert isinstance(answer("modbus_write", Risk.ACTUATE, "40001", "modbus_write", "modbus_write:*"), Ask)


def test_what_a_later_session_would_obey_is_allowed_by_its_name_only():
    guarded = Preview("", "AGENTS.md", guards=True)
    write = tool("write", Risk.WRITE, Runs())
    assert isinstance(decide((allowing(["write"]),), write, CALL, guarded), Ask)
    assert isinstance(decide((allowing(["write:*", "write:*.md"]),), write, CALL, guarded), Ask)
    assert decide((allowing(["write:AGENTS.md"]),), write, CALL, guarded) == Allow()


async def test_a_refused_command_that_goes_to_a_folder_first_is_told_that_it_is_there_already():
    ask = nobody_to_ask(["bash:pytest *"])
    said = [await ask(Ask(Preview("run", subject, ""))) for subject in ("cd /plant && pytest -q", "make && make test")]
    assert ["leave out cd" in denied.reason for denied in said] == [True, False]
