"""A slave as the master has configured it: pysoem's handle, and what is known of it."""

from typing import Any

from oasis_ethercat import process_map, sii
from oasis_ethercat.coe_types import DataType

_MOST_EMERGENCIES = 20


class Slave:
    """A configured slave. `counter` is what process data add to the working counter for it.

    `image` is its SII as it was read before initialising, None where it was not.
    """

    def __init__(self, position: int, handle: Any, image: sii.Image | None = None) -> None:
        self.position = position
        self.handle = handle
        self.image = image
        self.contents: sii.Contents | None = None
        self.map: process_map.ProcessMap | None = None
        self.kinds: dict[tuple[int, int], DataType] = {}
        """Types of objects, as a scan of the object dictionary found them."""
        self.is_outdated = False
        """Its PDOs were chosen anew after process data were mapped."""
        self.counter = 0
        self.output_shift = self.input_shift = 0
        self.emergencies: list[str] = []
        self.out_of_step: int | None = None
        """The object whose answer may still come: an SDO was given up."""

    def note(self, emergency: Any) -> None:
        """Keep an emergency that came in its mailbox."""
        self.emergencies.append(f"error code 0x{emergency.error_code:04X}, error register 0x{emergency.error_reg:02X}")
        del self.emergencies[:-_MOST_EMERGENCIES]

    @property
    def name(self) -> str:
        """The device's name; SOEM's own is bytes of any kind, which pysoem takes for UTF-8."""
        try:
            return self.contents.name if self.contents else str(self.handle.name)
        except UnicodeDecodeError:
            return ""

    @property
    def identity(self) -> sii.Identity:
        return sii.Identity(self.handle.man, self.handle.id, self.handle.rev, 0)

    def bytes(self, is_output: bool) -> int:
        """How many bytes its outputs or inputs take, bits rounded up; its process data are mapped."""
        assert self.map is not None  # noqa: S101 - mapped before
        return ((self.map.output_bits if is_output else self.map.input_bits) + 7) // 8
