"""What a command wrote, made fit to send: no colours, no NUL, its head and its tail."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oasis.tools import encoding
from oasis.tools.clip import MAX_CHARS
from oasis.tools.encoding import UTF8, Form

HEAD_CHARS = 6_000
TAIL_CHARS = MAX_CHARS - HEAD_CHARS
_BLOCK_BYTES = 1 << 20
# ECMA-48: control sequences (CSI), strings up to BEL or ST (OSC, DCS, SOS, PM, APC), other two-byte escapes.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]*[0-~])?")
_OVERWRITTEN = re.compile(r"[^\n\r]*\r(?=[^\n\r])")
_PLAIN = bytes(b for b in range(0x80) if (b >= 0x20 and b != 0x7F) or b in b"\t\n")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(slots=True)
class Lost:
    """How much of what a command wrote is not sent."""

    colours: int = 0
    nuls: int = 0
    controls: int = 0
    overwritten: int = 0
    strays: int = 0

    def notes(self) -> list[str]:
        spelled = (
            (self.colours, "colour and cursor codes removed"),
            (self.nuls, f"{self.nuls} NUL left out"),
            (self.controls, f"{self.controls} control characters left out"),
            (self.overwritten, "lines that were overwritten left out"),
            (self.strays, f"{self.strays} bytes that are not UTF-8 shown as Windows-1252"),
        )
        return [note for count, note in spelled if count]


def cleaned(raw: Path, clean: Path) -> tuple[int, Lost]:
    """Write the text of `raw` to `clean` as UTF-8; how many characters, and what was lost."""
    lost, count = Lost(), 0
    with clean.open("w", encoding="utf-8", newline="\n") as out:
        for text in _texts(raw):
            kept = _clean(text, lost)
            count += len(kept)
            out.write(kept)
    return count, lost


def ends(clean: Path, chars: int) -> tuple[str, str]:
    """Head and tail of a clean file of `chars` characters; all of it in the head when it is short."""
    with clean.open(encoding="utf-8", newline="") as file:
        if chars <= MAX_CHARS:
            return file.read(), ""
        head = file.read(HEAD_CHARS)
    with clean.open("rb") as file:
        file.seek(max(0, clean.stat().st_size - 4 * TAIL_CHARS))
        tail = file.read().decode("utf-8", "ignore")[-TAIL_CHARS:]
    return head, tail


def _texts(raw: Path) -> Iterator[str]:
    """The decoded text in blocks that end with a line where a line is not longer than a block."""
    with raw.open("rb") as file:
        form = _form(file.read(1 << 16))
        errors = "surrogateescape" if form is UTF8 else "replace"
        decode = codecs.getincrementaldecoder(form.codec)(errors).decode
        file.seek(len(form.bom))
        rest = ""
        while data := file.read(_BLOCK_BYTES):
            text = rest + decode(data)
            cut = text.rfind("\n") + 1 or (len(text) if len(text) > 4 * _BLOCK_BYTES else 0)
            yield text[:cut]
            rest = text[cut:]
        yield rest + decode(b"", final=True)


def _form(sample: bytes) -> Form:
    """UTF-16 where it says so or is nothing else, otherwise UTF-8, with stray bytes."""
    form = encoding.detect(sample)
    return form if form and form.codec.startswith("utf-16") else UTF8


def _clean(text: str, lost: Lost) -> str:
    text = text.replace("\r\n", "\n") if "\r" in text else text
    if not text.encode("utf-8", "surrogatepass").translate(None, _PLAIN):
        return text
    text, count = _ESCAPE.subn("", text)
    lost.colours += count
    lost.nuls += text.count("\0")
    text = text.replace("\0", "")
    if "\r" in text:
        text, count = _OVERWRITTEN.subn("", text)
        lost.overwritten += count
        text = text.replace("\r", "")
    text, count = _CONTROL.subn("", text)
    lost.controls += count
    known = encoding.shown(text)
    if known is not text:
        lost.strays += sum(1 for c in text if "\udc80" <= c <= "\udcff")
    return known
