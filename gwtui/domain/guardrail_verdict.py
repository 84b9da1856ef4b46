"""Outcomes of guardrails: of content filters, and as the service reports them.

``apply_filters`` says what content filters do to a message (extended contract section 5): filters
are united, block over redact over flag; among equals the earlier one in the list counts.

``verdict_of`` reads what the service reports (inference contract section 4). The contract names the
pipeline and gives no shape to its ``data``: actions are looked for anywhere in it, and in the words
of the summary where it has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from gwtui.contract.completion import PipelineStage, ServiceMetadata

GuardrailOutcome = Literal["pass", "flag", "redact", "block", "no endpoint"]
GUARDRAIL_OUTCOMES: tuple[GuardrailOutcome, ...] = (
    "pass",
    "flag",
    "redact",
    "block",
    "no endpoint",
)
"""Outcomes of a request at guardrails, mildest first."""

GUARDRAIL = "guardrail"
_ACTIONS: Mapping[str, GuardrailOutcome] = {
    "flag": "flag",
    "flagged": "flag",
    "redact": "redact",
    "redacted": "redact",
    "block": "block",
    "blocked": "block",
}
_WORD = re.compile(r"[a-z]+")
_DEPTH = 8
REDACTED = "[REDACTED]"
"""Stands for redacted text where the filter has no label; the gateway may word it otherwise."""
_STRENGTH = {"block": 0, "redact": 1, "flag": 2}


@dataclass(frozen=True, slots=True)
class FilterMatches:
    """One filter and where it matches a message: start and end of every match."""

    action: str
    label: str
    spans: tuple[tuple[int, int], ...]

    @property
    def matches_nothing(self) -> bool:
        """Whether it matches the empty text, and so every message there is."""
        return any(start == end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """A part of a message, and the filter (by place, from 0) that decides over it, if any."""

    text: str
    filter: int | None = None
    action: str = ""
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class FilterVerdict:
    """The outcome of content filters for a message."""

    pieces: tuple[MessagePiece, ...]
    sent: str | None
    """The message as it goes on; None when it is blocked."""
    blocked_by: tuple[int, ...]
    redacted_by: tuple[int, ...]
    flagged_by: tuple[int, ...]


def apply_filters(message: str, filters: Sequence[FilterMatches]) -> FilterVerdict:
    """Apply the filters to a message. A filter with an action that is not known does nothing."""
    pieces = tuple(_pieces(message, filters))
    by_action = {
        action: tuple(
            place
            for place, matches in enumerate(filters)
            if matches.action == action and matches.spans
        )
        for action in _STRENGTH
    }
    blocked = bool(by_action["block"])
    sent = "".join(
        piece.replacement if piece.action == "redact" else piece.text for piece in pieces
    )
    return FilterVerdict(
        pieces,
        None if blocked else sent,
        by_action["block"],
        by_action["redact"],
        by_action["flag"],
    )


def _pieces(message: str, filters: Sequence[FilterMatches]) -> Iterator[MessagePiece]:
    owners = _owners(message, filters)
    for owner, places in groupby(range(len(message)), key=owners.__getitem__):
        run = list(places)
        text = message[run[0] : run[-1] + 1]
        if owner is None:
            yield MessagePiece(text)
            continue
        matches = filters[owner[0]]
        replacement = (matches.label or REDACTED) if matches.action == "redact" else ""
        yield MessagePiece(text, owner[0], matches.action, replacement)


def _owners(message: str, filters: Sequence[FilterMatches]) -> list[tuple[int, int] | None]:
    """The deciding filter and match of each character."""
    owners: list[tuple[int, int] | None] = [None] * len(message)
    ranked = sorted(
        (place for place, matches in enumerate(filters) if matches.action in _STRENGTH),
        key=lambda place: (_STRENGTH[filters[place].action], place),
    )
    for place in ranked:
        for number, (start, end) in enumerate(filters[place].spans):
            for at in range(max(start, 0), min(end, len(message))):
                if owners[at] is None:
                    owners[at] = (place, number)
    return owners


@dataclass(frozen=True, slots=True)
class GuardrailVerdict:
    """The strictest action of the guardrails on a served request.

    ``stages`` are those of guardrails, in the order in which they acted.
    """

    outcome: GuardrailOutcome
    stages: tuple[PipelineStage, ...] = ()


def verdict_of(metadata: ServiceMetadata | None) -> GuardrailVerdict | None:
    """The verdict on a served request; None without metadata."""
    if metadata is None:
        return None
    stages = tuple(stage for stage in metadata.pipeline or () if stage.type == GUARDRAIL)
    found: list[GuardrailOutcome] = [action for stage in stages for action in actions_of(stage)]
    return GuardrailVerdict(max(found, key=GUARDRAIL_OUTCOMES.index, default="pass"), stages)


def actions_of(stage: PipelineStage) -> tuple[GuardrailOutcome, ...]:
    """The actions of one stage, mildest first."""
    found = set(_in_data(stage.data, _DEPTH))
    if not found and not stage.data:
        words = _WORD.findall((stage.summary or "").lower())
        found = {_ACTIONS[word] for word in words if word in _ACTIONS}
    return tuple(sorted(found, key=GUARDRAIL_OUTCOMES.index))


def _in_data(value: Any, depth: int) -> Iterator[GuardrailOutcome]:
    """Actions by name (``{"action": "redact"}``), and as what was met (``{"redacted": 2}``)."""
    if depth and isinstance(value, Mapping):
        for name, part in value.items():
            known = _ACTIONS.get(str(name).lower())
            if known is not None and part:
                yield known
            elif name == "action" and isinstance(part, str) and part.lower() in _ACTIONS:
                yield _ACTIONS[part.lower()]
            else:
                yield from _in_data(part, depth - 1)
    elif depth and isinstance(value, list):
        for part in value:
            if isinstance(part, str) and part.lower() in _ACTIONS:
                yield _ACTIONS[part.lower()]
            else:
                yield from _in_data(part, depth - 1)
