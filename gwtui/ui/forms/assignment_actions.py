"""Assigning guardrails to keys and members, many at once, and taking them away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from gwtui.actions.assignment_plans import (
    plan_assign_keys,
    plan_assign_members,
    plan_unassign_keys,
    plan_unassign_members,
)
from gwtui.actions.plan import Applied, Outcome, Plan, Refused, Unknown
from gwtui.actions.wording import Names, count, several
from gwtui.client.errors import NotSentError
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.contract.keys import ApiKey
from gwtui.contract.members import OrganizationMember
from gwtui.contract.request import RequestModel
from gwtui.domain.safe_text import safe_line
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.fields import Facts, FormSpec, MultiPickField, PickOption
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.notice import NoticeScreen
from gwtui.ui.forms.writing import (
    LOOK,
    carry_out,
    carry_out_all,
    covered,
    read_again,
    refresh,
)
from gwtui.ui.guardrail_links import say_not_made
from gwtui.ui.resources.assignments import AssignmentRow, assignments_feed, fetch_people
from gwtui.ui.resources.guardrail_bindings import FEEDS, Bindings, bindings_feed
from gwtui.ui.resources.guardrail_row import GuardrailRow, display_name, shown_name
from gwtui.ui.resources.keys import fetch_keys
from gwtui.ui.resources.people import shown_person
from gwtui.ui.resources.spec import Cell, Scope
from gwtui.ui.screens.resource import ResourceScreen

_NAME = 60
_LOST = "They may have been assigned or not: look at the list before you try again."


class _Assigning:
    """One form that assigns one guardrail; knows what each key and member holds now."""

    def __init__(self, context: ActionContext, row: GuardrailRow, fresh: Guardrail) -> None:
        self._context = context
        self._row = row
        self._fresh = fresh
        self._bindings = Bindings()
        self._keys: dict[str, ApiKey] = {}
        self._people: Mapping[str, OrganizationMember] = {}

    async def read(self) -> None:
        """What holds which guardrail now. Never raises: what cannot be read is said in the plan."""
        state = await bindings_feed(self._context.app.hub).refresh()
        self._bindings = state.value or Bindings()

    @property
    def _names(self) -> Names:
        """Guardrails by name."""
        guardrails = self._bindings.guardrails or {}
        return {identity: display_name(row) for identity, row in guardrails.items()}

    def _held(self, guardrail: str | None) -> str:
        """What a key or member holds, as the note beside it."""
        if guardrail is None:
            return "no guardrail"
        if guardrail == self._fresh.id:
            return "has it already"
        return f"has {safe_line(self._names.get(guardrail) or guardrail, _NAME)}"

    # Keys -----------------------------------------------------------------------------------

    def key_form(self) -> FormSpec:
        """Pick keys."""
        return self._form("key_hashes", "Keys", "keys", AssignKeysRequest)

    async def _key_choices(self) -> Sequence[PickOption]:
        """Every key, those of the guardrail's own workspace first. Raises GatewayError."""
        rows = await fetch_keys(self._context.app.gateway, None)
        self._keys = {row.key.hash: row.key for row in rows if row.key.hash}
        own, held = self._fresh.workspace_id, self._bindings.by_key()
        ordered = sorted(
            (row for row in rows if row.key.hash),
            key=lambda row: (row.key.workspace_id != own, (row.key.name or "").casefold()),
        )
        return [
            PickOption(
                row.key.hash or "",
                safe_line(row.key.name or row.key.label or row.key.hash or "", _NAME),
                f"{self._held(held.get(row.identity))} · {safe_line(row.workspace_name or '', 30)}",
            )
            for row in ordered
        ]

    async def submit_keys(self, request: RequestModel) -> Outcome[int] | None:
        """Show what is assigned and replaced, then assign."""
        hashes = cast("AssignKeysRequest", request).key_hashes
        strange = [each for each in hashes if each not in self._keys]
        if strange:
            return _stranger("key", strange)
        keys = [self._keys[each] for each in hashes]
        plan = plan_assign_keys(self._fresh, keys, self._bindings.keys, self._names)
        return await self._confirm(plan)

    # Members --------------------------------------------------------------------------------

    def member_form(self) -> FormSpec:
        """Pick members."""
        return self._form("member_user_ids", "Members", "members", AssignMembersRequest)

    async def _member_choices(self) -> Sequence[PickOption]:
        """Everybody in the organization. Raises GatewayError."""
        people = (await self._context.app.gateway.organization.members()).items
        self._people = {person.id: person for person in people if person.id}
        held = self._bindings.by_member()
        return [
            PickOption(
                user,
                shown_person(person, user),
                f"{self._held(held.get(user))} · {safe_line(person.email or '', 40)}",
            )
            for user, person in self._people.items()
        ]

    async def submit_members(self, request: RequestModel) -> Outcome[int] | None:
        """Show what is assigned and replaced, then assign."""
        users = cast("AssignMembersRequest", request).member_user_ids
        strange = [each for each in users if each not in self._people]
        if strange:
            return _stranger("member", strange)
        people = {user: shown_person(person, user) for user, person in self._people.items()}
        plan = plan_assign_members(self._fresh, users, self._bindings.members, self._names, people)
        return await self._confirm(plan)

    # Both -----------------------------------------------------------------------------------

    def _form(self, field: str, label: str, noun: str, model: type[RequestModel]) -> FormSpec:
        keys = model is AssignKeysRequest
        return FormSpec(
            title=f"Assign guardrail {shown_name(self._row)} to {noun}",
            model=model,
            fields=(
                MultiPickField(
                    field,
                    label,
                    help=f"each of the {noun} holds one guardrail: assigning replaces it",
                    choices=self._key_choices if keys else self._member_choices,
                    empty="none yet",
                    chosen="assign to",
                    noun=noun,
                    preview=self._preview,
                ),
            ),
            submit="Review",
            unknown_help=_LOST,
        )

    def _preview(
        self, value: Sequence[str] | None, _values: Mapping[str, Any], _facts: Facts
    ) -> Cell | None:
        """Whose guardrail is replaced, while picking."""
        held = {**self._bindings.by_key(), **self._bindings.by_member()}
        replaced = [
            f"{safe_line(self._names.get(held[each]) or held[each], 30)} on {self._called(each)}"
            for each in value or ()
            if each in held and held[each] != self._fresh.id
        ]
        return Cell(f"replaces {several(replaced, 3)}", "warn") if replaced else None

    def _called(self, identity: str) -> str:
        key = self._keys.get(identity)
        if key is not None:
            return safe_line(key.name or key.label or identity, 30)
        return shown_person(self._people.get(identity), identity)

    async def _confirm(self, plan: Plan[int]) -> Outcome[int] | None:
        app = self._context.app
        if not await app.push_screen_wait(ConfirmScreen(plan, deliberate="Assign")):
            return None
        return await carry_out(self._context, plan)


