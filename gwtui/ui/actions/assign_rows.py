"""From a list of keys, members or people to the guardrail that they get: pick it, see, assign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gwtui.contract.guardrails import Guardrail
from gwtui.crud.form import PickOption
from gwtui.crud.plan import Plan
from gwtui.crud.text import Names, count
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments.plans import plan_assign_keys, plan_assign_members
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.resources.members.resource import MemberRow
from gwtui.resources.organization.resource import PersonRow, shown_person
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import confirm_and_tell, covered, read_again
from gwtui.ui.forms.one_of_many import FindScreen
from gwtui.ui.forms.search import NAMED, SearchOption
from gwtui.watch.feeds.guardrails import FEEDS, Bindings, GuardrailRow, bindings_feed
from gwtui.watch.feeds.keys import KeyRow

_MakePlan = Callable[[Guardrail, Bindings, Names], Plan[int]]
"""The plan of a guardrail, in view of what holds which guardrail now and of their names."""


async def to_keys(context: ActionContext[KeyRow]) -> None:
    """Assign a guardrail to the marked keys, or to the selected one."""
    rows = context.chosen
    keys = {row.key.hash: row.key for row in rows if row.key.hash}

    def plan(guardrail: Guardrail, bindings: Bindings, names: Names) -> Plan[int]:
        return plan_assign_keys(guardrail, [*keys.values()], bindings.keys, names)

    await _assign(context, [*keys], "key", lambda bindings: bindings.by_key(), plan)


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
    users = [user for user in people if user]

    def plan(guardrail: Guardrail, bindings: Bindings, names: Names) -> Plan[int]:
        return plan_assign_members(guardrail, users, bindings.members, names, people)

    await _assign(context, users, "member", lambda bindings: bindings.by_member(), plan)


async def _assign(
    context: ActionContext,
    chosen: Sequence[str],
    noun: str,
    holders: Callable[[Bindings], Mapping[str, str]],
    make_plan: _MakePlan,
) -> None:
    """Read what holds what, let a guardrail be picked, show what it replaces, send."""
    app = context.app
    if not chosen:
        app.say(f"The gateway gave this {noun} no identifier", severity="warning")
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
    held = holders(bindings)
    present = {held.get(identity) for identity in chosen}
    picked = await _pick(context, f"Guardrail for {count(len(chosen), noun)}", known, present)
    if picked is None:
        return
    reading = app.gateway.guardrails.get(picked)
    fresh = await read_again(context, reading, f"Guardrail {shown_name(known[picked])}", FEEDS)
    if fresh is None:
        return
    names = {identity: display_name(row) for identity, row in known.items()}
    plan = make_plan(fresh, bindings, names)
    done = f"Guardrail {shown_name(known[picked])} assigned to {count(len(chosen), noun)}"
    await confirm_and_tell(context, plan, "Assign", done, FEEDS)


async def _pick(
    context: ActionContext,
    title: str,
    known: Mapping[str, GuardrailRow],
    present: set[str | None],
) -> str | None:
    """One of the guardrails by its id; None when the person leaves."""

    async def choices() -> Sequence[PickOption]:
        return [
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

    if covered(context):
        return None
    kept = await context.app.push_screen_wait(FindScreen(title, SearchOption(choices), ""))
    return kept.typed if kept is not None and isinstance(kept.typed, str) and kept.typed else None


HANDLERS: Mapping[str, Handler] = {
    "keys.assign": to_keys,
    "members.assign": to_members,
    "organization.assign": to_people,
}
