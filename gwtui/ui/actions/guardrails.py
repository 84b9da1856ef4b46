"""Actions on guardrails and their assignments to keys and members.

The default guardrail of a workspace is listed before it exists, and created on the first edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.client.errors import GatewayError
from gwtui.contract.guardrails import Guardrail
from gwtui.crud import cells
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import NAME_LIMIT, Names, count, named, quoted
from gwtui.crud.undo import as_one
from gwtui.domain.catalog import verdict
from gwtui.domain.guardrail_effect import (
    GuardrailEffect,
    GuardrailRestrictions,
    ModelEffect,
    effect_on_catalog,
    restrictions_of,
)
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments import (
    KEYS,
    MEMBERS,
    Assignable,
    AssignmentKind,
    key_names,
    plan_assign,
    plan_unassign,
)
from gwtui.resources.choices import value_now, value_soon
from gwtui.resources.guardrails.effect import endpoint_title, rank
from gwtui.ui.actions import bulk, crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import report_missing_default
from gwtui.ui.actions.writing import (
    confirm_and_report,
    pick,
    read_again,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.pages import SearchPage
from gwtui.ui.screens.picker import NAMED, Picker
from gwtui.ui.text import toned
from gwtui.watch.feeds.guardrails import (
    FEEDS,
    AssignmentRow,
    Bindings,
    GuardrailRow,
    bindings_feed,
)
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import catalog_feed
from gwtui.watch.feeds.workspaces import MemberRow, PersonRow, read_people, shown_person
from gwtui.watch.hub import single_use_reader

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp

_ENDPOINT = 28
"""Width in cells of the column with the endpoints."""


class GuardrailFormScreen(FormScreen[Guardrail]):
    """The form of a guardrail; F2 lists the endpoints that the rules allow and sends no change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "remaining", show=False)]

    @work(group="allowed", exclusive=True)
    async def action_remaining(self) -> None:
        app, rules = cast("GwtuiApp", self.app), restrictions_of(self.state.values())
        try:
            await _show_allowed(app, {"the rules of this form": rules})
        except GatewayError as error:
            app.say(error.message, severity="error")


# Allowed endpoints --------------------------------------------------------------------------------


async def show_remaining(context: ActionContext[GuardrailRow]) -> None:
    """List the endpoints that the guardrail and the default of its workspace allow."""
    row, bindings = context.target, await value_soon(bindings_feed(context.app.hub)) or Bindings()
    applied = {quoted(row.display_name): restrictions_of(row.guardrail)}
    for other in (bindings.guardrails or {}).values():
        same_place = other.guardrail.workspace_id == row.guardrail.workspace_id
        if other.is_default and other.exists and same_place:
            applied[quoted(other.display_name)] = restrictions_of(other.guardrail)
    await _show_allowed(context.app, applied)


async def _show_allowed(app: GwtuiApp, applied: Mapping[str, GuardrailRestrictions]) -> None:
    below = app.screen
    view = await value_now(catalog_feed(app.hub))
    effect = effect_on_catalog(view, list(applied.values()), app.connection.dialect)
    names = " and ".join(applied)
    if app.screen is below:
        await app.push_screen(
            SearchPage(f"Endpoints that {names} allow", partial(allowed_lines, effect))
        )


def allowed_lines(effect: GuardrailEffect, width: int, search_text: str = "") -> list[Content]:
    """Return a summary, then the models that contain all words of ``search_text``, worst first."""
    lines = [toned(*effect.summary)]
    # Entries that match nothing have no effect: they may be misspelt.
    if strangers := dict.fromkeys(safe_line(entry, 40) for _, entry in effect.unmatched):
        lines += toned(f"not in the catalog: {', '.join(strangers)}", "warn").wrap(width)
    lines.append(Content(""))
    words = search_text.casefold().split()
    for model in sorted(effect.models, key=lambda model: (rank(model), model.model.name or "")):
        shown = model_lines(model)
        text = " ".join(line.plain for line in shown).casefold()
        if all(word in text for word in words):
            lines += shown
    return lines


def model_lines(effect: ModelEffect) -> list[Content]:
    """Return the verdict on a model, its allowed endpoints, and the blocked ones with the reasons.

    The endpoints of a blocked model are left out. A question mark replaces the check mark if
    a rule could not be read, so that nobody knows what the guardrail allows.
    """
    outcome = effect.verdict
    lines = [
        Content.assemble(
            toned(cells.text(effect.model.name or effect.model.id).text, "plain", bold=True),
            toned(f"  {outcome.word}", outcome.tone),
            toned(f": {outcome.why}", "muted"),
        )
    ]
    mark = toned("  ? ", "warn") if effect.unreadable else toned("  ✓ ", "good")
    for endpoint in effect.remaining:
        state = verdict(endpoint)
        title = toned(f"{endpoint_title(endpoint):<{_ENDPOINT}} ")
        lines.append(Content.assemble(mark, title, toned(state.word, state.tone)))
    for blocked in effect.blocked if outcome.word != "model blocked" else ():
        title = toned(f"{endpoint_title(blocked.endpoint):<{_ENDPOINT}} ", "muted")
        reasons = toned(", ".join(blocked.reasons))
        lines.append(Content.assemble(toned("  ✗ ", "bad"), title, reasons))
    return lines


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    if context.marked:
        await bulk.delete(context, lambda row: "" if row.exists else "not set up")
        return
    if context.target.exists:
        await crud.delete(context)
    else:
        report_missing_default(context)


