"""The input of a request: its models, texts, tokens and preferences, and the content filters.

A token is up to six letters. Prompts and answers are counted in the same way. Filters block, redact
or flag the input: the filters of all guardrails are merged. If several guardrails have the same
filter, the strictest action wins: block, then redact, then flag. If a custom pattern with the
action block or redact times out, the request is refused. See section 5 of the extended contract and
section 5 of the inference contract.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest, MediaPart, Message, TextPart
from gwtui.contract.content_filters import BUILTIN_LABELS, FILTER_ACTIONS, PROMPT_INJECTION
from gwtui.contract.embeddings import EmbeddingContent, EmbeddingRequest
from gwtui.contract.request import Problem
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.values import SUPPORTED_PARAMETERS
from gwtui.embedded.messages import Refusal, invalid
from gwtui.embedded.store.documents import Document

Api = Literal["completions", "embeddings"]

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")

_MESSAGE_TOKENS = 4
"""Prompt tokens per message, in addition to its text."""
_PROMPT_TOKENS = 3
_MEDIA_TOKENS = {"image": 258, "audio": 120, "file": 300, "video": 300}
"""Prompt tokens per media part of a message."""
_MODALITIES = {
    "image_url": "image",
    "input_audio": "audio",
    "file": "file",
    "input_file": "file",
    "video_url": "video",
    "input_video": "video",
}
_HOLD_TEXTS = frozenset({"messages", "content", "text"})
"""Fields of the logged input whose texts are replaced by redacted ones."""
_SIGNS, _FIRST_SIGN = 20_000, 0x4E00
"""A token that the client gives by number becomes a Chinese character of this range.

Such a character counts as one token, and no filter matches it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """A request to a model, with its tokens counted.

    ``models`` are the requested model and its fallbacks. ``texts`` pass the content filters.
    """

    api: Api
    models: tuple[str, ...]
    preferences: ProviderPreferences
    texts: tuple[InputText, ...]
    text_tokens: int
    other_tokens: int
    """Prompt tokens that are not text."""
    images: int = 0
    audio_tokens: int = 0
    modalities: frozenset[str] = frozenset()
    """Input modalities other than text: image, audio, file, video."""
    streamed: bool = False
    service_tier: str | None = None
    parameters: frozenset[str] = frozenset()
    max_tokens: int | None = None
    user: str | None = None
    session_id: str | None = None
    logged: dict[str, Any] = field(default_factory=dict, repr=False)
    """The input as it is logged, with the same texts."""

    @property
    def prompt_tokens(self) -> int:
        """Total tokens of the prompt."""
        return self.text_tokens + self.other_tokens


def tokens_of(text: str) -> list[str]:
    """Split a text into tokens, without losing a character."""
    return _PIECE.findall(text)


def _tokens(texts: Iterable[InputText]) -> int:
    return sum(len(tokens_of(text.text)) for text in texts)


def parse_chat(request: ChatRequest, default_model: str | None) -> ParsedRequest:
    """Parse a chat request. Raises a 400 if it names no model and there is no default."""
    first = request.model or default_model
    names = dict.fromkeys([*([first] if first else []), *(request.models or ())])
    if not names:
        raise invalid([Problem("model", "is required: the workspace has no default model")])
    media = [_MODALITIES[part.type] for message in request.messages for part in _media(message)]
    texts = tuple(
        InputText(text, message.role == "user")
        for message in request.messages
        for text in message.texts
    )
    return ParsedRequest(
        api="completions",
        models=tuple(names),
        preferences=request.provider or ProviderPreferences(),
        texts=texts,
        text_tokens=_tokens(texts),
        other_tokens=_PROMPT_TOKENS
        + _MESSAGE_TOKENS * len(request.messages)
        + sum(_MEDIA_TOKENS[modality] for modality in media),
        images=media.count("image"),
        audio_tokens=media.count("audio") * _MEDIA_TOKENS["audio"],
        modalities=frozenset(media),
        service_tier=request.service_tier,
        parameters=_parameters(request),
        max_tokens=request.output_limit,
        streamed=bool(request.stream),
        user=request.user,
        session_id=request.session_id,
        logged={"messages": request.body().get("messages")},
    )


