"""An asyncua server that keeps its promises: operation limits, ranges, continuation points; and counts what it sees.

asyncua's own server announces operation limits without enforcing them, takes any value, and has no BrowseNext.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from asyncua.common.utils import Buffer, ServiceError
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.address_space import AttributeValue, NodeData
from asyncua.server.binary_server_asyncio import BinaryServer, OPCUAProtocol
from asyncua.server.internal_server import InternalServer
from asyncua.server.internal_session import InternalSession
from asyncua.server.server import Server
from asyncua.server.uaprocessor import UaProcessor

from oasis_opcua.untyped import from_binary, ua

BROWSE_NEXT = ua.NodeId(ua.ObjectIds.BrowseNextRequest_Encoding_DefaultBinary)


_MESSAGE = ua.MessageType.SecureMessage
NOBODY = User(role=UserRole.Anonymous)


@dataclass(frozen=True, slots=True)
class Limits:
    """Nodes in one request (OPC UA Part 5, 6.3.11), references in one reply, browses that may wait to be continued."""

    read: int = 100
    write: int = 20
    browse: int = 50
    call: int = 5
    history: int = 4
    monitored: int = 50
    references: int = 40
    continuations: int = 1


@dataclass(slots=True)
class Witness:
    """What the server saw from clients: nodes written and methods called, accepted or not; requests by service."""

    writes: int = 0
    calls: int = 0
    written: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    called: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list[tuple[str, tuple[Any, ...]]])
    requests: dict[str, int] = field(default_factory=dict[str, int])
    most_nodes: dict[str, int] = field(default_factory=dict[str, int])

    def saw(self, service: str, nodes: int) -> None:
        self.requests[service] = self.requests.get(service, 0) + 1
        self.most_nodes[service] = max(self.most_nodes.get(service, 0), nodes)


class LineSession(InternalSession):
    """A client's session with the limits of the line."""

    def __init__(self, server: "LineInternals", name: str, user: User, external: bool) -> None:
        super().__init__(server, server.aspace, server.subscription_service, name, user=user, external=external)
        self._line = server
        self._waiting: dict[bytes, list[Any]] = {}
        self._numbers = itertools.count(1)

    async def read(self, params: Any) -> list[Any]:
        self._admit("read", params.NodesToRead, self._line.limits.read)
        return await super().read(params)

    async def write(self, params: Any) -> list[Any]:
        nodes = params.NodesToWrite
        self._admit("write", nodes, self._line.limits.write)
        seen = self._line.witness
        seen.writes += len(nodes)
        results: list[Any] = []
        for node in nodes:
            value = node.Value.Value.Value if node.Value.Value else None
            seen.written.append((node.NodeId.to_string(), value))
            if self._is_out_of_range(node, value):
                results.append(ua.StatusCode(ua.StatusCodes.BadOutOfRange))
            elif (put := self._with_element(node) if node.IndexRange else node) is None:
                results.append(ua.StatusCode(ua.StatusCodes.BadIndexRangeNoData))
            else:
                results += await super().write(ua.WriteParameters(NodesToWrite=[put]))
        return results

    def _with_element(self, node: Any) -> Any:
        """A write of the whole array with the one element changed; None where there is no such element."""
        held: Any = self.aspace.read_attribute_value(node.NodeId, node.AttributeId).Value
        given = node.Value.Value
        index = int(node.IndexRange) if node.IndexRange.isdigit() else -1
        if held is None or not isinstance(held.Value, list) or held.VariantType != given.VariantType:
            return None
        ones = cast("list[Any]", held.Value)
        if not 0 <= index < len(ones) or not isinstance(given.Value, list):
            return None
        whole: list[Any] = [*ones[:index], *cast("list[Any]", given.Value), *ones[index + 1 :]]
        value = ua.DataValue(ua.Variant(whole, held.VariantType), SourceTimestamp=node.Value.SourceTimestamp)
        return ua.WriteValue(node.NodeId, node.AttributeId, None, value)

    async def call(self, params: list[Any]) -> list[Any]:
        self._admit("call", params, self._line.limits.call)
        seen = self._line.witness
        seen.calls += len(params)
        for method in params:
            values = tuple(argument.Value for argument in method.InputArguments or ())
            seen.called.append((method.MethodId.to_string(), values))
        return await super().call(params)

    async def history_read(self, params: Any) -> list[Any]:
        self._admit("history", params.NodesToRead, self._line.limits.history)
        return await super().history_read(params)

    async def create_monitored_items(self, params: Any) -> list[Any]:
        self._admit("monitored", params.ItemsToCreate, self._line.limits.monitored)
        return await super().create_monitored_items(params)

    async def browse(self, params: Any) -> list[Any]:
        self._admit("browse", params.NodesToBrowse, self._line.limits.browse)
        asked = params.RequestedMaxReferencesPerNode
        most = (
            min(n for n in (asked, self._line.limits.references) if n) if asked or self._line.limits.references else 0
        )
        return [self._portion(result, most) for result in await super().browse(params)]

    async def browse_next(self, parameters: Any) -> list[Any]:
        self._admit("browse next", parameters.ContinuationPoints, self._line.limits.browse)
        results: list[Any] = []
        for point in parameters.ContinuationPoints:
            references = self._waiting.pop(cast("bytes", point), None)
            if references is None:
                results.append(ua.BrowseResult(ua.StatusCode(ua.StatusCodes.BadContinuationPointInvalid)))
            elif parameters.ReleaseContinuationPoints:
                results.append(ua.BrowseResult())
            else:
                results.append(self._portion(ua.BrowseResult(References=references), self._line.limits.references))
        return results

    def _portion(self, result: Any, most: int) -> Any:
        """The first `most` references; the rest waits behind a continuation point, of which there are few."""
        references = result.References
        if not most or len(references) <= most:
            return result
        if len(self._waiting) >= self._line.limits.continuations:
            return ua.BrowseResult(ua.StatusCode(ua.StatusCodes.BadNoContinuationPoints))
        point = next(self._numbers).to_bytes(4, "big")
        self._waiting[point] = references[most:]
        return ua.BrowseResult(result.StatusCode, cast("Any", point), references[:most])

    def _admit(self, service: str, nodes: Sequence[Any], most: int) -> None:
        if not self.external:
            return
        self._line.witness.saw(service, len(nodes))
        if most and len(nodes) > most:
            raise ServiceError(ua.StatusCodes.BadTooManyOperations)

    def _is_out_of_range(self, node: Any, value: Any) -> bool:
        limits = self._line.ranges.get(node.NodeId)
        if limits is None or node.AttributeId != ua.AttributeIds.Value or not isinstance(value, int | float):
            return False
        return not limits[0] <= value <= limits[1]


