"""Answers of a scripted chat server for sessions in a pty."""

import json

from tests.models.server import Part, delta, sse, stream


def text(*pieces: str, reasoning: str = "") -> list[Part]:
    """A message of text alone."""
    thought = [delta(reasoning_content=reasoning)] if reasoning else []
    return stream(sse(*thought, *(delta(content=piece) for piece in pieces), delta("stop")))


def calling(name: str, **arguments: object) -> list[Part]:
    """A message with one call."""
    return stream(_call(name, arguments))


def _call(name: str, arguments: dict[str, object]) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return sse(delta(tool_calls=[{"index": 0, "id": f"call_{name}", "function": function}]), delta("tool_calls"))


def calling_after(held: Part, name: str, **arguments: object) -> list[Part]:
    """The same, once `held` is set."""
    return stream(held, _call(name, arguments))
