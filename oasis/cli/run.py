"""`oasis run`: one task, headless."""

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oasis.cli.options import Context, LaneName, ModelFile, Packs, Project, Server, Site, check_text, settings_for

if TYPE_CHECKING:
    from oasis.agent.assembly import Toolbox
    from oasis.agent.compaction_policy import CompactAt
    from oasis.agent.session import Session
    from oasis.config import Settings
    from oasis.core.events import TurnFinished
    from oasis.core.items import Notice, User
    from oasis.models.base import Lane, Model
    from oasis.ui.headless import Screen

EXIT_CODES = {
    "done": 0,
    "max_steps": 3,
    "max_minutes": 3,
    "context_full": 4,
    "repeating": 5,
    "malformed": 5,
    "server": 6,
    "cancelled": 130,
}


def run(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do. Without it: -f, or standard input.")] = "",
    file: Annotated[
        Path | None,
        typer.Option("-f", "--file", metavar="FILE", exists=True, dir_okay=False, help="Read the task from a file."),
    ] = None,
    server: Server = "",
    model: ModelFile = "",
    lane: LaneName = "",
    pack: Packs = None,
    site: Site = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Allow a tool: edit, write:docs/*, bash:pytest *; repeatable."),
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID|last", help="Go on with a session.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One event a line on standard output (docs/events.md).")] = False,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Stop after so many model calls; 0: never.")
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Stop after so many minutes; 0: never.")
    ] = None,
    context: Context = None,
    compact_at: Annotated[
        str,
        typer.Option(
            metavar="TOKENS|FRACTION",
            help="Compact from so many prompt tokens on (0.75 of the context); 0: only when full.",
        ),
    ] = "",
    temperature: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Sampling temperature; default: the server's.")
    ] = None,
    project: Project = Path(),
) -> None:
    """Work through a task with tools, without asking anyone.

    What would be asked is denied unless an --allow rule says otherwise. To a device nothing is written without a site
    file, and then only tags that it marks `unattended`.
    The answer goes to standard output, progress to standard error when that is a terminal.

    oasis run "Say what this project does, in five lines"

    oasis run --allow edit --allow "bash:pytest *" -f task.md

    Exit codes: 0 done, 1 error, 2 wrong usage, 3 --max-steps or --max-minutes reached, 4 context full,
    5 the model repeats itself or gives nothing that can be run, 6 the model server failed, 130 interrupted.
    """
    import asyncio

    settings = settings_for(
        project,
        server=server,
        model=model,
        packs=pack,
        allow=allow,
        max_steps=max_steps,
        max_minutes=max_minutes,
        context=context,
        temperature=temperature,
    )
    order = Order(
        _task(task, file, resume is not None),
        project.resolve(),
        settings,
        _lane(lane),
        resume,
        json,
        _compact_at(compact_at),
        site.resolve() if site else None,
    )
    finished = asyncio.run(_run(order))
    raise typer.Exit(EXIT_CODES[finished.reason])


@dataclass(frozen=True)
class Order:
    """What was asked for on the command line."""

    task: str
    project: Path
    settings: "Settings"
    lane: "Lane | None"
    resume: str | None
    as_json: bool
    compact_at: "CompactAt | None"
    site: Path | None


def _lane(name: str) -> "Lane | None":
    from oasis.models.base import Lane

    if name and name not in list(Lane):
        raise typer.BadParameter("--lane is tokens or chat")
    return Lane(name) if name else None


def _compact_at(text: str) -> "CompactAt | None":
    from oasis.agent.compaction_policy import CompactAt

    try:
        return CompactAt.parse(text) if text else None
    except ValueError as error:
        raise typer.BadParameter(f"--compact-at: {error}") from error


def _task(task: str, file: Path | None, is_resumed: bool) -> str:
    """The task's text from where it was given; empty only for a resumed session."""
    from oasis.errors import ConfigError

    if task and file:
        raise typer.BadParameter("a task and -f were both given; give one")
    if file:
        try:
            task = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"The task file {file} was not read: {error}.") from error
    elif not task and not is_resumed and not sys.stdin.isatty():
        try:
            task = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"The task on standard input is not UTF-8: {error}. Convert it, or use -f.") from error
    check_text("task", task)
    if not task.strip() and not is_resumed:
        raise typer.BadParameter('no task: oasis run "what to do", -f FILE, or text on standard input')
    return task.strip()


def _check(order: Order, box: "Toolbox") -> None:
    """Find what was misspelt before anything is started."""
    from oasis.agent.sessions import find_session

    tools = [tool.spec.name for tool in box.tools]
    for rule in order.settings.allow:
        if rule.partition(":")[0] not in tools:
            raise typer.BadParameter(f"--allow {rule!r} names no tool. There are: {', '.join(tools)}.")
    if order.resume is not None:
        find_session(order.resume, order.project)


async def _run(order: Order) -> "TurnFinished":
    from contextlib import AsyncExitStack

    from oasis.agent.assembly import agent, at_plant, toolbox, with_servers
    from oasis.agent.gate import nobody_to_ask
    from oasis.agent.hooks import hooks_of
    from oasis.agent.loop import Limits
    from oasis.agent.permissions import Permissions
    from oasis.core.events import Said
    from oasis.models.base import Sampling
    from oasis.models.connect import connect
    from oasis.ui.headless import screen

    settings = order.settings
    view = screen(order.as_json)

    def say(text: str) -> None:
        view.show(Said(text))

    async with AsyncExitStack() as stack:
        stack.callback(view.close)
        own = toolbox(order.project, settings.packs, order.site)
        box = await stack.enter_async_context(with_servers(own, settings, say))
        _check(order, box)
        connection = await connect(settings, order.lane, say, with_kv=True)
        stack.push_async_callback(connection.close)
        session, items = _session(order, box, connection.model, view)
        with session:
            loop = agent(
                connection.model,
                session,
                box,
                view.show,
                nobody_to_ask(settings.allow),
                permissions=Permissions(allow=settings.allow, deny=settings.deny),
                limits=Limits(settings.max_steps, settings.max_minutes),
                sampling=Sampling(temperature=settings.temperature),
                compact_at=order.compact_at,
                hooks=hooks_of(settings, order.project, say),
            )
            loop.is_gone = connection.is_gone
            async with at_plant(box, session, say, is_attended=False):
                return await loop.turn(items)


def _session(order: Order, box: "Toolbox", model: "Model", view: "Screen") -> "tuple[Session, list[User | Notice]]":
    """The session to go on with and what opens its turn."""
    from oasis.agent.assembly import create_session, first_items, resume_session
    from oasis.agent.notices import headless_notice
    from oasis.core.events import Said
    from oasis.core.items import User

    task = [User(order.task)] if order.task else []
    alone = headless_notice(order.settings.allow)
    if order.resume is not None:
        session, warnings = resume_session(order.resume, order.project, box, model)
        for warning in warnings:
            view.show(Said(warning))
        if not task and session.is_finished:
            session.close()
            raise typer.BadParameter(f"session {session.id} has nothing left to do; give it a task")
        return session, [alone, *task] if task else []
    now = datetime.now().astimezone()
    session = create_session(order.project, box, model, now)
    view.show(Said(f"Session {session.id}"))
    return session, [*first_items(order.project, box, now, order.settings.files), alone, *task]
