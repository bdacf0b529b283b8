"""A rendering split into markup and text from outside."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oasis.dialect.marks import MARK, common_end, common_start


class Part(NamedTuple):
    """A stretch of the prompt. Content comes from outside and is tokenised without special tokens."""

    text: str
    is_content: bool


class Masks:
    """Stand-ins for the marks in text from outside, so that a rendering shows where that text went.

    One private-use character per mark; `texts` gives back what each stands for.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """The text with each mark-like stretch as one private-use character."""
        return MARK.sub(lambda match: self._mask(match.group()), text)

    def _mask(self, mark: str) -> str:
        if mark not in self._known:
            mask = chr(0xE000 + len(self._known) % 0x1900)
            self._known[mark] = mask
            self.texts[mask] = mark
        return self._known[mark]


def split(masked: str, texts: Mapping[str, str], real: str) -> list[Part]:
    """Split `real` where `masked`, the same rendering with stand-ins, holds a stand-in.

    texts   stand-in to the text from outside; templates may trim it or write it as JSON.
    What cannot be followed is content as a whole, from the first difference to the last.
    """
    if masked == real and not any(stand_in in masked for stand_in in texts):
        return merged([Part(real, False)])
    pieces = list(_cut(masked, texts))
    parts = _follow(pieces, texts, real)
    if parts is None:
        parts = _whole(masked, texts, real)
    return merged(parts)


def _cut(masked: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Markup and the stand-in after it, in turn; the last stand-in is empty."""
    start = 0
    while True:
        found = [(at, s) for s in texts if (at := masked.find(s, start)) >= 0]
        if not found:
            yield masked[start:], ""
            return
        at, stand_in = min(found)
        yield masked[start:at], stand_in
        start = at + len(stand_in)


def _follow(pieces: list[tuple[str, str]], texts: Mapping[str, str], real: str) -> list[Part] | None:
    """Walk `real` along the pieces, taking for each text the form in which the next markup follows."""
    parts: list[Part] = []
    at = 0
    for i, (markup, stand_in) in enumerate(pieces):
        if not real.startswith(markup, at):
            return None
        parts.append(Part(markup, False))
        at += len(markup)
        if not stand_in:
            continue
        following = pieces[i + 1][0]
        is_last = not pieces[i + 1][1]
        for form in _forms(texts[stand_in]):
            end = at + len(form)
            if not real.startswith(form, at):
                continue
            if real[end:] == following if is_last else real.startswith(following, end):
                parts.append(Part(form, True))
                at = end
                break
        else:
            return None
    return parts if at == len(real) else None


def _forms(text: str) -> list[str]:
    """What a template may make of a text."""
    forms = [text, text.strip(), text.rstrip(), text.lstrip(), text.strip("\n"), text.rstrip("\n"), text.lstrip("\n")]
    forms += [json.dumps(f, ensure_ascii=a)[1:-1] for f in forms[:4] for a in (False, True)]
    return list(dict.fromkeys(forms))


def _whole(masked: str, texts: Mapping[str, str], real: str) -> list[Part]:
    """Everything between what both begin and both end with is content; blank texts bring none."""
    if not any(text.strip() for text in texts.values()):
        return [Part(real, False)]
    start = common_start(masked, real)
    end = min(common_end(masked, real), len(real) - start)
    middle = real[start : len(real) - end]
    return [Part(real[:start], False), Part(middle, True), Part(real[len(real) - end :], False)]


def merged(parts: list[Part]) -> list[Part]:
    """Without empty parts; neighbours of one kind are one part."""
    made: list[Part] = []
    for part in parts:
        if made and part.text and made[-1].is_content == part.is_content:
            made[-1] = Part(made[-1].text + part.text, part.is_content)
        elif part.text:
            made.append(part)
    return made


def after(parts: list[Part], length: int) -> list[Part]:
    """The parts without their first `length` characters."""
    made: list[Part] = []
    for part in parts:
        if length >= len(part.text):
            length -= len(part.text)
            continue
        made.append(Part(part.text[length:], part.is_content))
        length = 0
    return made


def text_of(parts: list[Part]) -> str:
    return "".join(part.text for part in parts)
