"""Which points are meant: items of a URL, or tags of the site file, in the order in which they were named."""

import re
from collections.abc import Callable, Iterable, Mapping

from oasis.errors import ToolFault
from oasis.plant.driver import Driver
from oasis.plant.site import Tag
from oasis.plant.values import Point

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(text: str) -> bool:
    """Is it a device's address, and no item? An item may hold one (`nsu=http://vendor.example/ua;i=7`)."""
    return bool(_URL.match(text.strip()))


def grouped(
    connect: Callable[[str], Driver],
    tags: Mapping[str, Tag],
    named: Iterable[str],
    no_tag: Callable[[str], str],
    url: str = "",
) -> dict[str, list[Point]]:
    """The points of each endpoint by canonical URL. A tag's name stands for its endpoint and point wherever it stands.

    Other items belong to the URL before them, which may be `url`. A URL may be left without points. Raises ToolFault,
    in the words of `no_tag` for what is no tag and has no URL before it.
    """
    groups: dict[str, list[Point]] = {}
    for text in named:
        if is_url(text):
            url = connect(text).url
            groups.setdefault(url, [])
        elif tag := tags.get(text):
            groups.setdefault(connect(tag.url).url, []).append(tag.point)
        elif url:
            driver = connect(url)
            point = driver.point(text)
            groups.setdefault(driver.url, []).append(point)
        else:
            raise ToolFault(no_tag(text))
    return groups
