"""A server's endpoints, and which of them is used."""

from dataclasses import dataclass
from typing import Any

from asyncua.client.client import Client
from asyncua.crypto import security_policies

from oasis.errors import ToolFault
from oasis_opcua import trust
from oasis_opcua.address import MODES, NONE, POLICIES, Address
from oasis_opcua.refusals import CONNECT_S, in_words, quiet
from oasis_opcua.texts import plain
from oasis_opcua.untyped import ua

POLICY = {
    "Basic256Sha256": security_policies.SecurityPolicyBasic256Sha256,
    "Aes128Sha256RsaOaep": security_policies.SecurityPolicyAes128Sha256RsaOaep,
    "Aes256Sha256RsaPss": security_policies.SecurityPolicyAes256Sha256RsaPss,
}
_NAMES = {kind.URI: name for name, kind in POLICY.items()} | {security_policies.SecurityPolicyNone.URI: NONE}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of a server's endpoints. `policy` is a name of address.POLICIES, or the server's URI for another; `chain` its
    certificate and those above it, as far as the server sends them."""

    url: str
    policy: str
    mode: str
    users: tuple[str, ...]
    chain: tuple[bytes, ...]
    level: int

    @property
    def is_usable(self) -> bool:
        return self.policy in POLICIES

    def __str__(self) -> str:
        secured = f"{self.policy} {self.mode}" if self.policy != NONE else "no security"
        return f"{secured}, users {' or '.join(self.users) or 'none'}"


@dataclass(frozen=True, slots=True)
class Server:
    """What a server says of itself when asked for its endpoints."""

    name: str
    application: str
    product: str
    endpoints: tuple[Endpoint, ...]


async def discovered(address: Address) -> Server:
    """What the server offers. Asked without security, as discovery is (Part 4, 5.5)."""
    quiet()
    client = Client(address.wire, timeout=CONNECT_S)
    with in_words(address):
        given: list[Any] = await client.connect_and_get_server_endpoints()
    endpoints = tuple(sorted((_endpoint(e) for e in given if _is_binary(e)), key=_strength))
    said = given[0].Server if given else ua.ApplicationDescription()
    return Server(plain(said.ApplicationName.Text), plain(said.ApplicationUri), plain(said.ProductUri), endpoints)


def _endpoint(given: Any) -> Endpoint:
    tokens = dict.fromkeys(token.TokenType.name for token in given.UserIdentityTokens or ())
    policy = _NAMES.get(given.SecurityPolicyUri) or plain(given.SecurityPolicyUri)
    chain = trust.split(given.ServerCertificate or b"")
    mode = given.SecurityMode.name.rstrip("_")
    return Endpoint(plain(given.EndpointUrl), policy, mode, tuple(tokens), chain, int(given.SecurityLevel))


def _is_binary(given: Any) -> bool:
    return str(given.EndpointUrl).startswith("opc.tcp://")


def _strength(endpoint: Endpoint) -> tuple[int, int]:
    policy = POLICIES.index(endpoint.policy) if endpoint.is_usable else -1
    return policy, MODES[::-1].index(endpoint.mode) if endpoint.mode in MODES else -1


def chosen(address: Address, server: Server) -> Endpoint:
    """The endpoint to use: what the URL says; else without security for anonymous sessions, where it is offered; else
    the strongest. With a user's name only an encrypted one."""
    where = f"{address.host}:{address.port}"
    wanted = address.policy or (NONE if not address.user else "")
    fits = [e for e in server.endpoints if e.is_usable and e.policy == wanted]
    if not address.policy and not fits:
        fits = [e for e in server.endpoints if e.is_usable]
    secure = [e for e in fits if e.policy == NONE or e.mode == address.mode]
    offered = "; ".join(str(e) for e in server.endpoints) or "none"
    if not secure:
        raise ToolFault(
            f"{where} offers no endpoint with {address.policy or 'a policy that Oasis uses'} ({address.mode}). "
            f"It offers: {offered}. Choose with ?security= in the URL; what is older than Basic256Sha256 is broken and "
            "is not used."
        )
    endpoint = secure[-1]
    if address.user and (endpoint.policy == NONE or endpoint.mode != "SignAndEncrypt"):
        raise ToolFault(
            f"A password would go to {where} without encryption. It offers: {offered}. Choose an encrypted endpoint "
            "with ?security= in the URL."
        )
    needed = "UserName" if address.user else "Anonymous"
    if needed not in endpoint.users:
        advice = (
            f"Write a user's name into the URL (opc.tcp://USER@{where}) and the password into {address.variable}."
            if "UserName" in endpoint.users
            else "Leave the user's name out of the URL."
        )
        raise ToolFault(f"{where} takes no {needed} session on this endpoint ({endpoint}). {advice}")
    return endpoint
