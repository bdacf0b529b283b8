"""Running the packaging line: a server on loopback, its process, its witness."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis_opcua import keys
from oasis_opcua.simulator import signals

if TYPE_CHECKING:
    from oasis_opcua.simulator.nodesets import Loaded
    from oasis_opcua.simulator.populate import Content
    from oasis_opcua.simulator.server import Limits, LineServer, Witness

STEP_S = 0.1
USER, PASSWORD = "engineer", "packs-500"


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong on purpose.

    unlimited        no operation limits: neither announced nor enforced
    untrusting       client certificates are refused until they are in `trusted`
    forwarded        the endpoints' URLs name a host that does not exist here, as behind a forwarded port
    secure_only      no endpoint without security
    password_only    no anonymous sessions
    reordered        namespaces registered in another order than usual
    lost_reply       writes and calls are carried out, and the connection is dropped instead of an answer
    other_identity   the server says that it is another build
    """

    unlimited: bool = False
    untrusting: bool = False
    forwarded: bool = False
    secure_only: bool = False
    password_only: bool = False
    reordered: bool = False
    lost_reply: bool = False
    other_identity: bool = False


@dataclass(slots=True)
class Line:
    """A line that runs. `url` has every endpoint that the faults leave; `trusted` is where the server looks for
    certificates it trusts; `loaded` is what came of the NodeSets."""

    url: str
    port: int
    witness: "Witness"
    trusted: Path
    certificate: Path
    content: "Content"
    server: "LineServer"
    loaded: "Loaded"


@asynccontextmanager
async def running_line(
    *,
    big: bool = False,
    nodesets: Sequence[Path] = (),
    faults: Faults = Faults(),
    limits: "Limits | None" = None,
    port: int = 0,
    folder: Path | None = None,
    speed: float = 1.0,
) -> AsyncGenerator[Line, None]:
    """Run the line on a loopback port (0: a free one).

    `big` adds 10,000 nodes; `nodesets` are NodeSet2 files in any order; `folder` keeps the server's key and what it
    trusts (default: one that goes with it); `speed` is the line's seconds in one, 0 holds it still. Raises ToolFault
    for a NodeSet that cannot be loaded.
    """
    _quiet()
    with contextlib.ExitStack() as stack:
        where = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oasis-line-")))
        line = await _made(where, port, big, nodesets, faults=faults, limits=limits)
        await line.server.start()
        line.port = line.server.port
        line.url = f"opc.tcp://127.0.0.1:{line.port}/line"
        running = asyncio.create_task(_run(line.content, speed))
        try:
            yield line
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            await line.server.stop()


async def _made(
    where: Path, port: int, is_big: bool, nodesets: Sequence[Path], *, faults: Faults, limits: "Limits | None"
) -> Line:
    """The line's server, filled and not started."""
    from oasis_opcua.simulator.build import Builder, announce  # noqa: PLC0415
    from oasis_opcua.simulator.nodesets import load  # noqa: PLC0415
    from oasis_opcua.simulator.populate import Content  # noqa: PLC0415
    from oasis_opcua.simulator.server import Limits, LineInternals, LineServer, Witness  # noqa: PLC0415

    limits = limits or (Limits(0, 0, 0, 0, 0, 0, 0, 100) if faults.unlimited else Limits())
    witness = Witness()
    server = LineServer(LineInternals(limits, witness, _Users(faults.password_only)))
    await server.init()
    await announce(server, limits)
    identity = keys.made(where, "line", signals.APPLICATION)
    trusted = where / "trusted"
    trusted.mkdir(parents=True, exist_ok=True)
    await _set_up(server, faults, identity, trusted, port)
    spaces = [signals.LINE, signals.MAINTENANCE]
    indexes = {uri: await server.register_namespace(uri) for uri in (reversed(spaces) if faults.reordered else spaces)}
    content = Content(server, Builder(server, indexes))
    await content.fill(is_big)
    loaded = await load(server, nodesets)
    return Line("", 0, witness, trusted, identity.certificate, content, server, loaded)


async def _set_up(server: "LineServer", faults: Faults, identity: keys.Identity, trusted: Path, port: int) -> None:
    """Name, endpoints, certificate."""
    from oasis_opcua.untyped import ua  # noqa: PLC0415

    host = "plc.inside.example" if faults.forwarded else "127.0.0.1"
    server.set_endpoint(f"opc.tcp://{host}:{4840 if faults.forwarded else port}/line")
    server.socket_address = ("127.0.0.1", port)
    server.set_match_discovery_endpoint_url(not faults.forwarded)
    server.set_match_discovery_client_ip(not faults.forwarded)
    server.set_server_name("Packaging line")
    await server.set_application_uri(signals.APPLICATION)
    server.internals.loses_replies = faults.lost_reply
    built = ("urn:oasis:simulator", "Oasis simulators", "Packaging line PL-500", "1.4.2")
    await server.set_build_info(*built, "119" if faults.other_identity else "118", signals.BUILT)
    await server.load_certificate(identity.certificate)
    await server.load_private_key(identity.key)
    kinds = ua.SecurityPolicyType
    open_ends = [] if faults.secure_only else [kinds.NoSecurity]
    server.set_security_policy([
        *open_ends,
        kinds.Basic256Sha256_SignAndEncrypt,
        kinds.Basic256Sha256_Sign,
        kinds.Aes128Sha256RsaOaep_SignAndEncrypt,
        kinds.Aes256Sha256RsaPss_SignAndEncrypt,
    ])  # fmt: skip
    tokens = [] if faults.password_only else [ua.AnonymousIdentityToken]
    server.set_identity_tokens([*tokens, ua.UserNameIdentityToken])
    if faults.untrusting:
        server.iserver.certificate_validator = _trusting(trusted)


def _trusting(trusted: Path) -> Any:
    """A check of client certificates: exactly those in the folder are good."""
    from asyncua.common.utils import ServiceError  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    from oasis_opcua.untyped import ua  # noqa: PLC0415

    async def check(certificate: Any, _description: Any) -> None:
        known = await asyncio.to_thread(_certificates, trusted)
        if certificate.public_bytes(Encoding.DER) not in known:
            raise ServiceError(ua.StatusCodes.BadCertificateUntrusted)

    return check


def _certificates(trusted: Path) -> set[bytes]:
    return {path.read_bytes() for path in trusted.glob("*.der")}


class _Users:
    """The line knows one user; whoever is let in reads and writes what the nodes allow."""

    def __init__(self, is_password_needed: bool) -> None:
        self._is_password_needed = is_password_needed

    def get_user(self, iserver: Any, username: Any = None, password: Any = None, certificate: Any = None) -> Any:
        from asyncua.crypto.permission_rules import User, UserRole  # noqa: PLC0415

        if username is None:
            return None if self._is_password_needed else User(role=UserRole.User, name="anonymous")
        return User(role=UserRole.User, name=USER) if (username, password) == (USER, PASSWORD) else None


async def _run(content: "Content", speed: float) -> None:
    clock = asyncio.get_running_loop().time
    last = clock()
    while True:
        await asyncio.sleep(STEP_S)
        now = clock()
        await content.step((now - last) * speed)
        last = now


def _quiet() -> None:
    """asyncua logs refusals and lost clients as errors; without a handler they would go to the user's terminal."""
    log = logging.getLogger("asyncua")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
        log.propagate = False