def parse_embedding(request: EmbeddingRequest) -> ParsedRequest:
    """Parse an embedding request."""
    given: Sequence[Any] = [request.input] if isinstance(request.input, str) else request.input
    if given and isinstance(given[0], int):
        given = [given]
    media = [
        _MODALITIES[part.type]
        for item in given
        if isinstance(item, EmbeddingContent)
        for part in item.content
        if part.type != "text"
    ]
    texts = tuple(InputText(_input_text(item)) for item in given)
    return ParsedRequest(
        api="embeddings",
        models=(request.model,),
        preferences=request.provider or ProviderPreferences(),
        texts=texts,
        text_tokens=_tokens(texts),
        other_tokens=sum(_MEDIA_TOKENS[modality] for modality in media),
        images=media.count("image"),
        modalities=frozenset(media),
        user=request.user,
        session_id=request.session_id,
        logged={"prompt": request.body().get("input")},
    )


def with_texts(parsed: ParsedRequest, texts: Sequence[str]) -> ParsedRequest:
    """Return the request with its texts replaced, also in the logged input."""
    if list(texts) == [part.text for part in parsed.texts]:
        return parsed
    new = tuple(
        InputText(text, part.by_user) for part, text in zip(parsed.texts, texts, strict=True)
    )
    if parsed.api == "embeddings":
        whole = isinstance(parsed.logged["prompt"], str)
        logged: dict[str, Any] = {"prompt": texts[0] if whole else list(texts)}
    else:
        logged = _refilled(parsed.logged, iter(texts))
    return replace(parsed, texts=new, text_tokens=_tokens(new), logged=logged)


def _refilled(value: Any, texts: Iterator[str]) -> Any:
    if isinstance(value, list):
        return [_refilled(item, texts) for item in value]
    if isinstance(value, dict):
        return {
            name: _refilled(item, texts) if name in _HOLD_TEXTS else item
            for name, item in value.items()
        }
    return next(texts) if isinstance(value, str) else value


def _input_text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, EmbeddingContent):
        return " ".join(part.text for part in item.content if part.text)
    return " ".join(chr(_FIRST_SIGN + token % _SIGNS) for token in item)


def _media(message: Message) -> Iterator[MediaPart]:
    parts: Iterable[TextPart | MediaPart] = (
        message.content if isinstance(message.content, list) else ()
    )
    return (part for part in parts if isinstance(part, MediaPart))


def _parameters(request: ChatRequest) -> frozenset[str]:
    given = {
        name for name in request.model_fields_set if getattr(request, name) not in (None, [], {})
    }
    if request.response_format is not None and request.response_format.type == "json_schema":
        given.add("structured_outputs")
    return frozenset(given.intersection(SUPPORTED_PARAMETERS))


# Content filters ----------------------------------------------------------------------------------


TIME_LIMIT = 0.25
"""Timeout of one custom pattern for one request, in seconds."""
_PAST = {"block": "blocked", "redact": "redacted", "flag": "flagged"}
_PII_NAMES = {"person-name": "PERSON", "address": "ADDRESS"}
"""Builtin filter -> its name in a refusal that has a wording of its own."""
_DISPLAY_NAMES: Mapping[str, str] = {
    "email": "Email",
    "phone": "Phone",
    "ssn": "SSN",
    "credit-card": "Credit Card",
    "ip-address": "IP Address",
    "secrets": "Secrets",
}
_REPLACEMENTS: Mapping[str, str] = {
    **BUILTIN_LABELS,
    PROMPT_INJECTION: "[PROMPT_INJECTION]",
    "secrets": "[SECRETS]",
}

