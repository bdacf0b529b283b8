"""A site file's endpoints, examined: each has a URL that a pack understands, and no device is reached unseen by two."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from oasis.errors import OasisError
from oasis.plant.driver import Driver
from oasis.plant.places import device_of
from oasis.plant.site_findings import Seen, near
from oasis.plant.values import spelled

FindDriver = Callable[[str], Driver]
"""The driver for a URL; raises an OasisError where no pack has one. Nothing is sent by making it."""
_KEYS = {"url": (str,), "identity": (str,), "same_as": (str,)}
_SECRETS = re.compile(r"pass(word|wd|phrase)?|secret|token|api_?key|pin", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`device` is the name of the first endpoint of the same device; `identity` empty where any will do."""

    driver: Driver
    device: str
    identity: str


def endpoints_of(seen: Seen, value: object, find_driver: FindDriver) -> dict[str, Endpoint | None]:
    """The endpoints by name, None for one with a fault."""
    named = seen.named(("endpoints",), value, "endpoint")
    if not named:
        seen.say(("endpoints",), "there is no endpoint: [endpoints.NAME] with `url`")
    found: dict[str, Endpoint | None] = {}
    for name, given in named.items():
        found[name] = _endpoint(seen, name, given, find_driver, found)
    return found


def _endpoint(
    seen: Seen, name: str, value: object, find_driver: FindDriver, others: Mapping[str, Endpoint | None]
) -> Endpoint | None:
    path = ("endpoints", name)
    given = seen.table(path, value, _KEYS)
    url = given.get("url", "")
    if not url:
        seen.say(path, f"`url` of the endpoint {name} is missing")
        return None
    if why := _secret(url):
        seen.say((*path, "url"), why)
        return None
    try:
        driver = find_driver(url)
    except OasisError as fault:
        seen.say((*path, "url"), f"the URL of {name} cannot be used: {fault}")
        return None
    there = {other: end for other, end in others.items() if end}
    if same := next((other for other, end in there.items() if device_of(end.driver.url) == device_of(driver.url)), ""):
        seen.say((*path, "url"), f"the endpoints {same} and {name} are the same, {driver.url}")
        return None
    device = name
    if "same_as" in given:
        first = _same_as(seen, name, given["same_as"], driver, others)
        if first is None:
            return None
        device = first.device
    endpoint = Endpoint(driver, device, given.get("identity", ""))
    _hint(seen, name, endpoint, there)
    return endpoint


def _same_as(
    seen: Seen, name: str, other: str, driver: Driver, others: Mapping[str, Endpoint | None]
) -> Endpoint | None:
    """The endpoint above that reaches the same device; None where there is a fault."""
    path = ("endpoints", name, "same_as")
    if other not in others:
        seen.say(
            path,
            f"`same_as` is to name an endpoint above this one, and {spelled(other)} is none. {near(other, others)}",
        )
        return None
    first = others[other]
    if first and type(first.driver) is not type(driver):
        seen.say(
            path,
            f"{name} and {other} are spoken to by two protocols, so what their tags write cannot be compared: leave "
            "`same_as` out, and let each thing be written through one of them only",
        )
        return None
    return first


def _hint(seen: Seen, name: str, endpoint: Endpoint, others: Mapping[str, Endpoint]) -> None:
    """Say where two endpoints may be one device that is not said to be."""
    like = next((n for n, e in others.items() if endpoint.identity and e.identity == endpoint.identity), "")
    if like and others[like].device != endpoint.device:
        seen.say(
            ("endpoints", name, "identity"),
            f"{like} and {name} say they are the same; if they are one device reached in two ways, add "
            f'`same_as = "{like}"`, so that no two tags write the same unseen',
            is_error=False,
        )


def _secret(url: str) -> str:
    """Why the URL holds what belongs elsewhere, empty where it does not."""
    try:
        parts = urlsplit(url)
        keys = [key for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError as error:
        return f"{spelled(url[:100])} is no URL: {error}"
    if parts.password is not None or any(_SECRETS.fullmatch(key) for key in keys):
        return "the URL holds a password; a site file is shown and passed on, so leave it out"
    return ""