def _stranger(noun: str, unknown: Sequence[str]) -> Refused:
    who = safe_line(", ".join(unknown), 200)
    return Refused(NotSentError(f"Not a {noun} of this account, as far as is known: {who}."))


async def assign_keys(context: ActionContext) -> None:
    """Pick keys, see what is replaced, assign."""
    assigning = await _begin(context)
    if assigning is not None:
        await _assign(
            context, FormScreen(assigning.key_form(), _facts(context), assigning.submit_keys), "key"
        )


async def assign_members(context: ActionContext) -> None:
    """Pick members, see what is replaced, assign."""
    assigning = await _begin(context)
    if assigning is not None:
        form = FormScreen(assigning.member_form(), _facts(context), assigning.submit_members)
        await _assign(context, form, "member")


async def _begin(context: ActionContext) -> _Assigning | None:
    row = cast("GuardrailRow", context.target)
    if not row.made or not row.guardrail.id:
        say_not_made(context)
        return None
    reading = context.app.gateway.guardrails.get(row.guardrail.id)
    fresh = await read_again(context, reading, f"Guardrail {shown_name(row)}", FEEDS)
    if fresh is None:
        return None
    assigning = _Assigning(context, row, fresh)
    await assigning.read()
    return None if covered(context) else assigning


async def _assign(context: ActionContext, form: FormScreen[int], noun: str) -> None:
    match await context.app.push_screen_wait(form):
        case Applied(number):
            name = shown_name(cast("GuardrailRow", context.target))
            context.app.say(f"Guardrail {name} assigned to {count(number, noun)}")
        case None:
            return
    await refresh(context, FEEDS)


async def unassign(context: ActionContext) -> None:
    """Take guardrails from the marked keys and members, or from the selected one."""
    app = context.app
    people = {
        user: shown_person(person, user)
        for user, person in (await fetch_people(app.gateway)).items()
    }
    plans = _unassign_plans(_chosen(context), people)
    if covered(context) or not plans:
        return
    shown = plans[0] if len(plans) == 1 else _together(plans)
    if not await app.push_screen_wait(ConfirmScreen(shown, deliberate="Take it away")):
        return
    outcome = await carry_out_all(context, plans, lambda plan: plan.title)
    match outcome:
        case Applied(numbers):
            app.say(f"{count(sum(numbers), 'assignment')} taken away")
        case Refused(error):
            app.say(safe_line(error.message, 300), severity="error")
        case Unknown(error):
            text = f"{safe_line(error.message, 300)} It may have happened or not. {LOOK}"
            await app.push_screen_wait(NoticeScreen("The answer was lost", text))
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


def _together(plans: Sequence[Plan[int]]) -> Plan[int]:
    """Several requests as one plan to be confirmed; what is sent are the plans themselves."""

    async def nothing(_client: object) -> int:
        raise RuntimeError("plans that are confirmed together are sent one by one")

    changes = tuple(change for plan in plans for change in plan.changes)
    return replace(
        plans[0],
        title=f"Take guardrails away in {len(plans)} requests",
        send=nothing,
        changes=changes,
        effects=tuple(dict.fromkeys(line for plan in plans for line in plan.effects)),
    )


def _chosen(context: ActionContext) -> list[AssignmentRow]:
    """The marked rows, else the one that was selected at the key press."""
    screen = context.screen
    marked = set(screen.table.marked) if isinstance(screen, ResourceScreen) else set()
    if not marked or not isinstance(screen, ResourceScreen):
        return [cast("AssignmentRow", context.target)]
    scope = Scope(context.app.scope.workspace, screen.parent_row)
    feed = assignments_feed(context.app.hub, scope)
    return [row for row in feed.state.value or () if row.identity in marked]


def _facts(context: ActionContext) -> Facts:
    return Facts(context.app.clock.now, context.app.local_zone)


HANDLERS: Mapping[str, Handler] = {
    "guardrails.assign_keys": assign_keys,
    "guardrails.assign_members": assign_members,
    "assignments.remove": unassign,
}
