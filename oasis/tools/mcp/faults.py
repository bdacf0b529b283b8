"""The SDK's faults in words."""

from typing import cast

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError


def words(error: BaseException) -> str:
    """What went wrong, for a person."""
    leaf = _leaf(error)
    if isinstance(leaf, FileNotFoundError):
        return "there is no such program"
    if isinstance(leaf, OSError) and leaf.strerror:
        return leaf.strerror
    if isinstance(leaf, ValidationError):
        return "its answer is not what the protocol says"
    return str(leaf) or type(leaf).__name__


def is_closed(error: BaseException) -> bool:
    """Did the connection end under a request?"""
    leaf = _leaf(error)
    return isinstance(leaf, MCPError) and leaf.code == types.CONNECTION_CLOSED


def _leaf(error: BaseException) -> BaseException:
    """The first fault inside the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
