"""One connection to one server: endpoint chosen, channel secured, session open, namespaces and limits known."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from asyncua.client.client import Client
from asyncua.client.ua_client import UaClientState
from asyncua.crypto import uacrypto

from oasis.errors import ToolFault
from oasis.plant.driver import Budget
from oasis_opcua import faults, keys, password, quick, trust
from oasis_opcua.address import NONE, Address
from oasis_opcua.endpoints import POLICY, Endpoint, chosen, discovered
from oasis_opcua.items import BASE, Node
from oasis_opcua.nodes import from_wire, to_wire
from oasis_opcua.refusals import ANSWER_S, Broken, Refused, in_words
from oasis_opcua.texts import plain
from oasis_opcua.untyped import ua

MOST_IN_ONE = 1000
"""Nodes in one request where the server sets no limit."""
NAMESPACES = 2255
ALIVE_S = 10.0
"""How often an idle session asks for the server's state, which also keeps it open."""
SESSION_MS = 120_000
# Part 6, Annex A: nodes of Server.ServerCapabilities.OperationLimits
LIMITS = {"read": 11705, "write": 11707, "call": 11709, "browse": 11710, "monitored": 11714, "history": 12165}
_Answer = TypeVar("_Answer")


class Link:
    """A session. Made by `opened`; requests may be sent concurrently."""

    def __init__(self, address: Address, client: Client, endpoint: Endpoint) -> None:
        self.address = address
        self.endpoint = endpoint
        self.client = client
        self.session: Any = client.uaclient.session
        self.namespaces: tuple[str, ...] = ()
        self.limits: dict[str, int] = dict.fromkeys(LIMITS, MOST_IN_ONE)
        self.stated: dict[str, int] = {}
        self.places: dict[str, tuple[Any, Any]] = {}
        """What was read before: by the point's address its ReadValueId and what is known about it."""

    @property
    def is_open(self) -> bool:
        return self.client.uaclient.state is UaClientState.CONNECTED

    @property
    def where(self) -> str:
        return f"{self.address.host}:{self.address.port}"

    async def close(self) -> None:
        """Close session, channel and socket, whatever state they are in."""
        with contextlib.suppress(Exception):
            await self.client.disconnect()

    async def learn(self) -> None:
        """Read namespaces and operation limits; a limit of 0 or none at all is no limit (Part 5, 6.3.11)."""
        numbers = [NAMESPACES, *LIMITS.values()]
        asked = [ua.ReadValueId(NodeId=ua.NodeId(n), AttributeId=ua.AttributeIds.Value) for n in numbers]
        first, *values = await self.ask(self.session.read(_parameters(asked)))
        namespaces = tuple(str(uri) for uri in (first.Value.Value if first.Value else None) or (BASE,))
        if namespaces != self.namespaces:
            self.places.clear()
            self.namespaces = namespaces
        for name, data in zip(LIMITS, values, strict=True):
            stated = data.Value.Value if data.Value and data.StatusCode.is_good() else 0
            if isinstance(stated, int) and stated > 0:
                self.stated[name] = stated
                self.limits[name] = min(stated, MOST_IN_ONE)

    async def wire(self, node: Node) -> Any:
        """The node's id as this server writes it now. Raises ToolFault for a namespace that the server has not."""
        if node.uri not in self.namespaces:
            await self.learn()
        if node.uri not in self.namespaces:
            there = ", ".join(plain(uri) for uri in self.namespaces)[:600]
            raise ToolFault(f"{self.where} has no namespace {plain(node.uri)}. It has: {there}.")
        return to_wire(node, self.namespaces.index(node.uri))

    def node(self, wire: Any) -> Node:
        """The node that the server means by an id."""
        return from_wire(wire, self.namespaces)

    async def ask(self, request: Awaitable[_Answer]) -> _Answer:
        """Send one request. Raises Refused for a service fault and Broken where no answer came."""
        with in_words(self.address):
            return await request

    async def in_parts(
        self,
        service: str,
        asked: Sequence[Any],
        send: Callable[[Sequence[Any]], Awaitable[list[Any]]],
        budget: Budget | None = None,
    ) -> list[Any]:
        """The answers to what was asked, in order, in requests that the server's limits allow.

        Smaller ones are sent where the server turns one away as too large. Stops early when the budget is spent: there
        are then fewer answers than questions.
        """
        answers: list[Any] = []
        while len(answers) < len(asked):
            if budget is not None and not budget.spend():
                break
            part = asked[len(answers) : len(answers) + self.limits[service]]
            try:
                answers += await self.ask(send(part))
            except Refused as refused:
                if refused.code not in faults.TOO_MUCH or len(part) == 1:
                    raise
                self.limits[service] = len(part) // 2
        return answers

    async def read(self, wires: Sequence[Any], attribute: int, budget: Budget | None = None) -> list[Any]:
        """DataValues of one attribute of many nodes."""
        return await self.read_attributes([(wire, attribute) for wire in wires], budget)

    async def read_attributes(self, asked: Sequence[tuple[Any, int]], budget: Budget | None = None) -> list[Any]:
        """DataValues of pairs of node and attribute."""
        return await self.read_ids([ua.ReadValueId(NodeId=w, AttributeId=attribute) for w, attribute in asked], budget)

    async def read_ids(self, asked: Sequence[Any], budget: Budget | None = None) -> list[Any]:
        """DataValues of ReadValueIds."""

        async def send(part: Sequence[Any]) -> list[Any]:
            return await self.session.read(_parameters(part))

        return await self.in_parts("read", asked, send, budget)

    async def read_values(self, asked: Sequence[Any]) -> list[Any]:
        """The values of many nodes, asked for by their ReadValueIds: quick.Plain for good numbers, else DataValues."""

        async def send(part: Sequence[Any]) -> list[Any]:
            return await quick.read(self.session, _parameters(part))

        return await self.in_parts("read", asked, send)


