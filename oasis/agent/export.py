"""A session as a document to hand on: Markdown or JSON, with what it cost and without secrets."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from oasis.agent import records
from oasis.agent.compaction_seed import carried, dropped
from oasis.agent.kept import Kept, load
from oasis.agent.masking import Masker
from oasis.core.chain import Record, read
from oasis.core.items import Assistant, Item, Notice, ToolOutput, User
from oasis.core.sound import sound
from oasis.core.usage import Usage, amplification
from oasis.errors import SessionFault

VERSION = 1
_MAX_OUTPUT_CHARS = 6_000


def as_markdown(path: Path, secrets: Sequence[str] = ()) -> str:
    """The session as a document for people. Long tool outputs are clipped; `secrets` are values to leave out.

    Raises SessionFault for a file that cannot be read.
    """
    kept, mask = load(path, to_show=True), Masker(secrets)
    blocks = [_title(kept)]
    turn, steps = 0, _Steps()
    for record in _records(path):
        match record["kind"]:
            case "epoch" if record["epoch"]:
                blocks.append(f"\n---\n\n## Compacted ({record['reason']})\n\n{_summary(record)}\n")
            case "step":
                blocks.append(f"\n*{steps.add(record)}*\n")
            case "turn":
                turn += 1
                blocks.append(f"\n**Turn {turn} ended ({record['reason']}): {steps.turn()}.**\n")
            case _:
                item = records.to_item(record)
                blocks.append(_block(item) if item is not None else "")
    text = mask("".join(blocks))
    values = (
        "1 value that looked like a secret was"
        if mask.count == 1
        else f"{mask.count} values that looked like secrets were"
    )
    left_out = f"\n{values} left out.\n" if mask.count else ""
    return text + left_out


def as_json(path: Path, secrets: Sequence[str] = ()) -> str:
    """The session as one JSON object: `session`, `costs`, `entries`, whole outputs. Raises SessionFault."""
    kept, mask = load(path, to_show=True), Masker(secrets)
    entries = [entry for record in _records(path) if (entry := _entry(record)) is not None]
    about = {name: kept.about[name] for name in ("id", "project", "created")}
    session = {**about, "model": kept.epoch["model"], "lane": kept.epoch["lane"], "warnings": kept.warnings}
    document = {"version": VERSION, "session": session, "costs": _costs(kept), "entries": entries}
    masked = _masked(document, mask)
    return json.dumps({**masked, "secrets_left_out": mask.count}, ensure_ascii=False, indent=1) + "\n"


def save(target: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a document that its owner alone can read. Raises SessionFault, also for a file that is there already."""
    mode = os.O_TRUNC if overwrite else os.O_EXCL
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | mode | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(sound(text).encode())
    except FileExistsError as error:
        raise SessionFault(f"{target} is there already; nothing was written. Name another file.") from error
    except OSError as error:
        raise SessionFault(f"{target} was not written: {error.strerror}. Name another file.") from error


def _records(path: Path) -> Iterator[Record]:
    """The file's whole records in order."""
    lines = (line for line in path.read_bytes().split(b"\n") if line)
    yield from (record for record, _, _ in read(lines) if record is not None)


