"""Modbus for Oasis: read registers and coils of devices over TCP."""

from collections.abc import Sequence
from importlib.resources import files

from oasis.core.pack import Pack
from oasis.core.tool import Tool


def _tools() -> Sequence[Tool]:
    from oasis_modbus import read  # noqa: PLC0415

    return (read.tool(),)


PACK = Pack("modbus", _tools, files(__name__) / "skills")
