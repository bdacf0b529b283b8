"""The packaging line as a process of its own: `python -m oasis_opcua.simulator [--big] [NODESET ...]`.

Its first line is its URL; it ends with its standard input.
"""

import asyncio
import sys
from pathlib import Path

from oasis_opcua.simulator.line import Faults, running_line
from oasis_opcua.simulator.server import Limits

UNLIMITED = Limits(0, 0, 0, 0, 0, 0, 0, 100)


async def main(arguments: list[str]) -> None:
    nodesets = [Path(name) for name in arguments if not name.startswith("--")]
    limits = UNLIMITED if "--unlimited" in arguments else None
    async with running_line(big="--big" in arguments, nodesets=nodesets, faults=Faults(), limits=limits) as line:
        sys.stdout.write(f"{line.url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