_STANDARD: dict[Any, NodeData] = {}
"""OPC UA's own nodes as the first server of this process had them before anything was changed."""


def _copied(nodes: Any) -> dict[Any, NodeData]:
    """Nodes with attributes and references of their own; the values are replaced when written, and may be shared."""
    copies: dict[Any, NodeData] = {}
    for wire in nodes.keys():  # noqa: SIM118 (an address space is no mapping)
        copy = copies[wire] = NodeData(wire)
        copy.attributes = {name: AttributeValue(held.value) for name, held in nodes[wire].attributes.items()}
        copy.references = list(nodes[wire].references)
    return copies


class LineInternals(InternalServer):
    """What stands behind the sockets: sessions of the line, ranges of its variables (EURange), its witness."""

    def __init__(self, limits: Limits, witness: Witness, users: Any = None) -> None:
        super().__init__(user_manager=users)
        self.limits = limits
        self.witness = witness
        self.ranges: dict[Any, tuple[float, float]] = {}
        self.disabled_clock = True
        self.loses_replies = False

    async def load_standard_address_space(self, shelf_file: Path | None = None) -> None:
        """Fill in OPC UA's own nodes. asyncua builds them anew for each server, for seconds; here they are copied."""
        if not _STANDARD:
            await super().load_standard_address_space(shelf_file)
            _STANDARD.update(_copied(self.aspace))
            return
        for wire, node in _copied(_STANDARD).items():
            self.aspace[wire] = node

    def create_session(
        self,
        name: str,
        user: User = NOBODY,
        external: bool = False,
    ) -> InternalSession:
        return LineSession(self, name, user, external)


class _Processor(UaProcessor):
    """Adds BrowseNext (Part 4, 5.9.3), and loses replies where the line's faults say so."""

    def send_response(self, requesthandle: Any, seqhdr: Any, response: Any, msgtype: Any = _MESSAGE) -> None:
        internals = cast("LineInternals", self.iserver)
        if internals.loses_replies and isinstance(response, ua.WriteResponse | ua.CallResponse):
            self._transport.abort()
            return
        super().send_response(requesthandle, seqhdr, response, msgtype)

    async def _process_message(self, typeid: Any, requesthdr: Any, seqhdr: Any, body: Any) -> Any:
        if typeid != BROWSE_NEXT or self.session is None:
            return cast("Any", await super()._process_message(typeid, requesthdr, seqhdr, body))
        self.session.touch()
        parameters = from_binary(ua.BrowseNextParameters, cast("Buffer", body))
        response = ua.BrowseNextResponse()
        response.Parameters.Results = await self.session.browse_next(parameters)
        self.send_response(requesthdr.RequestHandle, seqhdr, response)
        return True


class _Protocol(OPCUAProtocol):
    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.processor is not None:
            self.processor = _Processor(self.iserver, transport, self.limits)
            self.processor.set_policies(self.policies)


class _Sockets(BinaryServer):
    def _make_protocol(self) -> OPCUAProtocol:
        return _Protocol(self.iserver, self._policies, self.clients, self.closing_tasks, self.limits)


class LineServer(Server):
    """asyncua's server on loopback, with the parts above. `port` is known once it is started."""

    def __init__(self, internals: LineInternals) -> None:
        super().__init__(iserver=internals)
        self.internals = internals
        self.port = 0

    async def start(self) -> None:
        await self._setup_server_nodes()
        await self.iserver.start()
        host, port = self._get_bind_socket_info()
        self.bserver = _Sockets(self.iserver, host or "127.0.0.1", port or 0, self.limits)
        self.bserver.set_policies(self._policies)
        try:
            await self.bserver.start()
        except OSError:
            await self.iserver.stop()
            raise
        self.port = self.bserver.port
