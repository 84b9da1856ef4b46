"""The secrets known to this process, so that they can be removed from everything it writes.

Only weak references are kept: a secret is forgotten with the last object that holds it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from pydantic import SecretStr

HIDDEN = "[redacted]"
"""The replacement for a secret."""
SHORTEST = 8
"""The minimum length of a secret that is searched in texts; API keys are far longer."""
_ALIGNMENTS = 3
_MASKED = 4


_known: WeakValueDictionary[int, SecretStr] = WeakValueDictionary()

_LIKELY = (
    re.compile(
        r"(?i)\b(authorization[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)"
        r"[^\s,;'\"]{4,}"
    ),
    re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(
        r"(?i)((?:api[_-]?key|token|secret|passw(?:or)?d|credential)[\"']?\s*[=:]\s*[\"']?)"
        r"[^\s,;&'\"}\]]{4,}"
    ),
    re.compile(r"(?<![A-Za-z0-9])((?:sk|pk|rk|gw)-)[A-Za-z0-9_-]{12,}"),
    re.compile(r"(://)[^/\s@]+@"),
)
"""Texts that look like a secret; the first group stays."""


def remember(*secrets: SecretStr | None) -> None:
    """Let ``without_secrets`` remove these secrets for as long as the objects exist."""
    for secret in secrets:
        if secret is not None:
            _known[id(secret)] = secret


def without_secrets(text: str) -> str:
    """The text with a placeholder for each known secret and for all that looks like a secret."""
    text = redactor(list(_known.values()))(text)
    for pattern in _LIKELY:
        text = pattern.sub(lambda match: f"{match[1]}{HIDDEN}", text)
    return text


def holds_secret(text: str) -> bool:
    """Whether a text contains a known secret, even if it is wrapped across lines.

    For text that the user exports: it is refused instead of changed.
    """
    hide, unfolded = redactor(list(_known.values())), "".join(text.split())
    return hide(text) != text or hide(unfolded) != unfolded


def redactor(secrets: Iterable[SecretStr]) -> Callable[[str], str]:
    """Return a function that removes these secrets, also in common encodings, from a text.

    Secrets shorter than ``SHORTEST`` are not removed: they might be ordinary words.
    """
    values = sorted({secret.get_secret_value() for secret in secrets}, key=len, reverse=True)
    known = [form for value in values if len(value) >= SHORTEST for form in _forms(value)]

    def hide(text: str) -> str:
        for form in known:
            text = text.replace(form, HIDDEN)
        return text

    return hide


def _forms(secret: str) -> list[str]:
    forms = [secret, json.dumps(secret)[1:-1], quote(secret, safe="", errors="replace")]
    forms += [repr(secret)[1:-1], *_base64_forms(secret.encode("utf-8", "surrogatepass"))]
    return list(dict.fromkeys(forms))


def _base64_forms(data: bytes) -> Iterable[str]:
    """The base64 forms of the data at every offset within a longer text."""
    for shift in range(_ALIGNMENTS):
        encoded = base64.b64encode(bytes(shift) + data).decode("ascii")
        # The characters at the ends mix with what stands before and behind.
        inner = encoded[_MASKED if shift else 0 : -_MASKED]
        yield from (inner, inner.translate(_URL_SAFE))


_URL_SAFE = str.maketrans("+/", "-_")