# From a guardrail -------------------------------------------------------------------------------


async def assign(kind: AssignmentKind, context: ActionContext[GuardrailRow]) -> None:
    """Pick keys or members, review the replaced guardrails, assign."""
    row = context.target
    if not row.exists or not row.guardrail.id:
        report_missing_default(context)
        return
    reading = context.app.gateway.guardrails.get(row.guardrail.id)
    fresh = await read_again(context, reading, f"Guardrail {row.quoted_name}", FEEDS)
    bindings = (await bindings_feed(context.app.hub).refresh()).value or Bindings()
    names, held = _guardrail_names(bindings), kind.held(bindings)

    def option(assignable: Assignable) -> PickOption:
        guardrail = held.get(assignable.identity)
        holds = "no guardrail" if guardrail is None else f"replaces “{_name(guardrail, names)}”"
        holds = "already assigned, kept" if guardrail and guardrail == fresh.id else holds
        return PickOption(assignable.identity, assignable.title, f"{holds} · {assignable.note}")

    candidates = await kind.candidates(context.app.gateway, fresh)
    options = {
        candidate.identity: (candidate.called, option(candidate)) for candidate in candidates
    }
    title = f"Assign guardrail {row.quoted_name} to {kind.noun}s"
    field = Field(kind.field, title, empty="", chosen="assign to", noun=f"{kind.noun}s")
    if context.is_covered:
        return
    chosen = await pick(context, field, kind.request, options)
    if chosen:
        plan = plan_assign(kind, fresh, chosen, kind.current(bindings), names)

        def done(number: int) -> str:
            return f"Guardrail {row.quoted_name} assigned to {count(number, kind.noun)}"

        await confirm_and_report(context, plan, "Assign", done, FEEDS)


def _name(identity: str, names: Names, most: int = NAME_LIMIT) -> str:
    return safe_line(names.get(identity) or identity, most)


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
    app, chosen = context.app, count(len(called), kind.noun)
    if not called:
        app.say(f"This {kind.noun} has no id", severity="warning")
        return
    bindings = (await bindings_feed(app.hub).refresh()).value or Bindings()
    known = {
        identity: row
        for identity, row in (bindings.guardrails or {}).items()
        if row.exists and row.guardrail.id
    }
    if not known:
        why = "There is no guardrail to assign: press 5, then n to create one"
        app.say("; ".join(bindings.faults) or why, severity="warning")
        return
    held = kind.held(bindings)
    present = {held.get(identity) for identity in called}
    picked = await _pick(context, f"Guardrail for {chosen}", known, present)
    if picked is None:
        return
    name = f"Guardrail {known[picked].quoted_name}"
    fresh = await read_again(context, app.gateway.guardrails.get(picked), name, FEEDS)
    names = {identity: row.display_name for identity, row in known.items()}
    plan = plan_assign(kind, fresh, called, kind.current(bindings), names)
    await confirm_and_report(context, plan, "Assign", f"{name} assigned to {chosen}", FEEDS)


async def _pick(
    context: ActionContext,
    title: str,
    known: Mapping[str, GuardrailRow],
    present: set[str | None],
) -> str | None:
    if context.is_covered:
        return None
    options = [
        PickOption(
            identity,
            safe_line(row.display_name, NAMED),
            ("already assigned · " if present == {identity} else "")
            + safe_line(row.workspace_name or "", NAMED),
        )
        for identity, row in sorted(known.items(), key=lambda item: item[1].display_name.casefold())
    ]
    return await context.app.push_screen_wait(Picker(title, options))


# From the list of assignments -------------------------------------------------------------------


async def unassign(context: ActionContext) -> None:
    """Unassign the guardrails of the marked keys and members, or of the selected one."""
    rows = context.chosen
    known = await read_people(single_use_reader(context.app.gateway))
    people = {user: shown_person(person, user) for user, person in known.items()}
    plans = _unassign_plans(rows, people)
    if not plans:
        return
    title = f"Unassign guardrails in {len(plans)} requests"
    await confirm_and_report(context, as_one(title, plans), "Unassign", _removed, FEEDS)


def _removed(numbers: int | tuple[int, ...]) -> str:
    number = sum(numbers) if isinstance(numbers, tuple) else numbers
    return f"{count(number, 'assignment')} removed"


def _unassign_plans(rows: Sequence[AssignmentRow], people: Names) -> list[Plan[Any]]:
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
    if row.guardrail is not None:
        return row.guardrail.guardrail
    return Guardrail.model_validate({"id": row.assignment.guardrail_id})


def _guardrail_names(bindings: Bindings) -> Names:
    return {identity: row.display_name for identity, row in (bindings.guardrails or {}).items()}


HANDLERS: Mapping[str, Handler] = {
    "guardrails.remaining": show_remaining,
    "guardrails.create": partial(crud.create, screen=GuardrailFormScreen),
    "guardrails.edit": partial(crud.edit, screen=GuardrailFormScreen),
    "guardrails.delete": delete,
    "guardrails.assign_keys": partial(assign, KEYS),
    "guardrails.assign_members": partial(assign, MEMBERS),
    "keys.assign": to_keys,
    "members.assign": to_members,
    "organization.assign": to_people,
    "assignments.remove": unassign,
}
