"""The session file's records: one JSON object a line, hash-chained (docs/sessions.md)."""

from dataclasses import asdict, replace

from oasis.core.chain import Record
from oasis.core.closing import closed
from oasis.core.items import Assistant, Item, Notice, Status, Stop, ToolCall, ToolOutput, User
from oasis.core.sound import sound
from oasis.core.transcript import Chunk, Transcript

VERSION = 1


def sound_item(item: Item) -> Item:
    """The item with every text such that it can be written as UTF-8; a tool's output closes with a line in [ ]."""
    if isinstance(item, ToolOutput):
        return replace(item, text=closed(item.text, item.status))
    if not isinstance(item, Assistant):
        return replace(item, text=sound(item.text))
    calls = tuple(replace(call, name=sound(call.name), arguments=sound(call.arguments)) for call in item.calls)
    return replace(item, text=sound(item.text), reasoning=sound(item.reasoning), raw=sound(item.raw), calls=calls)


def of_item(item: Item) -> Record:
    """The record of an item."""
    if isinstance(item, Assistant):
        return {"kind": "assistant", **asdict(item), "wire": item.wire.decode()}
    kind = {User: "user", Notice: "notice", ToolOutput: "output"}[type(item)]
    return {"kind": kind, **asdict(item)}


def of_epoch(transcript: Transcript) -> list[Record]:
    """The records of what an epoch begins with, in order: its items, and each chunk after the items it carries.

    Items that no request has carried stand last, without a chunk.
    """
    chunks = iter(transcript.chunks)
    made, is_open = [of_chunk(next(chunks))], False
    sent = len(transcript.items) - len(transcript.pending)
    for item in transcript.items[:sent]:
        if isinstance(item, Assistant):
            made += [of_chunk(next(chunks))] if is_open else []
            next(chunks)
        made.append(of_item(item))
        is_open = not isinstance(item, Assistant)
    made += [of_chunk(next(chunks))] if is_open else []
    return [*made, *(of_item(item) for item in transcript.pending)]


def of_chunk(chunk: Chunk) -> Record:
    return {"kind": "chunk", "wire": chunk.wire.decode(), "tokens": chunk.tokens}


def to_entry(record: Record) -> Item | Chunk | None:
    """The item or chunk of a record; None when it holds neither. Raises as `to_item` does."""
    if record["kind"] == "chunk":
        return Chunk(record["wire"].encode(), record["tokens"])
    return to_item(record)


def to_item(record: Record) -> Item | None:
    """The item of a record; None when it holds none. Raises KeyError, ValueError or TypeError for a malformed one."""
    match record["kind"]:
        case "user":
            return User(record["text"])
        case "notice":
            return Notice(record["text"])
        case "output":
            return ToolOutput(record["call_id"], record["name"], record["text"], Status(record["status"]))
        case "assistant":
            calls = tuple(ToolCall(**call) for call in record["calls"])
            wire, stop = record["wire"].encode(), Stop(record["stop"])
            return Assistant(record["text"], record["reasoning"], calls, stop, wire, record["raw"], record["undecoded"])
        case _:
            return None
