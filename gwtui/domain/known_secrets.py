"""The secrets that this process knows, so that nothing it writes down can repeat one.

Nothing is kept alive by being known: a secret is forgotten with the last object that holds it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from typing import Protocol, final
from urllib.parse import quote
from weakref import WeakValueDictionary

from gwtui.contract.unpicklable import Unpicklable

HIDDEN = "[redacted]"
"""Stands where a secret was."""
SHORTEST = 8
"""The length from which a secret is looked for in texts; keys are far longer."""
_ALIGNMENTS = 3
_MASKED = 4


class Secret(Protocol):
    """A holder of a secret text: a ``Token``, or the ``SecretStr`` of a request."""

    def get_secret_value(self) -> str:
        """The text itself."""


@final
class Token(Unpicklable):
    """A key as it was found on this machine or typed; whatever prints it shows a mask.

    It is what pydantic's ``SecretStr`` is in requests, without that library: a token is found
    before the first frame is painted.
    """

    __slots__ = ("__weakref__", "_text")

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return f"Token({str(self)!r})"

    def __str__(self) -> str:
        return "**********" if self._text else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __len__(self) -> int:
        return len(self._text)


_known: WeakValueDictionary[int, Secret] = WeakValueDictionary()

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


def remember(*secrets: Secret | None) -> None:
    """Let ``without_secrets`` hide these from now on, for as long as they are in use."""
    for secret in secrets:
        if secret is not None:
            _known[id(secret)] = secret


def without_secrets(text: str) -> str:
    """The text without any secret that this process knows, and without what looks like one."""
    text = redactor(list(_known.values()))(text)
    for pattern in _LIKELY:
        text = pattern.sub(lambda found: f"{found[1]}{HIDDEN}", text)
    return text


def holds_secret(text: str) -> bool:
    """Whether a text holds a secret that this process knows, folded over lines or not.

    For what leaves the program because a person asked for it: nothing is cut out of that.
    """
    hide, unfolded = redactor(list(_known.values())), "".join(text.split())
    return hide(text) != text or hide(unfolded) != unfolded


def redactor(secrets: Iterable[Secret]) -> Callable[[str], str]:
    """Takes these secrets out of a text, as they are and as they are usually encoded.

    One of fewer than ``SHORTEST`` characters stays: it cannot be told from words.
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
    """The base64 forms of the data at each offset in a longer text."""
    for shift in range(_ALIGNMENTS):
        encoded = base64.b64encode(bytes(shift) + data).decode("ascii")
        # The characters at the ends mix with what stands before and behind.
        inner = encoded[_MASKED if shift else 0 : -_MASKED]
        yield from (inner, inner.translate(_URL_SAFE))


_URL_SAFE = str.maketrans("+/", "-_")
