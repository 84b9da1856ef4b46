"""Content filters at work: they read the input, and block, redact or flag it.

Extended contract section 5, inference contract section 5: the filters of all guardrails are united,
and of one filter that several guardrails hold the strongest action counts, block over redact over
flag. A custom pattern that does not finish in time has read nothing: then a request that it would
block or redact is refused, for what it was to keep back cannot be kept back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from gwtui.contract.content_filters import FILTER_ACTIONS, PROMPT_INJECTION
from gwtui.contract.guardrails import Guardrail
from gwtui.embedded.inference import detectors
from gwtui.embedded.responses import Refusal

TIME_LIMIT = 0.25
"""Seconds that one custom pattern may take for one request."""
BLOCKED = "[BLOCKED]"
REDACTED = "[REDACTED]"
_VIOLATION: Mapping[str, JsonValue] = {"error_type": "content_policy_violation"}


@dataclass(frozen=True, slots=True)
class InputText:
    """A text of the request, and whether the user said it."""

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
        """What stands for redacted text."""
        if self.slug:
            return detectors.LABELS.get(self.slug, REDACTED)
        return REDACTED

    @property
    def name(self) -> str:
        """What the filter is called where it is told that it acted."""
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
    """What is left of the input. Raises a 403 when a filter blocks it."""
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


def _spans(one: ContentFilter, texts: Sequence[InputText]) -> list[detectors.Spans]:
    read = [each.text if each.by_user or not one.user_only else "" for each in texts]
    if one.slug:
        return [detectors.find(one.slug, text) for text in read]
    found = _pattern_spans(one.pattern, read)
    if found is None and one.action != "flag":
        raise _blocked(FilterHit(one, 0), texts)
    return found or [[] for _ in read]


def _pattern_spans(pattern: str, texts: Sequence[str]) -> list[detectors.Spans] | None:
    """Where a custom pattern matches; None when it did not finish in time."""
    import regex  # type: ignore[import-untyped]  # noqa: PLC0415 - for custom patterns only

    until = time.monotonic() + TIME_LIMIT
    try:
        compiled = regex.compile(pattern)
        return [
            [
                match.span()
                for match in compiled.finditer(
                    text, timeout=max(until - time.monotonic(), 0.001), concurrent=True
                )
                if match.end() > match.start()
            ]
            for text in texts
        ]
    except (TimeoutError, regex.error):
        return None


def _blocked(hit: FilterHit, texts: Sequence[InputText]) -> BlockedByFilter:
    one = hit.filter
    if one.slug == PROMPT_INJECTION:
        read = (each.text for each in texts if each.by_user or not one.user_only)
        names = dict.fromkeys(name for text in read for name in detectors.injections(text))
        message = "Request blocked: prompt injection patterns detected"
        return BlockedByFilter(message, hit, list(names))
    if one.slug in detectors.PII_NAMES:
        return BlockedByFilter(f"Blocked PII detected: {detectors.PII_NAMES[one.slug]}", hit)
    shown = detectors.DISPLAY_NAMES.get(one.slug) or one.slug or one.label or BLOCKED
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