Spans = list[tuple[int, int]]
"""Start and end of every match."""


class InputText(NamedTuple):
    """A text of the request, and whether the user wrote it."""

    text: str
    by_user: bool = True


@dataclass(frozen=True, slots=True)
class ContentFilter:
    """A content filter of a guardrail: builtin (``slug``) or custom (``pattern``).

    ``scope`` is where the guardrail applies: workspace, member or api_key. ``user_only`` is whether
    only texts by the user are scanned.
    """

    action: str
    guardrail_id: str
    scope: str
    slug: str = ""
    pattern: str = ""
    label: str = ""
    user_only: bool = False

    def spans(self, texts: Sequence[InputText]) -> list[Spans] | None:
        """Return the matches in each text; None if the pattern timed out."""
        read = [part.text if part.by_user or not self.user_only else "" for part in texts]
        if self.slug:
            return [detect(self.slug, text) for text in read]
        from gwtui.domain.patterns import find_all  # noqa: PLC0415 - for custom patterns only

        matches = find_all(self.pattern, read, TIME_LIMIT)
        if matches is None:
            return None
        return [[(start, end) for start, end in spans if end > start] for spans in matches]


@dataclass(frozen=True, slots=True)
class FilterHit:
    """A filter that matched, and the number of matches."""

    filter: ContentFilter
    count: int

    def match(self) -> dict[str, JsonValue]:
        """Return the entry about this filter in ``service_metadata``."""
        by = self.filter
        return {
            "filter": by.slug or by.label or "custom",
            "action": by.action,
            "label": _replacement(by) if by.action == "redact" else None,
            "count": self.count,
        }


def merge_filters(guardrails: Mapping[str, Document]) -> tuple[ContentFilter, ...]:
    """Merge the content filters of several guardrails; the strictest come first.

    Equal filters become one with the strictest of their actions, which scans the texts of all.
    ``guardrails`` are by the scope in which they apply, as from ``keys.binding_of``.
    """
    listed = [
        ContentFilter(
            action=entry["action"],
            guardrail_id=guardrail["id"],
            scope=scope,
            slug=entry.get("slug", ""),
            pattern=entry.get("pattern", ""),
            label=entry.get("label") or "",
            user_only=entry.get("scan_scope") == "user_only",
        )
        for scope, guardrail in guardrails.items()
        for field in ("content_filter_builtins", "content_filters")
        for entry in guardrail[field] or ()
    ]
    merged: dict[tuple[str, str], ContentFilter] = {}
    for content_filter in sorted(listed, key=lambda entry: FILTER_ACTIONS.index(entry.action)):
        pattern = content_filter.slug, content_filter.pattern
        strongest = merged.setdefault(pattern, content_filter)
        user_only = strongest.user_only and content_filter.user_only
        merged[pattern] = replace(strongest, user_only=user_only)
    return tuple(merged.values())


async def apply_filters(
    texts: Sequence[InputText], filters: Sequence[ContentFilter], hits: list[FilterHit]
) -> list[str]:
    """Apply content filters; return the texts as the model receives them.

    Filters that match are appended to ``hits``. Raises a 403 if a filter blocks the request.
    """
    if any(content_filter.pattern for content_filter in filters):
        # Custom patterns may run until their timeout, so serve other requests meanwhile.
        return await asyncio.to_thread(_screen, texts, filters, hits)
    return _screen(texts, filters, hits)


def _screen(
    texts: Sequence[InputText], filters: Sequence[ContentFilter], hits: list[FilterHit]
) -> list[str]:
    redactions: list[list[tuple[int, int, str]]] = [[] for _ in texts]
    for content_filter in filters:
        spans = content_filter.spans(texts)
        matches = sum(map(len, spans or ()))
        timed_out = spans is None and content_filter.action != "flag"
        if matches or timed_out:
            hits.append(FilterHit(content_filter, matches))
        if timed_out or (matches and content_filter.action == "block"):
            raise _blocked(content_filter, texts)
        if content_filter.action == "redact":
            for cuts, of_text in zip(redactions, spans or (), strict=True):
                cuts += [(*span, _replacement(content_filter)) for span in of_text]
    return [_redacted(part.text, cuts) for part, cuts in zip(texts, redactions, strict=True)]


