"""Which server is meant, and how: `opc.tcp://[user@]host:port/path?security=Basic256Sha256`."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from oasis.errors import ToolFault

PORT = 4840
FORM = "Write opc.tcp://host:4840/path, such as opc.tcp://192.168.0.20:4840."
NONE = "None"
POLICIES = (NONE, "Basic256Sha256", "Aes128Sha256RsaOaep", "Aes256Sha256RsaPss")
"""Security policies that Oasis uses, weakest first. Basic128Rsa15 and Basic256 are broken and left out."""
MODES = ("SignAndEncrypt", "Sign")


@dataclass(frozen=True, slots=True)
class Address:
    """A server. `policy` is empty where the URL leaves the choice; `user` is empty for an anonymous session."""

    host: str
    port: int
    path: str
    user: str = ""
    policy: str = ""
    mode: str = MODES[0]

    @property
    def wire(self) -> str:
        """The URL that goes over the wire: no user, no options."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"opc.tcp://{host}:{self.port}{self.path}"

    @property
    def url(self) -> str:
        """The canonical URL, options included."""
        user = f"{quote(self.user)}@" if self.user else ""
        options = [f"security={self.policy}"] if self.policy else []
        options += [f"mode={self.mode}"] if self.mode != MODES[0] else []
        base = self.wire.replace("opc.tcp://", f"opc.tcp://{user}", 1)
        return f"{base}?{'&'.join(options)}" if options else base

    @property
    def variable(self) -> str:
        """Name of the environment variable with the password of this user on this server."""
        place = "".join(c if c.isascii() and c.isalnum() else "_" for c in f"{self.host}_{self.port}")
        return f"OASIS_OPCUA_PASSWORD_{place.upper()}"


def parse(url: str) -> Address:
    """The address that `url` names. Raises ToolFault; what it says never holds a password."""
    try:
        parts = urlsplit(url.strip())
        host, port, password = parts.hostname, parts.port, parts.password
    except ValueError as fault:
        raise ToolFault(f"This is not an OPC UA address: {fault}. {FORM}") from fault
    if parts.scheme.lower() != "opc.tcp" or not host:
        raise ToolFault(f"This is not an OPC UA address. {FORM}")
    policy, mode = _options(parts.query)
    address = Address(_host(host), port or PORT, parts.path.rstrip("/"), unquote(parts.username or ""), policy, mode)
    if password is not None:
        raise ToolFault(
            "The URL holds a password, and what is in a URL ends up in logs and conversations. Change the password if "
            f"others can read this, write opc.tcp://{quote(address.user)}@{address.wire[10:]} and put the password "
            f"into the environment variable {address.variable} before Oasis starts."
        )
    return address


def _host(host: str) -> str:
    """Addresses in their canonical spelling, names in small letters."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower()


def _options(query: str) -> tuple[str, str]:
    policy, mode = "", MODES[0]
    for name, value in parse_qsl(query, keep_blank_values=True):
        known = {p.lower(): p for p in (POLICIES if name == "security" else MODES)}
        if name not in ("security", "mode") or value.lower() not in known:
            raise ToolFault(
                f"{name}={value}"[:80] + " is no option of an OPC UA address. There are security= "
                f"({', '.join(POLICIES)}) and mode= ({', '.join(MODES)})."
            )
        if name == "security":
            policy = known[value.lower()]
        else:
            mode = known[value.lower()]
    return policy, mode
