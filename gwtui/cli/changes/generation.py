"""What is sent about a generation: extended contract section 8."""

from __future__ import annotations

from gwtui.cli.changes.change import ChangeContext
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import plan_context
from gwtui.cli.command import Argument
from gwtui.contract.usage import FeedbackRequest
from gwtui.crud.plan import Plan
from gwtui.resources.generations import plan_feedback


async def _feedback(context: ChangeContext) -> Plan[None]:
    return plan_feedback(await context.request(FeedbackRequest), plan_context(context))


CHANGES = (
    DeclaredChange(
        "feedback",
        "say what was wrong with one",
        _feedback,
        (Argument("generation_id", help="its id"),),
        FeedbackRequest,
        ("category", "comment"),
    ),
)
