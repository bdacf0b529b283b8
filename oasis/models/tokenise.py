"""From a dialect's parts to token ids: markup with control tokens, content without."""

from collections.abc import Sequence
from itertools import pairwise

from oasis.dialect.dialect import Part
from oasis.engine.llama import LlamaClient


class Tokeniser:
    """Ids of parts, by the server's own tokeniser.

    Where no content holds the text of a control token the parts are tokenised as one text, so that the ids are
    those of the template's own rendering. Otherwise each part is tokenised apart, content without control tokens
    and broken inside every mark, and the ids may differ from the whole at the parts' borders
    (`oasis dialect --server` counts them).
    """

    def __init__(self, client: LlamaClient, marks: Sequence[str]) -> None:
        self._client = client
        self._marks = sorted(marks, key=len, reverse=True)
        self._mark_ids: frozenset[int] | None = None

    async def ids(self, parts: Sequence[Part], *, opens_prompt: bool = False) -> list[int]:
        """Ids of the parts in order; with `opens_prompt` the model's own beginning-of-text token first, once."""
        for part in parts:
            if part.is_content and not await self._is_plain(part.text):
                return await self._apart(parts, opens_prompt)
        return await self._markup("".join(part.text for part in parts), opens_prompt)

    async def mark_ids(self) -> frozenset[int]:
        """Ids of the marks that are one token of this model."""
        if self._mark_ids is None:
            found = [await self._client.tokenize(mark, True) for mark in self._marks]
            self._mark_ids = frozenset(ids[0] for ids in found if len(ids) == 1)
        return self._mark_ids

    async def _is_plain(self, text: str) -> bool:
        """Does no mark and no other control token's text stand in it?"""
        if any(mark in text for mark in self._marks):
            return False
        if not any(sign in text for sign in "<[|▁"):
            return True
        return await self._client.tokenize(text, True) == await self._client.tokenize(text, False)

    async def _apart(self, parts: Sequence[Part], opens_prompt: bool) -> list[int]:
        ids: list[int] = []
        for part in parts:
            if part.is_content:
                ids += await self._content(part.text)
            else:
                ids += await self._markup(part.text, opens_prompt and not ids)
        return ids

    async def _markup(self, text: str, opens_prompt: bool) -> list[int]:
        if not text:
            return []
        if not opens_prompt:
            return await self._client.tokenize(text, True)
        ids = await self._client.tokenize(text, True, add_special=True)
        return ids[1:] if len(ids) > 1 and ids[0] == ids[1] and ids[0] in await self.mark_ids() else ids

    async def _content(self, text: str) -> list[int]:
        """Ids of text from outside: no id is a mark's, whatever the text says.

        llama.cpp leaves control tokens out without `parse_special`, but user-defined tokens (`<think>`,
        `<tool_call>` in many models) are found all the same: the text is broken inside each of them.
        """
        marks = await self.mark_ids()
        ids: list[int] = []
        for piece in self._broken(text):
            found = await self._client.tokenize(piece, False)
            if marks.isdisjoint(found):
                ids += found
                continue
            for character in piece:
                ids += await self._client.tokenize(character, False)
        return ids

    def _broken(self, text: str) -> list[str]:
        """The text cut after the first character of each mark in it."""
        cuts = {at + 1 for mark in self._marks for at in _finds(text, mark)}
        edges = [0, *sorted(cuts), len(text)]
        return [text[a:b] for a, b in pairwise(edges) if a < b]


def _finds(text: str, mark: str) -> list[int]:
    found: list[int] = []
    at = text.find(mark)
    while at >= 0:
        found.append(at)
        at = text.find(mark, at + 1)
    return found
