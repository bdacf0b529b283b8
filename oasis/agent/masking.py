"""Leaving secrets out of what is handed on: known values, and what looks like a key, a token or a password."""

import re
from collections.abc import Mapping, Sequence

MASK = "[secret left out]"
_SHORTEST = 8
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSW|PWD|CREDENTIAL", re.IGNORECASE)
_WORDS = r"(?:api[_-]?key|access[_-]?key|passw(?:or)?d|passwort|pwd|secret|token|credential)"
_WHOLE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[A-Za-z0-9_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    re.DOTALL,
)
_VALUE = re.compile(
    r"(?P<before>\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic)\s+)(?P<a>[^\s\"']+)"
    r"|(?P<url>\b[a-z][a-z0-9+.-]*://[^\s/:@\"']*:)(?P<b>[^\s/@\"']+)(?=@)"
    rf"|(?P<named>\b\w*{_WORDS}\w*\\?[\"']?\s*:?[:=]\s*)(?P<quote>\\?[\"'])(?P<c>[^\"'\n]{{4,}}?)(?P=quote)"
    rf"|(?P<line>^(?:export\s+)?\w*{_WORDS}\w*=)(?P<d>[^\s\"'$(]{{4,}})$",
    re.IGNORECASE | re.MULTILINE,
)


class Masker:
    """Masks texts and counts what was left out."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = sorted({value for value in known if len(value) >= _SHORTEST}, key=len, reverse=True)
        self.count = 0

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for value in self._known:
            self.count += text.count(value)
            text = text.replace(value, MASK)
        text = _WHOLE.sub(self._whole, text)
        return _VALUE.sub(self._value, text)

    def _whole(self, found: re.Match[str]) -> str:
        self.count += 1
        return MASK

    def _value(self, found: re.Match[str]) -> str:
        """Only the value goes; the name before it stays."""
        value = next(found[name] for name in "abcd" if found[name])
        if MASK in value:
            return found[0]
        self.count += 1
        at = found[0].rindex(value)
        return f"{found[0][:at]}{MASK}{found[0][at + len(value) :]}"


def known_secrets(environment: Mapping[str, str], *others: str) -> list[str]:
    """Values of environment variables whose names speak of a secret, and `others`."""
    return [*(value for name, value in environment.items() if _NAMES.search(name)), *others]
