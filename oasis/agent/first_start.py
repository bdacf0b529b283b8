"""The first start, when no model is set: at most three questions, as data, and what the answers come to.

Nothing here reads keys or draws: `ask` shows a Question and gives the number of a choice, so the terminal and the tests
share it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oasis.agent.model_files import ModelFile, model_files, usual_folders
from oasis.agent.settings_file import write_settings
from oasis.config import Settings
from oasis.engine.catalogue import HUB, HubModel, fitting
from oasis.engine.hub import Progress, unheard
from oasis.engine.weights import CATALOGUE, Weights, fetch, models_folder
from oasis.models.discover import Found, discover

_FILES_SHOWN = 6
_MODELS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question: what it is, and what a person should know before taking it."""

    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its choices; the first is the one to propose."""

    text: str
    choices: tuple[Choice, ...]


Ask = Callable[[Question], Awaitable[int | None]]
"""Gives the number of the choice that was taken, None where the person wants none of them."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found on this machine."""

    servers: tuple[Found, ...] = ()
    files: tuple[ModelFile, ...] = ()
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the person chose: settings for this start, what has to be fetched for them, whether to keep them."""

    settings: dict[str, str]
    to_fetch: HubModel | Weights | None = None
    is_kept: bool = False


def is_needed(settings: Settings) -> bool:
    """Is neither a server nor a model set, by flag, environment or file?"""
    return not (settings.server or settings.model)


async def look(folders: Sequence[Path] | None = None) -> Findings:
    """Look for servers on loopback, model files in the usual folders, and the size of the memory."""
    import asyncio  # noqa: PLC0415

    import psutil  # noqa: PLC0415

    places = usual_folders() if folders is None else folders
    servers, files = await asyncio.gather(discover(), asyncio.to_thread(model_files, places))
    return Findings(tuple(servers), tuple(files), psutil.virtual_memory().total)


async def choose(findings: Findings, ask: Ask) -> Chosen | None:
    """Ask what to run on; None where the person wants to decide later.

    A single server that has one model is taken without a question.
    """
    if len(findings.servers) == 1 and len(findings.servers[0].models) == 1:
        return Chosen({"server": findings.servers[0].url})
    chosen = await _choose_source(findings, ask)
    if chosen is None:
        return None
    keep = Question(
        "Keep this for the next starts?",
        (Choice("Yes", "written to your oasis.toml, nothing else"), Choice("No", "ask again next time")),
    )
    return Chosen(chosen.settings, chosen.to_fetch, await ask(keep) == 0)


async def carry_out(chosen: Chosen, progress: Progress = unheard) -> Path | None:
    """Fetch what has to be fetched, then write the settings that are to be kept; the file they were written to.

    Raises EngineFault, ConfigError.
    """
    if chosen.to_fetch is not None:
        await fetch(chosen.to_fetch, progress)
    return write_settings(chosen.settings) if chosen.is_kept else None


async def _choose_source(findings: Findings, ask: Ask) -> Chosen | None:
    """The first question, and the second where a server has several models or another one is to be fetched."""
    offers: list[tuple[Choice, Chosen | Found | None]] = [(_of_server(server), server) for server in findings.servers]
    shown = findings.files[:_FILES_SHOWN]
    offers += [(_of_file(file), Chosen({"model": _name(file.path)})) for file in shown]
    proposed = fitting(findings.memory_bytes)
    if proposed is not None and not any(file.path.name == f"{proposed.name}.gguf" for file in findings.files):
        offers.append((_of_model(proposed), Chosen({"model": proposed.name}, proposed)))
    offers.append((Choice("Fetch another model", "the list, by memory size"), None))
    question = Question("No model is set. What should Oasis run on?", tuple(choice for choice, _ in offers))
    answer = await ask(question)
    if answer is None:
        return None
    chosen = offers[answer][1]
    if isinstance(chosen, Found):
        return await _choose_served(chosen, ask)
    return chosen or await _choose_model(findings.memory_bytes, ask)


async def _choose_served(server: Found, ask: Ask) -> Chosen | None:
    """Which of a server's models, where it has several."""
    if len(server.models) <= 1:
        return Chosen({"server": server.url})
    names = server.models[:_MODELS_SHOWN]
    question = Question(f"Which model of {server.kind} at {server.url}?", tuple(Choice(name) for name in names))
    answer = await ask(question)
    return None if answer is None else Chosen({"server": server.url, "model": names[answer]})


async def _choose_model(memory_bytes: int, ask: Ask) -> Chosen | None:
    models: list[HubModel | Weights] = [*HUB, *CATALOGUE]
    here = f"this machine has {memory_bytes / 1e9:.0f} GB of memory"
    answer = await ask(Question(f"Which model? ({here})", tuple(_of_model(model) for model in models)))
    return None if answer is None else Chosen({"model": models[answer].name}, models[answer])


def _of_server(server: Found) -> Choice:
    what = ", ".join(server.models[:3]) or server.note or "no model loaded"
    return Choice(f"{server.kind} at {server.url}", what)


def _of_file(file: ModelFile) -> Choice:
    return Choice(file.path.name, f"{file.size_bytes / 1e9:.1f} GB, in {file.path.parent}; embedded engine")


def _of_model(model: HubModel | Weights) -> Choice:
    memory = f", for {model.memory_gb} GB of memory" if isinstance(model, HubModel) else ""
    return Choice(f"Fetch {model.name}", f"{model.size_bytes / 1e9:.1f} GB{memory}; {model.note}")


def _name(path: Path) -> str:
    """What the setting `model` says for this file: its name in Oasis' own folder, elsewhere its path."""
    return path.stem if path.parent == models_folder() else str(path)
