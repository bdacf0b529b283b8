"""Process data as bytes: the entries of a direction's PDOs packed bit by bit, first entry in the lowest bit."""

from collections.abc import Mapping

from oasis_ethercat.coe_types import Value
from oasis_ethercat.simulator.device import Pdo, bits_of
from oasis_ethercat.simulator.objects import Objects


class ProcessImage:
    """Between the object dictionary's values and one sync manager's bytes.

    `keys` are the objects mapped, in order, without padding.
    """

    def __init__(self, pdos: tuple[Pdo, ...]) -> None:
        self.bytes = (bits_of(pdos) + 7) // 8
        self._places: list[tuple[tuple[int, int], int, int, int]] = []
        """(object, shift, mask, sign bit or 0)"""
        shift = 0
        for entry in (entry for pdo in pdos for entry in pdo.entries):
            if entry.index:
                sign = 1 << entry.kind.bits - 1 if entry.kind.is_signed else 0
                self._places.append(((entry.index, entry.subindex), shift, (1 << entry.kind.bits) - 1, sign))
            shift += entry.kind.bits
        self.keys = [place[0] for place in self._places]

    def pack(self, values: Mapping[tuple[int, int], Value]) -> bytes:
        """The bytes of the values."""
        image = 0
        for key, shift, mask, _ in self._places:
            image |= (int(values[key]) & mask) << shift
        return image.to_bytes(self.bytes, "little")

    def unpack(self, data: bytes, objects: Objects) -> None:
        """Put the values that the bytes hold into the object dictionary."""
        image = int.from_bytes(data, "little")
        for key, shift, mask, sign in self._places:
            number = image >> shift & mask
            objects.values[key] = number - (sign << 1) if number & sign else number
