"""pysoem, imported when it is first used."""

from importlib import import_module
from typing import Any

from oasis.errors import ToolFault


def pysoem() -> Any:
    """The library. Raises ToolFault where it is not installed or cannot be loaded."""
    try:
        return import_module("pysoem")
    except ImportError as fault:
        raise ToolFault(
            f"EtherCAT needs the library pysoem, and it cannot be loaded ({fault}). Install it: "
            "pip install 'oasis-agent[ethercat]'. On Windows it needs Npcap as well. On Linux a scan works without it."
        ) from fault
