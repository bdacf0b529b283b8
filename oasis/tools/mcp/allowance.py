"""How much a server may send before it counts as flooding."""

from dataclasses import dataclass, field

MAX_MESSAGES = 10_000
MAX_BYTES = 64 << 20
MAX_MESSAGE_BYTES = 16 << 20


class Flooded(Exception):
    """A server sent more than it may; its connection is closed."""


@dataclass(slots=True)
class Allowance:
    """Counts what comes between one call and the next. Whatever takes too much gets Flooded."""

    messages: int = field(default=0)
    received_bytes: int = field(default=0)

    def renew(self) -> None:
        """A call begins: what came before it does not count."""
        self.messages = self.received_bytes = 0

    def take_bytes(self, count: int) -> None:
        self.received_bytes += count
        if self.received_bytes > MAX_BYTES:
            raise Flooded(f"it sent more than {MAX_BYTES >> 20} MiB")

    def take_message(self) -> None:
        self.messages += 1
        if self.messages > MAX_MESSAGES:
            raise Flooded(f"it sent more than {MAX_MESSAGES:,} messages")
