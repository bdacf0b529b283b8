"""A site file's tags as a list: what the plant's documents call its signal list."""

from oasis.plant.limits import shown
from oasis.plant.site import Site, Tag
from oasis.plant.values import Value, spelled

HEADINGS = (
    "Tag", "Endpoint", "Address", "Type", "Order", "Scale", "Offset", "Unit", "Written", "Least", "Most", "Step",
    "A minute", "Values", "Safe", "Unattended", "URL",
)  # fmt: skip


def cells_of(site: Site, tag: Tag) -> tuple[str, ...]:
    """The tag's texts, in the order of HEADINGS; empty where the site file says nothing."""
    form = tag.point.form
    endpoint = next((name for name, url in site.endpoints.items() if url == tag.url), "")
    scale = "" if form.scale == 1.0 else spelled(form.scale)
    offset = "" if form.offset == 0.0 else spelled(form.offset)
    limits = [_text(tag, limit) for limit in (tag.min, tag.max, tag.max_step, tag.rate)]
    choices = ", ".join(_text(tag, choice) for choice in tag.choices)
    what = (tag.name, endpoint, tag.point.address, form.type, form.order, scale, offset, form.unit)
    written = ("yes" if tag.is_writable else "", *limits, choices, _text(tag, tag.safe))
    return (*what, *written, "yes" if tag.is_unattended else "", tag.url)


def _text(tag: Tag, value: Value | None) -> str:
    return "" if value is None else shown(tag.point.form, value)
