"""What every write of the dashboard shares: plan, confirm, carry out, report, refresh.

The one place of the user interface where a :class:`Confirmation` is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError, NotSentError
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import Facts, FormContext
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan, Refused, Unknown
from gwtui.crud.plan_text import sentence
from gwtui.crud.undo_list import UNDO_TIME
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.resources.choices import value_soon
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.commands import key_of
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.in_doubt_writes import PLACE, route_to
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.frame import gateway_label
from gwtui.watch.feeds.workspaces import workspaces_feed

T = TypeVar("T")

_NAME = 60
_REMOVING = frozenset({"delete", "remove"})
"""The verbs after which rows are gone."""
LOOK = "It is not sent again. Look what became of it before you try again."


def plain_facts(context: ActionContext) -> Facts:
    """Clock and zone: what every form knows."""
    app = context.app
    return Facts(app.clock.now, app.local_zone, where=gateway_label(app))


async def workspace_facts(context: ActionContext) -> Facts:
    """Clock, zone and workspace names; without the names when they do not come soon."""
    app = context.app
    spaces = await value_soon(workspaces_feed(app.hub, app.scope))
    names = {
        space.id: safe_line(space.name or space.slug or space.id, _NAME)
        for space in spaces or ()
        if space.id
    }
    return Facts(app.clock.now, app.local_zone, names, where=gateway_label(app))


async def facts_for(context: ActionContext, request: type[RequestModel]) -> Facts:
    """What the form of a request must know: names of workspaces only where it may name one."""
    if "workspace_id" in request.model_fields:
        return await workspace_facts(context)
    return plain_facts(context)


def form_context(context: ActionContext) -> FormContext:
    """What the forms of a resource are built from, now."""
    app = context.app
    return FormContext(
        app.hub, app.gateway, app.connection.dialect, app.clock.now(), app.scope.workspace
    )


# Confirmation -------------------------------------------------------------------------------------


async def confirm(
    context: ActionContext,
    plan: Plan[T],
    deliberate: str,
    *,
    notes: tuple[str, ...] = (),
    typed: str = "",
) -> Confirmation[T] | None:
    """Show the plan and ask; None when it is not wanted or has obstacles.

    ``typed`` is a text that must be typed to confirm. On a critical profile it is the profile's
    name where nothing else is asked for.
    """
    wanted = typed or _critical_name(context)
    where = gateway_label(context.app)
    screen = ConfirmScreen(plan, deliberate=deliberate, notes=notes, typed=wanted, where=where)
    if not await context.app.push_screen_wait(screen) or plan.obstacles:
        return None
    return Confirmation(plan, "typed" if wanted else "dialog")


async def submitted(
    context: ActionContext, plan: Plan[T], deliberate: str
) -> Confirmation[T] | None:
    """What a form's own button agrees to.

    A plan with warnings is shown and confirmed by itself, and so is each on a critical profile.
    """
    if plan.warnings or _critical_name(context):
        return await confirm(context, plan, deliberate)
    return Confirmation(plan, "form")


async def go_instead(
    context: ActionContext, plan: Plan[Any], way_out: str, notes: tuple[str, ...] = ()
) -> bool:
    """Show what stands in the plan's way; whether the person takes the way out."""
    where = gateway_label(context.app)
    screen = ConfirmScreen(plan, deliberate="", notes=notes, way_out=way_out, where=where)
    return await context.app.push_screen_wait(screen)


def _critical_name(context: ActionContext) -> str:
    """What must be typed before each write; empty on a profile that is not critical."""
    return "" if context.app.session is None else context.app.connection.critical_name


# Carrying out -----------------------------------------------------------------------------------


async def execute(
    context: ActionContext,
    confirmation: Confirmation[Any],
    done: Callable[[Plan[Any]], str] = lambda plan: plan.title,
) -> Outcome[Any]:
    """Send the plan's requests one after the other, up to the first that fails.

    What was done before that stays done, and the failure says so in the words of ``done``. It can
    be undone together, as far as it has a way back. A plan of several parts gives a tuple.
    """
    session, plan = context.app.session, confirmation.plan
    outcome: Outcome[Any] = _NO_CONNECTION
    values: list[Any] = []
    for each in () if session is None else confirmation.each():
        outcome = await send_one(context, each)
        if not isinstance(outcome, Applied):
            break
        values.append(outcome.value)
    if session is not None and values:
        session.executor.undo.add(plan, tuple(values) if plan.parts else values[0])
    if not plan.parts:
        return outcome
    if isinstance(outcome, Applied):
        return Applied(tuple(values))
    message = f"{plan.parts[len(values)].title}: {outcome.error.message}"
    if values:
        carried = ", ".join(done(part) for part in plan.parts[: len(values)])
        message = f"Done before: {carried}. Then {message}"
    return replace(outcome, error=GatewayError(message, request_id=outcome.error.request_id))


