"""What the builtin content filters find. Extended contract section 5.

The contract names the filters, not how they work: these are plain patterns with checks, so they
miss what only a person would notice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address

from gwtui.contract.content_filters import BUILTIN_LABELS, PROMPT_INJECTION

Spans = list[tuple[int, int]]
"""Start and end of every match."""

DISPLAY_NAMES: Mapping[str, str] = {
    "email": "Email",
    "phone": "Phone",
    "ssn": "SSN",
    "credit-card": "Credit Card",
    "ip-address": "IP Address",
    "secrets": "Secrets",
}
PII_NAMES: Mapping[str, str] = {"person-name": "PERSON", "address": "ADDRESS"}
"""Filters that a refusal words differently, with the name that it gives them."""
LABELS: Mapping[str, str] = {
    **BUILTIN_LABELS,
    PROMPT_INJECTION: "[PROMPT_INJECTION]",
    "secrets": "[SECRETS]",
}
"""What stands for redacted text."""

_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?)?\d{2,4}(?:[ .-]\d{2,4}){1,4}(?![\w-])"
    r"|(?<!\w)\+\d{8,15}(?!\w)"
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_NAME = r"[A-Z][a-z'’-]{1,20}"  # noqa: RUF001 - as people write it
_PERSON = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.? {_NAME}(?: {_NAME}){{0,2}}"
    rf"|(?:[Mm]y name is|[Ii] am called|[Nn]amed|[Dd]ear|[Rr]egards,|[Ss]igned,)\s+"
    rf"(?P<told>{_NAME}(?: {_NAME}){{0,2}})"
    r"|\b(?:James|John|Robert|Michael|David|William|Mary|Patricia|Jennifer|Linda|Elizabeth|Susan|"
    r"Sarah|Karen|Anna|Maria|Peter|Paul|Thomas|Martin|Laura|Julia|Emma|Alice|Daniel|Kenji|Elodie|"
    rf"Ngozi|Mohammed|Fatima|Wei|Priya|Carlos) {_NAME}\b"
)
_ADDRESS = re.compile(
    rf"\b\d{{1,5}}[A-Za-z]? (?:{_NAME} ){{1,3}}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Square|Place)\b\.?"
    rf"|\b{_NAME}(?:stra(?:ss|ß)e|weg|platz|gasse) \d{{1,4}}[a-z]?\b"
)
_SECRETS = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"
    r"|\b(?:ghp|gho|ghs|ghu|ghr)_[A-Za-z0-9]{36}\b"
    r"|\bgithub_pat_[A-Za-z0-9_]{22,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{35}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bgw-(?:mgmt-)?v1-[0-9a-f]{64}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
)
_INJECTIONS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "ignore-instructions": r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|"
        r"prior|above|earlier|all)\b[^.\n]{0,30}\b(?:instruction|prompt|rule|direction|message)s?\b",
        "reveal-prompt": r"\b(?:reveal|print|show|repeat|output)\b[^.\n]{0,30}\b(?:system|hidden|"
        r"initial)\b[^.\n]{0,15}\b(?:prompt|instructions?|message)\b",
        "role-play": r"\byou are (?:now )?(?:DAN|in developer mode|jailbroken|unrestricted)\b",
        "developer-mode": r"\b(?:enable|enter|activate)\b[^.\n]{0,15}\b(?:developer|jailbreak|god) "
        r"mode\b",
        "role-tag": r"<\s*/?\s*(?:system|assistant|im_start|im_end)\s*>|<\|im_(?:start|end)\|>"
        r"|\[/?INST\]",
    }.items()
}
_PHONE_DIGITS = range(7, 16)


def find(slug: str, text: str) -> Spans:
    """Where a builtin filter matches a text; nowhere for one that is not known."""
    detector = _DETECTORS.get(slug)
    return [] if detector is None else list(detector(text))


def injections(text: str) -> list[str]:
    """The names of the injection patterns that a text shows."""
    return [name for name, pattern in _INJECTIONS.items() if pattern.search(text)]


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE.finditer(text):
        digits = sum(map(str.isdigit, match.group()))
        other = _SSN.fullmatch(match.group()) or _DAY.fullmatch(match.group())
        if digits in _PHONE_DIGITS and not other:
            yield match.span()


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        if _luhn([int(character) for character in match.group() if character.isdigit()]):
            yield match.span()


def _luhn(digits: list[int]) -> bool:
    doubled = [digit * 2 if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0  # noqa: PLR2004


def _ip_addresses(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(text):
            try:
                ip_address(match.group())
            except ValueError:
                continue
            yield match.span()


def _persons(text: str) -> Iterator[tuple[int, int]]:
    for match in _PERSON.finditer(text):
        yield match.span("told") if match.group("told") else match.span()


def _injected(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _INJECTIONS.values():
        yield from (match.span() for match in pattern.finditer(text))


_DETECTORS: Mapping[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "email": _matches(_EMAIL),
    "phone": _phones,
    "ssn": _matches(_SSN),
    "credit-card": _cards,
    "ip-address": _ip_addresses,
    "person-name": _persons,
    "address": _matches(_ADDRESS),
    "secrets": _matches(_SECRETS),
    PROMPT_INJECTION: _injected,
}
