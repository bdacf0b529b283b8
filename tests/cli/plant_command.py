"""`oasis plant ...` run in this process, and what came of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from oasis.cli.main import app
from oasis.errors import OasisError


@dataclass(frozen=True)
class Done:
    """`error` is what a user sees on standard error."""

    code: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Plant = Callable[..., Done]


def plant(*arguments: object) -> Done:
    """Run it; a fault becomes its words and exit code 1, as `oasis.cli.main.main` does."""
    result = CliRunner().invoke(app, ["plant", *map(str, arguments)])
    if isinstance(result.exception, OasisError):
        return Done(1, result.stdout, f"{result.stderr}oasis: {result.exception}\n")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)
