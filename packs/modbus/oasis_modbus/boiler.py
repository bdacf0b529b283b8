"""The boiler alone, by its URL, with the process held still: what the demonstration reads."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


@asynccontextmanager
async def running_boiler() -> AsyncGenerator[str, None]:
    """Run it on a free loopback port; gives its URL, `modbus://127.0.0.1:PORT/1`."""
    from oasis_modbus.simulator.stations import running  # noqa: PLC0415

    async with running({"speed": 0}) as run:
        yield run.stations[0].url
