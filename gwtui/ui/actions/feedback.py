"""What the action on a generation does: feedback, one form and one request."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.contract.activity import FeedbackRequest, Generation
from gwtui.crud.form import FormField, FormSpec, TextAreaField
from gwtui.crud.plan import Applied, Outcome
from gwtui.domain.safe_text import safe_line
from gwtui.resources.generations.plans import CATEGORIES, LABELS, plan_feedback
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import execute, plain_facts, submitted
from gwtui.ui.forms.form_screen import FormScreen


def feedback_form(identity: str) -> FormSpec:
    """The form about one generation."""
    return FormSpec(
        title="Feedback on a generation",
        model=FeedbackRequest,
        fields=(
            FormField(
                "generation_id",
                LABELS["generation_id"],
                "text",
                fixed=(safe_line(identity), "the one that was looked up"),
            ),
            FormField("category", LABELS["category"], "choice", words=CATEGORIES),
            TextAreaField("comment", LABELS["comment"]),
        ),
        submit="Send feedback",
        initial={"generation_id": identity, "category": "other"},
        unknown_help="The feedback may have arrived or not; the gateway lists none.",
    )


async def give(context: ActionContext[Generation]) -> None:
    """A form, one request."""
    app, identity = context.app, context.target.id
    if not identity:
        app.say("The gateway gave this generation no id", severity="warning")
        return

    async def submit(request: FeedbackRequest) -> Outcome[None] | None:
        plan = plan_feedback(request)
        consent = await submitted(context, plan, "Send it")
        return None if consent is None else await execute(context, consent)

    form: FormScreen[None] = FormScreen(feedback_form(identity), plain_facts(context), submit)
    match await app.push_screen_wait(form):
        case Applied():
            app.say("Feedback sent")


HANDLERS: Mapping[str, Handler] = {"generation.feedback": give}