def _replacement(by: ContentFilter) -> str:
    return _REPLACEMENTS.get(by.slug, "[REDACTED]")


def _blocked(by: ContentFilter, texts: Sequence[InputText]) -> Refusal:
    metadata: dict[str, JsonValue] = {"error_type": "content_policy_violation"}
    shown = _DISPLAY_NAMES.get(by.slug) or by.slug or by.label or "[BLOCKED]"
    message = f"Request blocked by content filter: {shown}"
    if by.slug == PROMPT_INJECTION:
        read = " \n ".join(text.text for text in texts if text.by_user or not by.user_only)
        message = "Request blocked: prompt injection patterns detected"
        metadata["patterns"] = [name for name in _INJECTIONS if _INJECTIONS[name].search(read)]
    elif by.slug in _PII_NAMES:
        message = f"Blocked PII detected: {_PII_NAMES[by.slug]}"
    return Refusal(403, message, metadata=metadata)


def _redacted(text: str, cuts: list[tuple[int, int, str]]) -> str:
    # Of overlapping cuts, only the first is replaced.
    parts: list[str] = []
    done = 0
    for start, end, label in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
        if start >= done:
            parts += [text[done:start], label]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def pipeline_steps(hits: Iterable[FilterHit]) -> list[JsonValue]:
    """Return ``pipeline`` of ``service_metadata``: one step per guardrail whose filters matched."""
    steps: dict[tuple[str, str], list[dict[str, JsonValue]]] = {}
    for hit in hits:
        by = (hit.filter.guardrail_id, hit.filter.scope)
        steps.setdefault(by, []).append(hit.match())
    return [_step(*by, matches) for by, matches in steps.items()]


def _step(guardrail_id: str, scope: str, matches: list[dict[str, JsonValue]]) -> JsonValue:
    words = (
        f"{_PAST[str(match['action'])]} {match['count']}: {match['filter']}" for match in matches
    )
    return {
        "type": "guardrail",
        "name": "content-filter",
        "summary": "; ".join(words),
        "data": {"matches": [*matches]},
        "guardrail_id": guardrail_id,
        "guardrail_scope": scope,
    }


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
    """Return the matches of a builtin filter in a text; none for an unknown filter."""
    patterns, counts = _DETECTORS.get(slug, ((), None))
    return [
        match.span(match.lastgroup or 0)
        for pattern in patterns
        for match in pattern.finditer(text)
        if counts is None or counts(match.group())
    ]


def _is_phone(text: str) -> bool:
    is_other = _SSN.fullmatch(text) or _DAY.fullmatch(text)
    return sum(map(str.isdigit, text)) in _PHONE_DIGITS and not is_other


def _is_card(text: str) -> bool:
    # The check digit follows Luhn's algorithm.
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [digit * 2 if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0  # noqa: PLR2004


def _is_ip_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


_DETECTORS: Mapping[str, tuple[Iterable[re.Pattern[str]], Callable[[str], bool] | None]] = {
    "email": ((_EMAIL,), None),
    "phone": ((_PHONE,), _is_phone),
    "ssn": ((_SSN,), None),
    "credit-card": ((_CARD,), _is_card),
    "ip-address": ((_IPV4, _IPV6), _is_ip_address),
    "person-name": ((_PERSON,), None),
    "address": ((_ADDRESS,), None),
    "secrets": ((_SECRETS,), None),
    PROMPT_INJECTION: (_INJECTIONS.values(), None),
}
"""The patterns of each builtin filter, and a check that each match must pass."""