def _title(kept: Kept) -> str:
    costs = _costs(kept)
    figure = costs["amplification"]
    rows = [
        ("Project", kept.about["project"]),
        ("Begun", kept.about["created"]),
        ("Model", f"{kept.epoch['model']} ({kept.epoch['lane']} lane)"),
        ("Turns, steps", f"{kept.turns}, {kept.steps}"),
        ("Prompt tokens", f"{costs['prompt_tokens']:,}, {_of_them(kept.usage)}"),
        ("Generated tokens", f"{costs['decoded_tokens']:,}"),
        ("Prefill, decoding", f"{costs['prefill_ms'] / 1000:.1f} s, {costs['decode_ms'] / 1000:.1f} s"),
        ("Prefill amplification", "not known" if figure is None else f"{figure:.3f}"),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    warnings = "".join(f"\n> {warning}\n" for warning in kept.warnings)
    return f"# Session {kept.about['id']}\n\n| | |\n|---|---|\n{table}\n{warnings}"


def _of_them(usage: Usage) -> str:
    if not usage.is_cache_known:
        return "how many of them were computed is not known"
    return f"of which {usage.computed_tokens:,} were computed"


def _costs(kept: Kept) -> dict[str, Any]:
    figure = round(amplification(kept.usage.computed_tokens, kept.new_tokens), 4) if kept.new_tokens else None
    costs = {**asdict(kept.usage), "computed_tokens": kept.usage.computed_tokens, "new_tokens": kept.new_tokens}
    return {**costs, "steps": kept.steps, "turns": kept.turns, "amplification": figure}


class _Steps:
    """Adds up what steps cost until a turn ends."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._count = 0

    def add(self, record: Record) -> str:
        """One step in words."""
        usage = Usage(**record["usage"])
        self._usage += usage
        self._count += 1
        return _spent(usage)

    def turn(self) -> str:
        """The turn in words."""
        steps = "1 step" if self._count == 1 else f"{self._count} steps"
        said = f"{steps}, {_spent(self._usage)}"
        self._usage, self._count = Usage(), 0
        return said


def _spent(usage: Usage) -> str:
    if not usage.is_cache_known:
        return f"{usage.prompt_tokens:,} prompt tokens, {usage.decoded_tokens:,} generated"
    return (
        f"{usage.computed_tokens:,} of {usage.prompt_tokens:,} prompt tokens computed in {usage.prefill_ms / 1000:.1f} "
        f"s, {usage.decoded_tokens:,} generated in {usage.decode_ms / 1000:.1f} s"
    )


def _block(item: Item) -> str:
    match item:
        case User():
            return f"\n## You\n\n{item.text}\n"
        case Notice():
            return f"\n<details><summary>Notice</summary>\n\n{_fenced(item.text)}\n\n</details>\n"
        case ToolOutput():
            return f"\n#### {item.name}: {item.status}\n\n{_fenced(_clipped(item.text))}\n"
        case Assistant():
            thought = _fenced(item.reasoning)
            reasoning = (
                f"\n<details><summary>Reasoning</summary>\n\n{thought}\n\n</details>\n" if item.reasoning else ""
            )
            text = f"\n{item.text.strip()}\n" if item.text.strip() else ""
            calls = "".join(f"\nCalls `{call.name}`:\n\n{_fenced(call.arguments)}\n" for call in item.calls)
            return f"\n## Model\n{reasoning}{text}{calls}"


def _clipped(text: str) -> str:
    """Head and tail of a long output."""
    if len(text) <= _MAX_OUTPUT_CHARS:
        return text
    half = _MAX_OUTPUT_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out of this document …]\n{text[-half:]}"


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _summary(epoch: Record) -> str:
    """The summary that an epoch begins with; what else it begins with stands above already."""
    items = [item for record in epoch.get("seed", ()) if (item := records.to_item(record)) is not None]
    opened = (carried().strip(), dropped().strip())
    return "\n\n".join(item.text for item in items if isinstance(item, Notice) and item.text.startswith(opened))


def _entry(record: Record) -> dict[str, Any] | None:
    """What of a record belongs in the document: no token ids, nothing that is only there to resume."""
    left_out = {"wire", "raw", "undecoded", "chain"}
    match record["kind"]:
        case "epoch" if record["epoch"]:
            return {"kind": "epoch", "epoch": record["epoch"], "reason": record["reason"], "summary": _summary(record)}
        case "user" | "notice" | "assistant" | "output" | "step" | "turn" | "compacted":
            return {name: value for name, value in record.items() if name not in left_out}
        case _:
            return None


def _masked(value: Any, mask: Masker) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(part, mask) for part in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {name: _masked(part, mask) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
