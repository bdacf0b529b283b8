"""The site file, read: TOML that the user wrote, pinned by its digest. A fault anywhere, and none of it is used."""

import hashlib
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from oasis.errors import ConfigError
from oasis.plant.site import Site, Tag
from oasis.plant.site_endpoints import FindDriver, endpoints_of
from oasis.plant.site_findings import Finding, Seen
from oasis.plant.site_lines import Path as Keys
from oasis.plant.site_lines import lines_of
from oasis.plant.site_overlaps import WrittenCells
from oasis.plant.site_tags import tag_of

MOST_BYTES = 1 << 20
_MOST_SHOWN = 50
_ROOT = {"site": (dict,), "endpoints": (dict,), "tags": (dict,)}
_SITE = {"name": (str,)}
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def load(path: Path, find_driver: FindDriver) -> Site:
    """The site file's endpoints and tags. Raises ConfigError with all its faults, each with its line."""
    site, findings = _examined(path, find_driver)
    faults = [finding for finding in findings if finding.is_error]
    if site is None or faults:
        lines = "\n".join(
            f"  line {fault.line}: {fault.text}" if fault.line else f"  {fault.text}" for fault in faults[:_MOST_SHOWN]
        )
        more = f"\n  and {len(faults) - _MOST_SHOWN} more faults" if len(faults) > _MOST_SHOWN else ""
        raise ConfigError(
            f"The site file {path} is not used, and nothing can be written:\n{lines}{more}\nMend it, then start again."
        )
    return site


def check(path: Path, find_driver: FindDriver) -> list[Finding]:
    """What is to be said about a site file, in the order of its lines; without an error in it, it can be loaded."""
    try:
        return _examined(path, find_driver)[1]
    except ConfigError as fault:
        return [Finding(0, str(fault))]


def changed(site: Site) -> str:
    """Why the file on disk is not the one that was loaded, empty while it is."""
    try:
        data = _bytes(site.path)
    except ConfigError as fault:
        return str(fault)
    if hashlib.sha256(data).hexdigest() != site.digest:
        return f"The site file {site.path} was changed since this session began."
    return ""


def _bytes(path: Path) -> bytes:
    """The file's bytes. Raises ConfigError for what is no plain file of a reasonable size."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise ConfigError(f"The site file {path} is a link; name the file it leads to, {path.resolve()}.")
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no plain file"
            raise ConfigError(f"The site file {path} is {what}; name a TOML file.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:  # the last: a link to itself
        said = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"The site file {path} cannot be read: {said}.") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(f"The site file {path} is larger than {MOST_BYTES >> 20} MiB; that is no site file.")
    return data


def _examined(path: Path, find_driver: FindDriver) -> tuple[Site | None, list[Finding]]:
    data = _bytes(path)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return None, [Finding(line, "this is not UTF-8 text; save the file as UTF-8")]
    parsed = _parsed(text)
    if isinstance(parsed, Finding):
        return None, [parsed]
    document, lines = parsed
    seen = Seen(lines)
    site = _site(seen, document, path, hashlib.sha256(data).hexdigest(), find_driver)
    return site, sorted(seen.findings, key=lambda finding: finding.line)


def _parsed(text: str) -> tuple[dict[str, Any], dict[Keys, int]] | Finding:
    """The document and the line of each of its keys, or what is wrong with it."""
    try:
        document = tomllib.loads(text)
        lines = lines_of(text)
    except tomllib.TOMLDecodeError as error:
        return _syntax(str(error), text)
    except (ConfigError, ValueError) as error:
        return Finding(0, f"the file cannot be followed: {error}")
    except RecursionError:
        return Finding(0, "tables or lists are nested too deeply; a site file needs no such depth")
    if _keys(document) != {path for path in lines if all(isinstance(key, str) for key in path)}:
        return Finding(0, "some keys cannot be located; write tables as [tags.NAME] with one key a line")
    return document, lines


def _syntax(said: str, text: str) -> Finding:
    found = _AT_LINE.search(said)
    line = int(found[1]) if found else text.count("\n") + 1
    said = _AT_LINE.sub("", said).replace("(at end of document)", "at the end of the file").strip()
    if re.search(r"overwrite|twice|[Mm]utate|already|[Rr]edefine", said):
        return Finding(line, f"a table or key stands here a second time ({said}); keep one of them")
    return Finding(line, f"this is no TOML: {said}")


def _keys(table: Mapping[str, Any], above: Keys = ()) -> set[Keys]:
    """The path of each key of the document that stands in tables only."""
    keys: set[Keys] = set()
    for key, value in table.items():
        keys.add((*above, key))
        if isinstance(value, dict):
            keys |= _keys(cast(dict[str, Any], value), (*above, key))
    return keys


def _site(seen: Seen, document: dict[str, Any], path: Path, digest: str, find_driver: FindDriver) -> Site | None:
    for key in document.keys() - _ROOT.keys():
        seen.table((), {key: None}, _ROOT)
    about = seen.table(("site",), document.get("site", {}), _SITE)
    if not about.get("name"):
        seen.say(("site",), '`name` of [site] is missing: [site] name = "..."')
    endpoints = endpoints_of(seen, document.get("endpoints", {}), find_driver)
    drivers = {name: endpoint.driver if endpoint else None for name, endpoint in endpoints.items()}
    tags: dict[str, Tag] = {}
    written = WrittenCells(seen)
    for name, value in seen.named(("tags",), document.get("tags", {}), "tag").items():
        tag = tag_of(seen, name, value, drivers)
        endpoint = endpoints[value["endpoint"]] if tag else None
        if tag and endpoint and not written.overlaps(tag, endpoint):
            tags[name] = tag
    _hint(seen, tags)
    if seen.faults:
        return None
    good = {name: endpoint for name, endpoint in endpoints.items() if endpoint}
    urls = {name: endpoint.driver.url for name, endpoint in good.items()}
    identities = {endpoint.driver.url: endpoint.identity for endpoint in good.values() if endpoint.identity}
    return Site(path, digest, about["name"], urls, tags, identities)


def _hint(seen: Seen, tags: Mapping[str, Tag]) -> None:
    """What is allowed and yet worth a look."""
    for tag in tags.values():
        if tag.is_unattended:
            seen.say(("tags", tag.name, "unattended"), f"{tag.name} is written without anybody asked", is_error=False)
        if tag.is_writable and not tag.point.form.unit and tag.max_step is not None:
            seen.say(("tags", tag.name), f"{tag.name} has no unit; limits are easier to check with one", is_error=False)
