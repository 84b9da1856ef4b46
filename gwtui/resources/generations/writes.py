"""What can be sent about a generation: feedback. Extended contract section 8."""

from __future__ import annotations

from dataclasses import replace

from gwtui.contract.usage import FeedbackRequest
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.form import FormField, FormSpec, TextAreaField
from gwtui.crud.plan import Plan
from gwtui.domain.safe_text import safe_line

CATEGORIES = {
    "latency": "latency",
    "incoherence": "incoherence",
    "incorrect_response": "incorrect response",
    "formatting": "formatting",
    "billing": "billing",
    "api_error": "API error",
    "other": "other",
}


def _category(value: str, context: PlanContext) -> str:
    return CATEGORIES.get(value) or fields.text(value, context)


FIELDS = Fields(
    Field("generation_id", "Generation"),
    Field("category", "What was wrong", _category),
    Field("comment", "Comment"),
)


def feedback_form(identity: str) -> FormSpec:
    """The form about one generation."""
    return FormSpec(
        title="Feedback on a generation",
        model=FeedbackRequest,
        fields=(
            FormField(
                "generation_id",
                FIELDS.labels["generation_id"],
                "text",
                fixed=(safe_line(identity), "the one that was looked up"),
            ),
            FormField("category", FIELDS.labels["category"], "choice", words=CATEGORIES),
            TextAreaField("comment", FIELDS.labels["comment"]),
        ),
        submit="Send feedback",
        initial={"generation_id": identity, "category": "other"},
        unknown_help="The feedback may have arrived or not; the gateway lists none.",
    )


def plan_feedback(request: FeedbackRequest, context: PlanContext) -> Plan[None]:
    """One POST /generation/feedback. The comment stays off the disk: it may quote what was said."""
    return Plan(
        action="generation.feedback",
        title=f"Send feedback on generation {safe_line(request.generation_id, 60)}",
        resource="generation",
        identity=request.generation_id,
        send=lambda client: client.generations.give_feedback(request),
        changes=tuple(
            replace(change, private=change.field == FIELDS.labels["comment"])
            for change in FIELDS.first_values(request, context)
        ),
        effects=("It is sent as it is: this cannot be undone.",),
        summary={"category": request.category, "commented": request.comment is not None},
    )
