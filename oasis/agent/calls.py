"""Running the calls of one message: arguments checked, gate asked, tool run, outputs in call order."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oasis.agent.gate import Answer, Asker, decide
from oasis.agent.hooks import Hooks, with_text
from oasis.agent.session import Session
from oasis.core.events import CallFinished, CallStarted, Event
from oasis.core.items import Status, ToolCall, ToolOutput
from oasis.core.rule import Allow, Ask, Deny, Rule
from oasis.core.tool import Arguments, Outcome, Preview, Risk, Tool
from oasis.errors import ToolFault
from oasis.tools.registry import Registry


@dataclass(frozen=True)
class _Checked:
    call: ToolCall
    tool: Tool
    arguments: Arguments
    preview: Preview


class CallRunner:
    """Runs calls with a registry's tools behind a gate; tells `emit` of each start and end.

    `hooks` are the user's: asked after the rules and before a person, and told what a tool gave.
    """

    def __init__(
        self,
        registry: Registry,
        rules: Sequence[Rule],
        ask: Asker,
        emit: Callable[[Event], None],
        hooks: Hooks | None = None,
    ) -> None:
        self.registry = registry
        self._rules = rules
        self._ask = ask
        self._emit = emit
        self.hooks = hooks
        self._passed = 0

    async def run(self, session: Session, calls: Sequence[ToolCall]) -> bool:
        """Append one output for each call, in call order. Neighbouring READ calls run in parallel.

        False where none of them was a call of a tool that was there, with arguments that fit, and allowed.
        When cancelled, every call still gets its output (*cancelled*) before CancelledError goes on.
        """
        waiting, group, self._passed = list(calls), [], 0
        try:
            while waiting:
                group = self._parallel(waiting)
                for output in await self._run_group(session, group):
                    session.append(output)
                    waiting.pop(0)
        except asyncio.CancelledError:
            for call in waiting:
                when = "while it ran; it may have had part of its effect" if call in group else "before it ran"
                session.append(ToolOutput(call.id, call.name, f"Cancelled {when}.", Status.CANCELLED))
            raise
        return self._passed > 0

    def only_read(self, calls: Sequence[ToolCall]) -> bool:
        """Is each of them a call of a tool that only reads?"""
        return all(self._reads(call) for call in calls)

    def _reads(self, call: ToolCall) -> bool:
        found = self.registry.find(call)
        return isinstance(found, tuple) and found[0].risk is Risk.READ

    def _parallel(self, calls: list[ToolCall]) -> list[ToolCall]:
        """The longest run of READ calls at the beginning, at least one call."""
        count = 0
        while count < len(calls) and self._reads(calls[count]):
            count += 1
        return calls[: max(1, count)]

    async def _run_group(self, session: Session, group: Sequence[ToolCall]) -> list[ToolOutput]:
        tasks = [asyncio.create_task(self._run_one(session, call)) for call in group]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _run_one(self, session: Session, call: ToolCall) -> ToolOutput:
        checked = await self._check(call)
        if isinstance(checked, Outcome):
            return self._finish(call, checked, 0.0)
        answer, said = await self._answer(checked)
        if isinstance(answer, Deny):
            return self._finish(call, Outcome(answer.reason, Status.DENIED), 0.0)
        self._passed += 1
        session.start_call(call)
        began = time.perf_counter()
        outcome = with_text(await _guarded(checked, answer), said)
        run_ms = (time.perf_counter() - began) * 1000
        if self.hooks:
            outcome = await self.hooks.after_tool(checked.tool, call, checked.arguments, checked.preview, outcome)
        return self._finish(call, outcome, run_ms)

    async def _check(self, call: ToolCall) -> _Checked | Outcome:
        found = self.registry.find(call)
        if isinstance(found, Outcome):
            self._emit(CallStarted(call, Preview(call.name, "", call.arguments)))
            return found
        tool, arguments = found
        try:
            preview = await tool.preview(arguments)
        except ToolFault as fault:
            self._passed += 1
            self._emit(CallStarted(call, Preview(call.name, "", call.arguments)))
            return Outcome(str(fault), Status.ERROR)
        self._emit(CallStarted(call, preview))
        return _Checked(call, tool, arguments, preview)

    async def _answer(self, checked: _Checked) -> tuple[Answer, str]:
        """What the rules, the hooks and, where it is asked, a person say; and what a hook adds to the output."""
        decision = decide(self._rules, checked.tool, checked.call, checked.preview)
        said = ""
        if self.hooks and not isinstance(decision, Deny):
            before = await self.hooks.before_tool(checked.tool, checked.call, checked.arguments, checked.preview)
            said, decision = before.text, before.denial or decision
        answer = await self._ask(decision) if isinstance(decision, Ask) else decision
        if checked.tool.risk is Risk.ACTUATE and isinstance(answer, Allow) and not _answers(answer, checked.preview):
            why = "No rule answers for what moves a machine; nothing was sent."
            return Deny(f"Not allowed: {checked.preview.title}. {why}"), said
        return answer, said

    def _finish(self, call: ToolCall, outcome: Outcome, run_ms: float) -> ToolOutput:
        self._emit(CallFinished(call.id, call.name, outcome.status, outcome.text, run_ms))
        return ToolOutput(call.id, call.name, outcome.text, outcome.status)


def _answers(answer: Allow, preview: Preview) -> bool:
    """Was exactly the plan of this preview approved?"""
    return bool(preview.token) and answer.token == preview.token


async def _guarded(checked: _Checked, answer: Allow) -> Outcome:
    """Run the tool; whatever goes wrong in it is an output that the model can act on."""
    tool = checked.tool
    try:
        if tool.actuate is not None and tool.risk is Risk.ACTUATE:
            return await tool.actuate(answer.token, answer.by)
        return await tool.run(checked.arguments)
    except ToolFault as fault:
        return Outcome(str(fault), Status.ERROR)
    except Exception as error:
        return Outcome(f"The tool {checked.tool.spec.name} failed: {type(error).__name__}: {error}", Status.ERROR)
