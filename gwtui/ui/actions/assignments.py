"""Assigning guardrails to keys and members, many at once, and taking them away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gwtui.contract.guardrails import (
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.crud.plan import Applied, Plan, Refused, Unknown, bundle_alike
from gwtui.crud.text import Names, count
from gwtui.crud.undo import each_back
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments.plans import plan_unassign_keys, plan_unassign_members
from gwtui.resources.assignments.resource import AssignmentRow, fetch_people
from gwtui.resources.guardrails.view import shown_name
from gwtui.resources.organization.resource import shown_person
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.guardrail_links import say_not_made
from gwtui.ui.actions.writing import (
    confirm,
    covered,
    execute_all,
    plain_facts,
    read_again,
    refresh,
    say_done,
    tell_lost,
)
from gwtui.ui.forms.assigning import Assigning
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow


async def assign_keys(context: ActionContext[GuardrailRow]) -> None:
    """Pick keys, see what is replaced, assign."""
    assigning = await _begin(context)
    if assigning is not None:
        await _assign(
            context,
            FormScreen(assigning.key_form(), plain_facts(context), assigning.submit_keys),
            "key",
        )


async def assign_members(context: ActionContext[GuardrailRow]) -> None:
    """Pick members, see what is replaced, assign."""
    assigning = await _begin(context)
    if assigning is not None:
        form = FormScreen(assigning.member_form(), plain_facts(context), assigning.submit_members)
        await _assign(context, form, "member")


async def _begin(context: ActionContext[GuardrailRow]) -> Assigning | None:
    row = context.target
    if not row.made or not row.guardrail.id:
        say_not_made(context)
        return None
    reading = context.app.gateway.guardrails.get(row.guardrail.id)
    fresh = await read_again(context, reading, f"Guardrail {shown_name(row)}", FEEDS)
    if fresh is None:
        return None
    assigning = Assigning(context, row, fresh)
    await assigning.read()
    return None if covered(context) else assigning


async def _assign(context: ActionContext[GuardrailRow], form: FormScreen[int], noun: str) -> None:
    match await context.app.push_screen_wait(form):
        case Applied(number):
            name = shown_name(context.target)
            say_done(context, f"Guardrail {name} assigned to {count(number, noun)}")
        case None:
            return
    await refresh(context, FEEDS)


async def unassign(context: ActionContext) -> None:
    """Take guardrails from the marked keys and members, or from the selected one."""
    app, rows = context.app, context.chosen
    people = {
        user: shown_person(person, user)
        for user, person in (await fetch_people(app.gateway)).items()
    }
    plans = _unassign_plans(rows, people)
    if covered(context) or not plans:
        return
    shown: Plan[Any] = plans[0] if len(plans) == 1 else _together(plans)
    consent = await confirm(context, shown, "Take it away")
    if consent is None:
        return
    outcome = await execute_all(context, consent, lambda plan: plan.title)
    match outcome:
        case Applied(numbers):
            say_done(context, f"{count(sum(numbers), 'assignment')} taken away")
        case Refused(error):
            app.say(safe_line(error.message, 300), severity="error")
        case Unknown():
            await tell_lost(context, outcome, "The answer was lost")
    await refresh(context, FEEDS)


def _unassign_plans(rows: Sequence[AssignmentRow], people: Names) -> list[Plan[int]]:
    """One plan for each guardrail and kind: that is what one request can do."""
    plans: list[Plan[int]] = []
    for identity in dict.fromkeys(row.assignment.guardrail_id for row in rows):
        of_one = [row for row in rows if row.assignment.guardrail_id == identity]
        guardrail = _guardrail(of_one[0])
        keys = [one for row in of_one if isinstance(one := row.assignment, KeyAssignment)]
        members = [one for row in of_one if isinstance(one := row.assignment, MemberAssignment)]
        if keys:
            plans.append(plan_unassign_keys(guardrail, keys))
        if members:
            plans.append(plan_unassign_members(guardrail, members, people))
    return plans


def _guardrail(row: AssignmentRow) -> Guardrail:
    """The guardrail of an assignment; by its identifier alone where nothing else is known."""
    if row.guardrail is not None:
        return row.guardrail.guardrail
    return Guardrail.model_validate({"id": row.assignment.guardrail_id})


def _together(plans: Sequence[Plan[int]]) -> Plan[Any]:
    """The plans as one to be confirmed."""
    title = f"Take guardrails away in {len(plans)} requests"
    return bundle_alike(title, plans, each_back(plans))


HANDLERS: Mapping[str, Handler] = {
    "guardrails.assign_keys": assign_keys,
    "guardrails.assign_members": assign_members,
    "assignments.remove": unassign,
}
