"""What a batch of new items is as messages: roles alternate, notices ride along.

A user message after a tool output makes 21 of 55 chat templates rewrite or refuse, so within a turn
everything that is not an output travels at the end of the last output, and between turns notices open
the user's message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oasis.core.items import NewItem, Notice, ToolOutput, User


@dataclass(frozen=True, slots=True)
class Message:
    """One message to be written after the model's. `call_id` and `name` are empty for a user message."""

    text: str
    call_id: str = ""
    name: str = ""

    @property
    def is_output(self) -> bool:
        return bool(self.call_id)


_ENVELOPE = re.compile(r"<(\s*/?\s*oasis)\s*:\s*(?=notice|user)", re.IGNORECASE)


def plain(text: str) -> str:
    """The text without Oasis' own envelopes: what a file or a device says cannot look like a notice or the engineer."""
    return _ENVELOPE.sub(r"<\1_", text)


def marked(item: NewItem) -> str:
    """The item's text as it appears inside another message."""
    if isinstance(item, Notice):
        return f"<oasis:notice>\n{plain(item.text)}\n</oasis:notice>"
    if isinstance(item, User):
        return f"<oasis:user>\n{plain(item.text)}\n</oasis:user>"
    return plain(item.text)


def fold(items: Sequence[NewItem]) -> list[Message]:
    """The messages for the items between two messages of the model, in order.

    Outputs first (one message each), what follows them at the end of the last; without outputs one
    user message: notices first, then what the person wrote.
    """
    messages = [Message(plain(i.text), i.call_id, i.name) for i in items if isinstance(i, ToolOutput)]
    others = [i for i in items if not isinstance(i, ToolOutput)]
    if messages:
        last = messages[-1]
        text = "\n\n".join([last.text, *(marked(i) for i in others)])
        return [*messages[:-1], Message(text, last.call_id, last.name)]
    others.sort(key=lambda i: isinstance(i, User))
    return [Message("\n\n".join(plain(i.text) if isinstance(i, User) else marked(i) for i in others))]
