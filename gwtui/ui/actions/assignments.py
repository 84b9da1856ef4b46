"""Assigning guardrails to keys and members, many at once, and taking them away.

From a guardrail the keys or members are picked; from a list of keys, members or people the
guardrail is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gwtui.client.errors import NotSentError
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import Facts, Field, PickOption
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome, Plan, Refused, bundle_alike
from gwtui.crud.plan_text import NAME_LIMIT, Names, count, named, several
from gwtui.crud.resource import Cell
from gwtui.crud.undo import undo_each
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments.writes import (
    KEYS,
    MEMBERS,
    Assignable,
    AssignmentKind,
    key_names,
    plan_assign,
    plan_unassign,
)
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import say_not_made
from gwtui.ui.actions.writing import (
    confirm,
    confirm_and_report,
    execute,
    plain_facts,
    read_again,
    refresh,
    report_done,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.picker import NAMED, Picker
from gwtui.watch.feeds.guardrails import (
    FEEDS,
    AssignmentRow,
    Bindings,
    GuardrailRow,
    bindings_feed,
    read_people,
)
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.organization import MemberRow, PersonRow, shown_person
from gwtui.watch.hub import unshared

# From a guardrail -------------------------------------------------------------------------------


async def assign(kind: AssignmentKind, context: ActionContext[GuardrailRow]) -> None:
    """Pick keys or members, see what is replaced, assign."""
    row = context.target
    if not row.made or not row.guardrail.id:
        say_not_made(context)
        return
    reading = context.app.gateway.guardrails.get(row.guardrail.id)
    fresh = await read_again(context, reading, f"Guardrail {shown_name(row)}", FEEDS)
    if fresh is None:
        return
    bindings = (await bindings_feed(context.app.hub).refresh()).value or Bindings()
    if context.covered:
        return
    assigning = _AssignmentFlow(context, kind, fresh, bindings)
    title = f"Assign guardrail {shown_name(row)} to {kind.noun}s"
    form = FormScreen(assigning.form(title), plain_facts(context), assigning.submit)
    match await context.app.push_screen_wait(form):
        case Applied(number):
            done = f"Guardrail {shown_name(row)} assigned to {count(number, kind.noun)}"
            report_done(context, done)
        case None:
            return
    await refresh(context, FEEDS)


class _AssignmentFlow:
    """One form that assigns one guardrail; knows what each key or member holds now."""

    def __init__(
        self, context: ActionContext, kind: AssignmentKind, fresh: Guardrail, bindings: Bindings
    ) -> None:
        self._context = context
        self._kind = kind
        self._fresh = fresh
        self._current = kind.current(bindings)
        self._held = kind.held(bindings)
        self._names = _guardrail_names(bindings)
        self._offered: Mapping[str, Assignable] = {}

    def form(self, title: str) -> FormSpec:
        """Pick keys or members."""
        noun = f"{self._kind.noun}s"
        picked = Field(
            self._kind.field,
            noun.capitalize(),
            help=f"each of the {noun} holds one guardrail: assigning replaces it",
            choices=self._choices,
            empty="none yet",
            chosen="assign to",
            noun=noun,
            preview=self._replaced,
        )
        return FormSpec(
            title=title,
            model=self._kind.request,
            fields=(picked,),
            submit="Review",
            unknown_help="They may have been assigned or not: look at the list before you try "
            "again.",
        )

    async def _choices(self) -> Sequence[PickOption]:
        """What can get the guardrail, with what it holds now. Raises GatewayError."""
        found = await self._kind.candidates(self._context.app.gateway, self._fresh)
        self._offered = {one.identity: one for one in found}
        return [
            PickOption(one.identity, one.title, f"{self._holds(one.identity)} · {one.note}")
            for one in found
        ]

    def _holds(self, identity: str) -> str:
        guardrail = self._held.get(identity)
        if guardrail is None:
            return "no guardrail"
        if guardrail == self._fresh.id:
            return "has it already"
        return f"has {self._guardrail(guardrail, NAME_LIMIT)}"

    def _guardrail(self, identity: str, most: int) -> str:
        return safe_line(self._names.get(identity) or identity, most)

    def _replaced(
        self, value: Sequence[str] | None, _values: Mapping[str, object], _facts: Facts
    ) -> Cell | None:
        """Whose guardrail is replaced, while picking."""
        replaced = [
            f"{self._guardrail(self._held[each], 30)} on {self._short(each)}"
            for each in value or ()
            if each in self._held and self._held[each] != self._fresh.id
        ]
        return Cell(f"replaces {several(replaced, 3)}", "warn") if replaced else None

    def _short(self, identity: str) -> str:
        known = self._offered.get(identity)
        return safe_line(identity, NAME_LIMIT) if known is None else known.short

    async def submit(self, request: RequestModel) -> Outcome[int] | None:
        """Show what is assigned and replaced, then assign."""
        chosen: Sequence[str] = getattr(request, self._kind.field)
        strange = [each for each in chosen if each not in self._offered]
        if strange:
            who = safe_line(", ".join(strange), 200)
            why = f"Not a {self._kind.noun} of this account, as far as is known: {who}."
            return Refused(NotSentError(why))
        called = {each: self._offered[each].called for each in chosen}
        plan = plan_assign(self._kind, self._fresh, called, self._current, self._names)
        confirmation = await confirm(self._context, plan, "Assign")
        return None if confirmation is None else await execute(self._context, confirmation)


# From a list of keys, members or people ---------------------------------------------------------


async def to_keys(context: ActionContext[KeyRow]) -> None:
    """Assign a guardrail to the marked keys, or to the selected one."""
    rows = context.chosen
    await _pick_and_assign(context, KEYS, key_names(row.key for row in rows if row.key.hash))


async def to_members(context: ActionContext[MemberRow]) -> None:
    """Assign a guardrail to the marked members of a workspace, or to the selected one."""
    rows = context.chosen
    await _to_users(context, {row.member.user_id or "": row.called for row in rows})


async def to_people(context: ActionContext[PersonRow]) -> None:
    """Assign a guardrail to the marked people, or to the selected one."""
    rows = context.chosen
    people = {row.person.id or "": shown_person(row.person, row.person.id) for row in rows}
    await _to_users(context, people)


async def _to_users(context: ActionContext, people: Names) -> None:
    await _pick_and_assign(context, MEMBERS, {user: named(user, people) for user in people if user})


async def _pick_and_assign(context: ActionContext, kind: AssignmentKind, called: Names) -> None:
    """Read what holds what, let a guardrail be picked, show what it replaces, send."""
    app, chosen = context.app, count(len(called), kind.noun)
    if not called:
        app.say(f"The gateway gave this {kind.noun} no identifier", severity="warning")
        return
    bindings = (await bindings_feed(app.hub).refresh()).value or Bindings()
    known = {
        identity: row
        for identity, row in (bindings.guardrails or {}).items()
        if row.made and row.guardrail.id
    }
    if not known:
        why = "No guardrail can be assigned: 6 lists them, n there makes one"
        app.say("; ".join(bindings.faults) or why, severity="warning")
        return
    held = kind.held(bindings)
    present = {held.get(identity) for identity in called}
    picked = await _pick(context, f"Guardrail for {chosen}", known, present)
    if picked is None:
        return
    name = f"Guardrail {shown_name(known[picked])}"
    fresh = await read_again(context, app.gateway.guardrails.get(picked), name, FEEDS)
    if fresh is None:
        return
    names = {identity: display_name(row) for identity, row in known.items()}
    plan = plan_assign(kind, fresh, called, kind.current(bindings), names)
    await confirm_and_report(context, plan, "Assign", f"{name} assigned to {chosen}", FEEDS)


async def _pick(
    context: ActionContext,
    title: str,
    known: Mapping[str, GuardrailRow],
    present: set[str | None],
) -> str | None:
    """One of the guardrails by its id; None when the person leaves."""
    if context.covered:
        return None
    options = [
        PickOption(
            identity,
            safe_line(display_name(row), NAMED),
            ("has it already · " if present == {identity} else "")
            + safe_line(row.workspace_name or "", NAMED),
        )
        for identity, row in sorted(
            known.items(), key=lambda item: display_name(item[1]).casefold()
        )
    ]
    return await context.app.push_screen_wait(Picker(title, options))


# From the list of assignments -------------------------------------------------------------------


async def unassign(context: ActionContext) -> None:
    """Take guardrails from the marked keys and members, or from the selected one."""
    rows = context.chosen
    known = await read_people(unshared(context.app.gateway))
    people = {user: shown_person(person, user) for user, person in known.items()}
    plans = _unassign_plans(rows, people)
    if not plans:
        return
    title = f"Take guardrails away in {len(plans)} requests"
    shown = plans[0] if len(plans) == 1 else bundle_alike(title, plans, undo_each(plans))
    await confirm_and_report(context, shown, "Take it away", _taken_away, FEEDS)


def _taken_away(numbers: int | tuple[int, ...]) -> str:
    number = sum(numbers) if isinstance(numbers, tuple) else numbers
    return f"{count(number, 'assignment')} taken away"


def _unassign_plans(rows: Sequence[AssignmentRow], people: Names) -> list[Plan[Any]]:
    """One plan for each guardrail and kind: that is what one request can do."""
    plans: list[Plan[Any]] = []
    for identity in dict.fromkeys(row.assignment.guardrail_id for row in rows):
        of_one = [row for row in rows if row.assignment.guardrail_id == identity]
        for kind in (KEYS, MEMBERS):
            of_kind = [
                row.assignment for row in of_one if isinstance(row.assignment, kind.assignment)
            ]
            if of_kind:
                plans.append(plan_unassign(kind, _guardrail(of_one[0]), of_kind, people))
    return plans


def _guardrail(row: AssignmentRow) -> Guardrail:
    """The guardrail of an assignment; by its identifier alone where nothing else is known."""
    if row.guardrail is not None:
        return row.guardrail.guardrail
    return Guardrail.model_validate({"id": row.assignment.guardrail_id})


def _guardrail_names(bindings: Bindings) -> Names:
    """Guardrails by name."""
    return {identity: display_name(row) for identity, row in (bindings.guardrails or {}).items()}


HANDLERS: Mapping[str, Handler] = {
    "guardrails.assign_keys": partial(assign, KEYS),
    "guardrails.assign_members": partial(assign, MEMBERS),
    "keys.assign": to_keys,
    "members.assign": to_members,
    "organization.assign": to_people,
    "assignments.remove": unassign,
}
