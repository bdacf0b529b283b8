"""A step of a resumed session, in a process of its own: `python -m oasis.measure.resumed`.

Standard input is one line of JSON: `server`, `session` (the file) and `text`, what the user says next. Standard
output gets one line: `usage` and `new_tokens` of that step.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from oasis.agent.session import Session
from oasis.config import Settings
from oasis.core.items import User
from oasis.core.usage import Usage
from oasis.errors import SessionFault
from oasis.measure.ask import ask
from oasis.models.base import Lane, Sampling
from oasis.models.connect import connect

_ANSWER = Sampling(max_tokens=8, temperature=0.0)


async def step_elsewhere(server: str, session: Path, text: str) -> tuple[Usage, int]:
    """Resume `session` in a new process and take one step there: its cost, and the tokens that were new.

    Raises SessionFault, with what the process said, where it failed.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "oasis.measure.resumed"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    task = json.dumps({"server": server, "session": str(session), "text": text})
    said, wrong = await process.communicate(task.encode() + b"\n")
    if process.returncode:
        raise SessionFault(
            f"The session could not be resumed in a new process: {wrong.decode(errors='replace')[-400:]}"
        )
    answer: dict[str, Any] = json.loads(said)
    return Usage(**answer["usage"]), int(answer["new_tokens"])


async def _step(server: str, session: Path, text: str) -> tuple[Usage, int]:
    connection = await connect(Settings(server=server), Lane.TOKENS)
    try:
        resumed, _ = Session.resume(session, connection.model)
        with resumed:
            resumed.append(User(text))
            request = await resumed.request()
            reply = await ask(connection.model, request, _ANSWER)
            resumed.append(reply.message)
            resumed.finish_step(reply.usage, request.new_tokens)
            return reply.usage, request.new_tokens or 0
    finally:
        await connection.close()


def main() -> None:
    task: dict[str, str] = json.loads(sys.stdin.readline())
    usage, new_tokens = asyncio.run(_step(task["server"], Path(task["session"]), task["text"]))
    print(json.dumps({"usage": asdict(usage), "new_tokens": new_tokens}))


if __name__ == "__main__":
    main()
