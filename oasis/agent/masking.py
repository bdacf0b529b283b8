"""Leaving secrets out of what is handed on: known values, and what looks like a key, a token or a password."""

import re
import string
from collections.abc import Mapping, Sequence

MASK = "[secret left out]"
_SHORTEST = 8
_NAMES = re.compile(r"KEY(?!RING|BOARD|MAP)|TOKEN|SECRET|PASSW|PWD|CREDENTIAL", re.IGNORECASE)
_FOLDERS = ("PWD", "OLDPWD")
"""Where a shell is and was: no secrets, though their names look like one."""
_WORDS = r"(?:api[_-]?key|access[_-]?key|passw(?:or)?d|passwort|pwd|secret|token|credential)"
_PEM = "PRIVATE KEY-----"
_PEM_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----|\Z)", re.DOTALL
)
_HINTS = (
    *("key", "passw", "pwd", "secret", "token", "credential", "authorization", "://"),
    *("sk-", "sk_", "rk-", "rk_", "pk-", "pk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("hf_", "xox", "akia", "asia", "aiza", "eyj"),
)
"""What stands in every line that may hold a secret, in small letters: looked for before the slower patterns."""
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WHOLE = re.compile(
    r"\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[A-Za-z0-9_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]*"
)
_VALUE = re.compile(
    r"(?P<before>\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic)\s+)(?P<a>[^\s\"']+)"
    r"|(?P<url>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"']{0,200}:)(?P<b>[^\s/@\"']{1,200})(?=@)"
    rf"|(?P<named>\b\w{{0,40}}?{_WORDS}\w{{0,40}}\\?[\"']?\s{{0,8}}:?[:=]\s{{0,8}})(?P<quote>\\?[\"'])(?P<c>[^\"'\n]{{4,500}}?)(?P=quote)"
    rf"|(?P<line>^(?:export\s+)?\w{{0,40}}?{_WORDS}\w{{0,40}}=)(?P<d>[^\s\"'$(]{{4,2000}})$",
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
        if _PEM in text:
            text = _PEM_BLOCK.sub(self._whole, text)
        pieces, at = list[str](), 0
        for start, end in _hinted(text):
            line = _VALUE.sub(self._value, _WHOLE.sub(self._whole, text[start:end]))
            pieces += [text[at:start], line]
            at = end
        return "".join([*pieces, text[at:]])

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


def _hinted(text: str) -> list[tuple[int, int]]:
    """Where the lines lie that may hold a secret, in order."""
    small = text.translate(_SMALL)
    lines: dict[int, int] = {}
    for hint in _HINTS:
        at = small.find(hint)
        while at >= 0:
            end = small.find("\n", at)
            end = len(small) if end < 0 else end
            lines[small.rfind("\n", 0, at) + 1] = end
            at = small.find(hint, end)
    return sorted(lines.items())


def known_secrets(environment: Mapping[str, str], *others: str) -> list[str]:
    """Values of environment variables whose names speak of a secret, and `others`."""
    return [*(value for name, value in environment.items() if _is_secret(name)), *others]


def _is_secret(name: str) -> bool:
    return name not in _FOLDERS and _NAMES.search(name) is not None
