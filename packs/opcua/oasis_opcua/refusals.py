"""What asyncua raises, as faults that say whether a request was refused, lost, or never sent."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from oasis.errors import ToolFault
from oasis_opcua import faults, trust
from oasis_opcua.address import Address
from oasis_opcua.untyped import status_name, ua

CONNECT_S = 5.0
"""How long a server may take to let itself be discovered."""
ANSWER_S = 20.0
"""How long it may take to answer a request of a session: thousands of nodes are seconds on a small controller."""
_DISTRUST = ("Certificate", "SecurityChecksFailed", "SecurityPolicyRejected")


class Refused(ToolFault):
    """The server answered a whole request with a status code, `code` by name."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Broken(ToolFault):
    """The connection broke, or no answer came, after a request was sent: whether it was carried out is not known."""


@contextmanager
def in_words(address: Address) -> Generator[None]:
    """Turn what asyncua raises into ToolFaults."""
    where = f"{address.host}:{address.port}"
    try:
        yield
    except ua.UaStatusCodeError as fault:
        name = status_name(fault.code)
        if any(part in name for part in _DISTRUST):
            raise Refused(trust.not_trusted_there(address, name), name) from fault
        if name in ("BadUserAccessDenied", "BadIdentityTokenRejected", "BadIdentityTokenInvalid") and address.user:
            raise Refused(
                f"{where} does not let {address.user!r} in ({name}): the name or the password is wrong (it is taken "
                f"from {address.variable} where that is set), or this user may not do that.",
                name,
            ) from fault
        if name in ("BadConnectionClosed", "BadSecureChannelClosed", "BadTimeout", "BadShutdown"):
            raise Broken(faults.lost(where)) from fault
        raise Refused(f"{where} refused the request: {faults.status(name)}.", name) from fault
    except TimeoutError as fault:
        raise Broken(faults.silent(where)) from fault
    except ConnectionRefusedError as fault:
        raise ToolFault(faults.unreachable(where)) from fault
    except (ConnectionError, EOFError) as fault:
        raise Broken(faults.lost(where)) from fault
    except OSError as fault:
        raise ToolFault(faults.unreachable(where)) from fault
    except ua.UaError as fault:
        raise ToolFault(f"{where} did not answer as an OPC UA server should: {fault}") from fault


def quiet() -> None:
    """asyncua logs lost connections and refusals; without a handler they would go to the user's terminal."""
    log = logging.getLogger("asyncua")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
        log.propagate = False
