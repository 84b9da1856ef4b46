"""Outcomes of guardrails as the service reports them (inference contract section 4).

The contract names the pipeline and gives no shape to its ``data``: actions are looked for anywhere
in it, and in the words of the summary where it has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
