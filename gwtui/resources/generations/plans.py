"""The plan of feedback on a generation: extended contract section 8."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gwtui.contract.activity import FeedbackRequest
from gwtui.crud.plan import Plan
from gwtui.crud.text import first_values
from gwtui.domain.safe_text import safe_line
from gwtui.resources.generations.actions import RESOURCE

LABELS = {"generation_id": "Generation", "category": "What was wrong", "comment": "Comment"}
"""What people call the fields, the same in forms and plans."""
CATEGORIES = {
    "latency": "latency",
    "incoherence": "incoherence",
    "incorrect_response": "incorrect response",
    "formatting": "formatting",
    "billing": "billing",
    "api_error": "API error",
    "other": "other",
}
_COMMENT = 200


def in_words(_field: str, value: Any) -> str:
    """A field's value as people read it."""
    if value is None:
        return "none"
    return CATEGORIES.get(value) or safe_line(value, _COMMENT)


def plan_feedback(request: FeedbackRequest) -> Plan[None]:
    """One POST /generation/feedback. The comment stays off the disk: it may quote what was said."""
    return Plan(
        action="generation.feedback",
        title=f"Send feedback on generation {safe_line(request.generation_id, 60)}",
        resource=RESOURCE,
        identity=request.generation_id,
        send=lambda client: client.generations.give_feedback(request),
        changes=tuple(
            replace(change, private=change.field == LABELS["comment"])
            for change in first_values(request, LABELS, in_words)
        ),
        effects=("It is sent as it is: this cannot be undone.",),
        summary={"category": request.category, "commented": request.comment is not None},
    )
