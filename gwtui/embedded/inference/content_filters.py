"""Content filters: they scan the input, and block, redact or flag it.

Extended contract section 5, inference contract section 5: the filters of all guardrails are united,
and of one filter that several guardrails hold the strongest action counts, block over redact over
flag. A custom pattern that does not finish in time has read nothing: then a request that it would
block or redact is refused, for what it was to keep back cannot be kept back.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

from pydantic import JsonValue

from gwtui.contract.content_filters import BUILTIN_LABELS, FILTER_ACTIONS, PROMPT_INJECTION
from gwtui.contract.guardrails import Guardrail
from gwtui.embedded.responses import Refusal

TIME_LIMIT = 0.25
"""Seconds that one custom pattern may take for one request."""
BLOCKED = "[BLOCKED]"
REDACTED = "[REDACTED]"
_VIOLATION: Mapping[str, JsonValue] = {"error_type": "content_policy_violation"}


@dataclass(frozen=True, slots=True)
class InputText:
    """A text of the request, and whether it is from the user."""

    text: str
    by_user: bool = True


@dataclass(frozen=True, slots=True)
class ContentFilter:
    """One filter of one guardrail: ``slug`` of a builtin one, or ``pattern`` of a custom one."""

    action: str
    guardrail_id: str
    scope: str
    slug: str = ""
    pattern: str = ""
    label: str | None = None
    user_only: bool = False

    @property
    def replacement(self) -> str:
        """The replacement for redacted text."""
        if self.slug:
            return LABELS.get(self.slug, REDACTED)
        return REDACTED

    @property
    def name(self) -> str:
        """The name of the filter in reports."""
        return self.slug or self.label or "custom"


@dataclass(frozen=True, slots=True)
class FilterHit:
    """A filter that found something, and how often."""

    filter: ContentFilter
    count: int


@dataclass(frozen=True, slots=True)
class Screened:
    """The texts as the model gets them, and what the filters found."""

    texts: tuple[str, ...]
    hits: tuple[FilterHit, ...] = ()


class BlockedByFilter(Refusal):
    """403: a filter found what it is to block; ``hit`` says which one."""

    def __init__(self, message: str, hit: FilterHit, patterns: Sequence[str] = ()) -> None:
        metadata = dict(_VIOLATION)
        if patterns:
            metadata["patterns"] = list(patterns)
        super().__init__(403, message, metadata=metadata)
        self.hit = hit


def filters_of(guardrail: Guardrail, scope: str) -> list[ContentFilter]:
    """The filters of a guardrail; ``scope`` is what binds the request to it."""
    builtins: Iterable[Mapping[str, Any]] = guardrail.raw.get("content_filter_builtins") or ()
    custom: Iterable[Mapping[str, Any]] = guardrail.raw.get("content_filters") or ()
    whose = (str(guardrail.id), scope)
    return [
        *(
            ContentFilter(
                each["action"],
                *whose,
                slug=each["slug"],
                user_only=each.get("scan_scope") == "user_only",
            )
            for each in builtins
        ),
        *(
            ContentFilter(each["action"], *whose, pattern=each["pattern"], label=each.get("label"))
            for each in custom
        ),
    ]


def united(filters: Iterable[ContentFilter]) -> list[ContentFilter]:
    """Each filter once, with its strongest action and its widest scope; the strongest first."""
    found: dict[tuple[str, str], ContentFilter] = {}
    for each in sorted(filters, key=lambda each: FILTER_ACTIONS.index(each.action)):
        strongest = found.setdefault((each.slug, each.pattern), each)
        user_only = strongest.user_only and each.user_only
        found[each.slug, each.pattern] = replace(strongest, user_only=user_only)
    return list(found.values())


async def screen(texts: Sequence[InputText], filters: Sequence[ContentFilter]) -> Screened:
    """Apply the filters to the input. Raises a 403 when one of them blocks it."""
    if any(each.pattern for each in filters):
        # Custom patterns may take their whole time: meanwhile others are served.
        return await asyncio.to_thread(_screen, texts, filters)
    return _screen(texts, filters)


def _screen(texts: Sequence[InputText], filters: Sequence[ContentFilter]) -> Screened:
    hits: list[FilterHit] = []
    redactions: list[list[tuple[int, int, str]]] = [[] for _ in texts]
    for each in filters:
        spans = _spans(each, texts)
        found = sum(map(len, spans))
        if not found:
            continue
        if each.action == "block":
            raise _blocked(FilterHit(each, found), texts)
        if each.action == "redact":
            for place, of_text in enumerate(spans):
                redactions[place] += [(start, end, each.replacement) for start, end in of_text]
        hits.append(FilterHit(each, found))
    left = (_redacted(each.text, cuts) for each, cuts in zip(texts, redactions, strict=True))
    return Screened(tuple(left), tuple(hits))


def _spans(one: ContentFilter, texts: Sequence[InputText]) -> list[Spans]:
    read = [each.text if each.by_user or not one.user_only else "" for each in texts]
    if one.slug:
        return [detect(one.slug, text) for text in read]
    found = _pattern_spans(one.pattern, read)
    if found is None and one.action != "flag":
        raise _blocked(FilterHit(one, 0), texts)
    return found or [[] for _ in read]


def _pattern_spans(pattern: str, texts: Sequence[str]) -> list[Spans] | None:
    """Where a custom pattern matches; None when it did not finish in time."""
    from gwtui.domain.patterns import find_all  # noqa: PLC0415 - for custom patterns only

    found = find_all(pattern, texts, TIME_LIMIT)
    if found is None:
        return None
    return [[(start, end) for start, end in spans if end > start] for spans in found]


def _blocked(hit: FilterHit, texts: Sequence[InputText]) -> BlockedByFilter:
    one = hit.filter
    if one.slug == PROMPT_INJECTION:
        read = (each.text for each in texts if each.by_user or not one.user_only)
        names = dict.fromkeys(name for text in read for name in injections(text))
        message = "Request blocked: prompt injection patterns detected"
        return BlockedByFilter(message, hit, list(names))
    if one.slug in PII_NAMES:
        return BlockedByFilter(f"Blocked PII detected: {PII_NAMES[one.slug]}", hit)
    shown = DISPLAY_NAMES.get(one.slug) or one.slug or one.label or BLOCKED
    return BlockedByFilter(f"Request blocked by content filter: {shown}", hit)


def _redacted(text: str, cuts: list[tuple[int, int, str]]) -> str:
    """The text with each cut replaced; of those that overlap, the one that begins first."""
    parts: list[str] = []
    done = 0
    for start, end, label in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
        if start >= done:
            parts += [text[done:start], label]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def pipeline(hits: Sequence[FilterHit]) -> list[dict[str, JsonValue]]:
    """The steps of the service's metadata: one for each guardrail whose filters acted."""
    by_guardrail: dict[tuple[str, str], list[FilterHit]] = {}
    for hit in hits:
        by_guardrail.setdefault((hit.filter.guardrail_id, hit.filter.scope), []).append(hit)
    return [_step(guardrail_id, scope, of) for (guardrail_id, scope), of in by_guardrail.items()]


def _step(guardrail_id: str, scope: str, hits: Sequence[FilterHit]) -> dict[str, JsonValue]:
    past = {"block": "blocked", "redact": "redacted", "flag": "flagged"}
    words = [f"{past[hit.filter.action]} {hit.count}: {hit.filter.name}" for hit in hits]
    return {
        "type": "guardrail",
        "name": "content-filter",
        "summary": "; ".join(words),
        "data": {
            "matches": [
                {
                    "filter": hit.filter.name,
                    "action": hit.filter.action,
                    "label": hit.filter.replacement if hit.filter.action == "redact" else None,
                    "count": hit.count,
                }
                for hit in hits
            ]
        },
        "guardrail_id": guardrail_id,
        "guardrail_scope": scope,
    }


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
"""The replacement for redacted text."""

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


def detect(slug: str, text: str) -> Spans:
    """The matches of a builtin filter in a text; none for an unknown filter."""
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