def _parameters(asked: Sequence[Any]) -> Any:
    """A Read request with the time stamps of the sources (Part 4, 5.11.2)."""
    return ua.ReadParameters(TimestampsToReturn=ua.TimestampsToReturn.Source, NodesToRead=list(asked))


async def opened(address: Address, typed: dict[str, str]) -> Link:
    """A session with the server. Raises ToolFault with what to do about it.

    `typed` holds the password that a person typed for this address, if any: one that works is not asked for again.
    """
    server = await discovered(address)
    endpoint = chosen(address, server)
    client = Client(address.wire, timeout=ANSWER_S, watchdog_intervall=ALIVE_S)
    client.session_timeout = SESSION_MS
    client.name = client.description = "Oasis"
    client.application_uri, client.product_uri = keys.APPLICATION, keys.APPLICATION
    if endpoint.policy != NONE:
        trust.check(address, endpoint.chain)
        await _secure(client, endpoint)
    if address.user:
        client.set_user(address.user)
        known = password.known(address)
        secret = known if known is not None else typed.pop(address.user, None) or password.asked(address)
        client.set_password(secret)
        await _connect(client, address, endpoint)
        typed[address.user] = secret
    else:
        await _connect(client, address, endpoint)
    link = Link(address, client, endpoint)
    try:
        await link.learn()
    except BaseException:
        await link.close()
        raise
    return link


async def _connect(client: Client, address: Address, endpoint: Endpoint) -> None:
    """Open channel and session. A server that refuses the channel often says nothing, or what asyncua cannot read."""
    try:
        with in_words(address):
            await client.connect()
    except (Broken, AssertionError) as fault:  # asyncua 2.1 asserts on a ServiceFault in reply to OpenSecureChannel
        if endpoint.policy == NONE:
            raise
        said = "most likely: it refused the encrypted channel without saying why"
        raise Refused(trust.not_trusted_there(address, said), "BadSecurityChecksFailed") from fault


async def _secure(client: Client, endpoint: Endpoint) -> None:
    own = await asyncio.to_thread(keys.own)
    await client.set_security(
        POLICY[endpoint.policy],
        own.certificate,
        own.key,
        server_certificate=uacrypto.CertProperties(endpoint.chain[0], "der"),
        mode=getattr(ua.MessageSecurityMode, endpoint.mode),
    )
