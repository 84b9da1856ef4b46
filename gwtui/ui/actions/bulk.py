"""What verbs do to all marked rows: one plan, one question, a result for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gwtui.crud.bulk import Bulk, BulkRun, Wish, plan_many
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Confirmation
from gwtui.crud.text import count
from gwtui.crud.wishes import Many
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.writing import confirm, covered, refresh, say_done, send_one
from gwtui.ui.forms.progress import ProgressScreen
from gwtui.ui.in_doubt import route_to
from gwtui.ui.screens.ask import NoticeScreen
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.header import whose

_OFF, _ON = "disable", "enable"


async def toggle(context: ActionContext) -> None:
    """Disable or enable what is marked; where some are disabled and some are not, it is asked."""
    many, names = _marked(context)
    if many is None:
        return
    states = {one.disabled for one in many.known.values()}
    wanted: str | None = _ON if states == {True} else _OFF
    if len(states) > 1:
        noun = context.spec.singular if context.spec is not None else "row"
        title = f"Some of the {count(len(names), noun)} are disabled, some are not. Which way?"
        choices = [
            Choice(_OFF, "Disable all", "those that are disabled stay so"),
            Choice(_ON, "Enable all", "those that are enabled stay so"),
        ]
        if covered(context):
            return
        wanted = await context.app.push_screen_wait(ChooseScreen(title, choices, current=None))
    if wanted is not None:
        button, done = ("Disable", "disabled") if wanted == _OFF else ("Enable", "enabled")
        await carry_out(context, many.switch(wanted == _OFF), names, button, done)


async def delete(context: ActionContext) -> None:
    """Delete what is marked, after a confirmation that no single key gives."""
    many, names = _marked(context)
    if many is not None and many.any.delete is not None:
        how = many.any.delete
        await carry_out(context, many.delete(), names, how.button, how.done)


async def carry_out(
    context: ActionContext, wish: Wish, names: Mapping[str, str], button: str, done: str
) -> None:
    """Plan a wish for many, ask once, send one after the other, and say what became of each."""
    hidden = context.marks.hidden
    wanted = dict(names)
    while wanted:
        bulk = await plan_many(wish, wanted, hidden)
        if covered(context):
            return
        if not bulk.parts:
            await _say_nothing_left(context, bulk)
            return
        confirmation = await confirm(context, bulk.plan, button)
        if confirmation is None:
            return
        run = await run_and_tell(context, bulk, confirmation, done)
        # What was refused was not applied: it is planned, shown and agreed to anew.
        wanted = {one.part.identity: one.part.name for one in run} if run else {}
        hidden = 0


async def run_and_tell(
    context: ActionContext, bulk: Bulk, confirmation: Confirmation[Any], done: str
) -> Sequence[Any]:
    """Send what was agreed to; the refused ones that the person wants to try again."""
    app = context.app
    run = BulkRun(bulk, confirmation, partial(send_one, context))
    answer = await _send(context, run)
    while answer == "resume":
        answer = await _send(context, run)
    app.executor.undo.add_many(bulk.plan, run.carried_out)
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.unmark(part.identity for part, _ in run.carried_out)
    said = f"{count(len(run.carried_out), bulk.wish.noun)} {done}"
    if run.complete:
        say_done(context, said)
    elif run.carried_out:
        say_done(context, f"{said}; {run.summary()}")
    await refresh(context, *feeds_of(context))
    if answer == "look" and run.lost is not None:
        await app.open_route(route_to(run.lost.part.plan.id))
    return run.having("refused") if answer == "retry" else ()


async def _send(context: ActionContext, run: BulkRun) -> str:
    return await context.app.push_screen_wait(ProgressScreen(run, whose(context.app)))


async def _say_nothing_left(context: ActionContext, bulk: Bulk) -> None:
    """Why there is nothing to send."""
    title = f"{bulk.wish.verb}: nothing is left to send"
    await context.app.push_screen_wait(NoticeScreen(title, "\n".join(bulk.plan.effects)))
    await refresh(context, *feeds_of(context))


def feeds_of(context: ActionContext) -> tuple[str, ...]:
    """The feeds that a write of what is listed makes out of date begin so."""
    spec = context.spec
    return () if spec is None or not spec.writes else spec.written.feeds


def _marked(context: ActionContext) -> tuple[Many | None, Mapping[str, str]]:
    """What was marked at the key press, and what each is called; None where nothing has an id."""
    spec, app = context.spec, context.app
    if spec is None:
        return None, {}
    declared, dialect = spec.written, app.connection.dialect
    found = [(declared.for_row(row, dialect), row) for row in context.chosen]
    ones = [(writes, writes.of_row(row)) for writes, row in found]
    nameless = [writes.name(one) for writes, one in ones if not writes.identity(one)]
    if nameless:
        key = by_id("list.unmark").keys[0]
        why = f"The gateway gave {len(nameless)} of them no {declared.identifier}"
        app.say(f"{why}: they cannot be changed; {key} takes the marks away", severity="warning")
        return None, {}
    of_id = {str(writes.identity(one)): (writes, one) for writes, one in ones}
    if not of_id:
        return None, {}
    many = Many(
        app.gateway,
        {identity: writes for identity, (writes, _) in of_id.items()},
        {identity: one for identity, (_, one) in of_id.items()},
        PlanContext(app.clock.now(), {}, dialect),
    )
    return many, {identity: writes.name(one) for identity, (writes, one) in of_id.items()}