_NO_CONNECTION = Refused(NotSentError("Nothing was sent: there is no connection now."))


async def send_one(context: ActionContext, confirmation: Confirmation[T]) -> Outcome[T]:
    """Send the plan's request; what could not be written down of it is told."""
    session = context.app.session
    if session is None:
        return _NO_CONNECTION
    await session.complete()
    executor = session.executor
    outcome = await executor.execute(confirmation)
    plan = confirmation.plan
    if isinstance(outcome, Unknown):
        # Not waited for: it reads from a gateway that just left a request without an answer.
        context.app.run_worker(context.app.hub.refresh(PLACE), group=PLACE)
    elif isinstance(outcome, Applied) and plan.action.rpartition(".")[2] in _REMOVING:
        if plan.undoes is None:
            context.expect_removed(plan.identity)
        else:
            context.screen.expect_gone(filter(None, (plan.identity,)))
    if fault := executor.ledger_fault:
        context.app.say(
            f"The outcome could not be written to the ledger: {fault}", severity="warning"
        )
    return outcome


def report_done(context: ActionContext, text: str) -> None:
    """Say what was done, and that it can be taken back where it can."""
    session = context.app.session
    if session is not None and session.executor.undo.latest() is not None:
        key, minutes = key_of("app.undo"), int(UNDO_TIME.total_seconds() // 60)
        text = f"{text}. {key} undoes it for {minutes} minutes."
    context.app.say(text)


async def refresh(context: ActionContext, *feeds: str) -> None:
    """Read again the feeds whose names begin so."""
    if context.app.session is not None:
        await asyncio.gather(*(context.app.hub.refresh(prefix) for prefix in feeds))


async def read_again(
    context: ActionContext, read: Awaitable[T], called: str, *feeds: str
) -> T | None:
    """A resource as it is now; None when that cannot be known, which is said.

    ``called`` names it at the beginning of a sentence: "Key “ci”".
    """
    try:
        return await read
    except NotFoundError:
        context.app.say(f"{called} no longer exists", severity="warning")
        await refresh(context, *feeds)
    except GatewayError as error:
        context.app.say(f"{called} could not be read again: {error.message}", severity="error")
    return None


async def confirm_and_report(
    context: ActionContext,
    plan: Plan[T],
    deliberate: str,
    done: str | Callable[[T], str],
    *feeds: str,
    notes: tuple[str, ...] = (),
    typed: str = "",
) -> Applied[T] | None:
    """Show the plan, carry it out when that is wanted, say what became of it."""
    if context.covered:
        return None
    confirmation = await confirm(context, plan, deliberate, notes=notes, typed=typed)
    return (
        None if confirmation is None else await send_and_report(context, confirmation, done, *feeds)
    )


async def send_and_report(
    context: ActionContext,
    confirmation: Confirmation[T],
    done: str | Callable[[T], str],
    *feeds: str,
) -> Applied[T] | None:
    """Carry out a plan that was confirmed, say what became of it, refresh."""
    app, plan = context.app, confirmation.plan
    outcome = await execute(context, confirmation)
    match outcome:
        case Applied(value):
            report_done(context, done if isinstance(done, str) else done(value))
        case Refused(error):
            app.say(f"{plan.title}: {error.message}", severity="error")
        case Unknown():
            await report_unknown(context, outcome, f"{plan.title}: the answer was lost")
    await refresh(context, *feeds)
    return outcome if isinstance(outcome, Applied) else None


async def report_unknown(
    context: ActionContext, lost: Unknown, title: str, may_have: str = "It may have happened or not"
) -> None:
    """Say that nobody knows what became of a write, and offer to look at what there is now."""
    text = f"{sentence(safe_text(lost.error.message, 300))} {may_have}. {LOOK}"
    if await context.app.push_screen_wait(AskScreen(title, text, deliberate="Look now")):
        await context.app.open_route(route_to(lost.plan_id))


def select(context: ActionContext, identity: str) -> None:
    """Put the cursor on a row as soon as it is there."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.show_row(identity, detail=False)
