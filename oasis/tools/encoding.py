"""Bytes of a file as text that can be edited without touching any other byte.

Engineering tools write UTF-8 with and without a byte-order mark, UTF-16 (Rockwell, Siemens exports) and
Windows-1252. The text shown is one character for each decoded one, so a position in it leads back to a byte.
"""

import codecs
from dataclasses import dataclass

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252
# A byte that is not UTF-8 is decoded to U+DC80..U+DCFF (PEP 383) and shown as Windows-1252 would.
_STRAY = {0xDC00 + b: chr(b) if b in _UNDEFINED else bytes([b]).decode("cp1252") for b in range(0x80, 0x100)}
_TEXT_CONTROLS = b"\t\n\r\f\x0b\x08\x1b\x1a"


@dataclass(frozen=True, slots=True)
class Form:
    """How a file spells text: `codec` and the byte-order mark it begins with (empty for none)."""

    codec: str
    bom: bytes = b""

    @property
    def name(self) -> str:
        name = NAMES.get(self.codec) or self.codec.upper()
        return f"{name} with byte-order mark" if self.bom and self.codec == "utf-8" else name

    def decode(self, data: bytes) -> str:
        """The text of `data`, which has no byte-order mark any more; never fails, see `encode`."""
        if self.codec.startswith("utf-16"):
            data = data[: len(data) // 2 * 2]
        if self.codec.startswith("utf-32"):
            data = data[: len(data) // 4 * 4]
        return data.decode(self.codec, self._errors)

    def encode(self, text: str) -> bytes:
        """The bytes of `text`: the inverse of `decode`. Raises UnicodeEncodeError for what the codec has not."""
        return text.encode(self.codec, self._errors)

    @property
    def _errors(self) -> str:
        return "surrogateescape" if self.codec == "utf-8" else "surrogatepass" if self.codec[:3] == "utf" else "strict"


UTF8 = Form("utf-8")


def detect(data: bytes) -> Form | None:
    """The form of a file that begins with `data`, None when it is not text."""
    for bom, codec in BOMS:
        if data.startswith(bom):
            form = Form(codec, bom)
            return form if codec != "utf-32-le" or _is_utf32(data) else Form("utf-16-le", codecs.BOM_UTF16_LE)
    if b"\0" in data:
        return _utf16_without_mark(data)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as fault:
        if fault.end == len(data) and fault.reason == "unexpected end of data" and len(data) >= 1 << 16:
            return UTF8
        return _single_bytes(data)
    return UTF8 if _is_printable(data) else None


def shown(text: str) -> str:
    """`text` with each stray byte as the Windows-1252 character it would be; the length stays."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_STRAY)
    return text


def _is_utf32(data: bytes) -> bool:
    try:
        data[4 : 4 + 4096].decode("utf-32-le")
    except UnicodeDecodeError:
        return False
    return True


def _is_printable(data: bytes) -> bool:
    sample = data[: 1 << 16]
    controls = sum(sample.count(bytes([b])) for b in range(32) if b not in _TEXT_CONTROLS)
    return controls * 50 <= len(sample)


def _utf16_without_mark(data: bytes) -> Form | None:
    """UTF-16 when nearly all NULs are in the high bytes of its code units."""
    sample = data[: 1 << 16]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    for codec, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if half and zeros * 2 > half and others == 0:
            try:
                text = sample[: half * 2].decode(codec)
            except UnicodeDecodeError:
                continue
            if not any(c < " " and c not in "\t\n\r\f" for c in text):
                return Form(codec)
    return None


def _single_bytes(data: bytes) -> Form | None:
    """UTF-8 with stray bytes when it has more UTF-8 sequences than strays, otherwise one byte a character."""
    if not _is_printable(data):
        return None
    text = data.decode("utf-8", "surrogateescape")
    strays = sum(text.count(chr(code)) for code in _STRAY)
    sequences = sum(1 for c in text if c > "\x7f") - strays
    if sequences > strays:
        return UTF8
    undefined = any(bytes([b]) in data for b in _UNDEFINED)
    return Form("latin-1" if undefined else "cp1252")
