"""One question to a model, its whole reply."""

from contextlib import aclosing

from oasis.core.transcript import Request
from oasis.errors import ServerUnreachable
from oasis.models.base import Model, Reply, Sampling


async def ask(model: Model, request: Request, sampling: Sampling | None = None) -> Reply:
    """Stream the request to its end. Raises what the model's stream raises, ServerUnreachable where no reply came."""
    async with aclosing(model.stream(request, sampling or Sampling())) as parts:
        async for part in parts:
            if isinstance(part, Reply):
                return part
    raise ServerUnreachable("The server ended the stream without a reply.")
