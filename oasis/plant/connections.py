"""The drivers in use: one for each endpoint, kept open between calls."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from oasis.errors import OasisError, ToolFault
from oasis.plant.driver import Driver
from oasis.plant.pack import Pack

_SHOWN = 100


class Connections:
    """Opens drivers by URL with the chosen packs' schemes, and closes them all."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        self._factories: Mapping[str, Callable[[str], Driver]] = {
            scheme: make for pack in packs for scheme, make in pack.drivers.items()
        }
        self._by_text: dict[str, Driver] = {}
        self._by_url: dict[str, Driver] = {}

    def open(self, url: str) -> Driver:
        """The driver for `url`; nothing is sent. Raises ToolFault for a URL that no chosen pack understands."""
        text = url.strip()
        if text not in self._by_text:
            made = self._factory(text)(text)
            self._by_text[text] = self._by_url.setdefault(made.url, made)
        return self._by_text[text]

    async def close(self) -> None:
        """Close every driver; one that fails to close does not keep the others open."""
        drivers = list(self._by_url.values())
        self._by_text.clear()
        self._by_url.clear()
        for driver in drivers:
            with contextlib.suppress(OasisError, OSError, asyncio.TimeoutError):
                await driver.close()

    def _factory(self, text: str) -> Callable[[str], Driver]:
        scheme, mark, _ = text.partition("://")
        if mark and not _is_split(text):
            raise ToolFault(f"{text[:_SHOWN]!r} is no address: the part after {mark} cannot be read as host and port.")
        if mark and (factory := self._factories.get(scheme.lower())):
            return factory
        known = ", ".join(f"{name}://" for name in sorted(self._factories))
        raise ToolFault(
            f"{text[:_SHOWN]!r} is no address of the chosen packs. Addresses begin with: {known or 'none is chosen'}. "
            "Another pack is chosen when the session starts (--pack)."
        )


def _is_split(text: str) -> bool:
    try:
        return bool(urlsplit(text))
    except ValueError:
        return False
