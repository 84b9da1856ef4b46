"""Steps shared by all writes of the dashboard: plan, confirm, execute, report, refresh.

The user interface creates a :class:`Confirmation` only here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError, NotSentError
from gwtui.contract.request import RequestModel, field_rules
from gwtui.crud.fields import Field, FormContext, PickOption, PreviewContext
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan, Refused, Unknown
from gwtui.crud.plan_text import sentence
from gwtui.crud.undo import UNDO_TIME
from gwtui.crud.writes import Writes, declared_writes
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.resources.choices import value_soon
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.commands import key_of
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import OptionSource
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.unresolved_changes import PLACE, route_to
from gwtui.ui.widgets.frame import gateway_label
from gwtui.watch.feeds.workspaces import workspaces_feed

T = TypeVar("T")

_NAME = 60
_REMOVING = frozenset({"delete", "remove"})
"""The verbs that remove rows."""
LOOK = "gwtui does not retry it. Check the outcome before you try again."


def preview_context(context: ActionContext) -> PreviewContext:
    """Return the context for the previews of any form: clock, time zone and gateway name."""
    app = context.app
    return PreviewContext(app.clock.now, app.local_zone, where=gateway_label(app))


async def preview_context_with_workspaces(context: ActionContext) -> PreviewContext:
    """Return ``preview_context`` with workspace names; without if reading them takes too long."""
    app = context.app
    spaces = await value_soon(workspaces_feed(app.hub, app.scope))
    names = {space.id: safe_line(space.shown_name, _NAME) for space in spaces or () if space.id}
    return replace(preview_context(context), workspaces=names)


async def preview_context_for(
    context: ActionContext, request: type[RequestModel]
) -> PreviewContext:
    """Return ``preview_context``, with workspace names only if the request can name a workspace."""
    if "workspace_id" in request.model_fields:
        return await preview_context_with_workspaces(context)
    return preview_context(context)


def form_context(context: ActionContext) -> FormContext:
    """Return the context for building a form now."""
    app = context.app
    return FormContext(
        app.hub, app.gateway, app.connection.dialect, app.clock.now(), app.scope.workspace
    )


def declared(context: ActionContext) -> Writes[Any]:
    """Return the ``Writes`` that the resource of the list at the key press declares."""
    if context.spec is None:
        raise TypeError("only the rows of a list can be written to in this way")
    writes: Writes[Any] = declared_writes(context.spec)
    return writes


# Confirmation -------------------------------------------------------------------------------------


async def confirm(
    context: ActionContext,
    plan: Plan[T],
    deliberate: str,
    *,
    notes: tuple[str, ...] = (),
    typed: str = "",
) -> Confirmation[T] | None:
    """Show the plan and ask for confirmation; None if the user declines or there are obstacles.

    ``deliberate`` is the label of the button that confirms. ``notes`` are shown below the plan.
    ``typed`` is a text that must be typed to confirm; on a critical profile the default is the
    profile's name.
    """
    text_to_type = typed or context.app.connection.critical_name
    where = gateway_label(context.app)
    undos = (each.undo for each in (plan, *plan.parts))
    if plan.danger == "low" and plan.undoes is None and not any(undos):
        notes = (*notes, f"{key_of('app.undo')} cannot undo this.")
    screen = ConfirmScreen(
        plan, deliberate=deliberate, notes=notes, typed=text_to_type, where=where
    )
    if not await context.app.push_screen_wait(screen) or plan.obstacles:
        return None
    return Confirmation(plan, "typed" if text_to_type else "dialog")


async def submitted(
    context: ActionContext, plan: Plan[T], deliberate: str
) -> Confirmation[T] | None:
    """Confirm a plan by the submit button of its form, without another dialog.

    A plan with warnings, or any plan on a critical profile, is shown and confirmed separately;
    None if the user declines.
    """
    if plan.warnings or context.app.connection.critical_name:
        return await confirm(context, plan, deliberate)
    return Confirmation(plan, "form")


async def offer_way_out(context: ActionContext, plan: Plan[Any], way_out: str) -> bool:
    """Show the plan's obstacles; return whether the user pressed the button ``way_out``."""
    where = gateway_label(context.app)
    screen = ConfirmScreen(plan, deliberate="", way_out=way_out, where=where)
    return await context.app.push_screen_wait(screen)


# Carrying out -----------------------------------------------------------------------------------


async def execute(
    context: ActionContext,
    confirmation: Confirmation[Any],
    done: Callable[[Plan[Any]], str] = lambda plan: plan.title,
) -> Outcome[Any]:
    """Send the plan's requests one after the other, up to the first that fails.

    Earlier requests stay applied: the error names each by the text that ``done`` returns, and they
    can be undone together as far as each has an undo. The value of an applied plan with parts is
    the tuple of their values.
    """
    plan, values = confirmation.plan, list[Any]()
    outcome: Outcome[Any] = Applied(())
    for part in confirmation.each():
        outcome = await send_one(context, part)
        if not isinstance(outcome, Applied):
            break
        values.append(outcome.value)
    if values:
        context.app.executor.undo.add(plan, tuple(values) if plan.parts else values[0])
    if not plan.parts:
        return outcome
    if isinstance(outcome, Applied):
        return Applied(tuple(values))
    message = f"{plan.parts[len(values)].title}: {outcome.error.message}"
    if values:
        carried = ", ".join(done(part) for part in plan.parts[: len(values)])
        message = f"Applied so far: {carried}. Then {message}"
    return replace(outcome, error=GatewayError(message, request_id=outcome.error.request_id))


async def send_one(context: ActionContext, confirmation: Confirmation[T]) -> Outcome[T]:
    """Send the plan's request; warn if its outcome could not be written to the ledger."""
    session = context.app.session
    if session is None:
        return Refused(NotSentError("Not sent: there is no connection."))
    await session.complete()
    executor = session.executor
    outcome = await executor.execute(confirmation)
    plan = confirmation.plan
    if isinstance(outcome, Unknown):
        # Not waited for: it reads from a gateway that just left a request without a response.
        context.app.run_worker(context.app.hub.refresh(PLACE), group=PLACE)
    elif isinstance(outcome, Applied) and plan.action.rpartition(".")[2] in _REMOVING:
        if plan.undoes is None:
            context.expect_removed(plan.identity)
        else:
            context.screen.expect_gone(filter(None, (plan.identity,)))
    if fault := executor.write_log.fault:
        context.app.say(
            f"The outcome could not be written to the audit log: {fault}", severity="warning"
        )
    return outcome


def report_done(context: ActionContext, text: str) -> None:
    """Report what was done, and how to undo it if possible."""
    if context.app.executor.undo.latest() is not None:
        key, minutes = key_of("app.undo"), int(UNDO_TIME.total_seconds() // 60)
        text = f"{text}. {key} undoes it for {minutes} minutes."
    context.app.say(text)


async def refresh(context: ActionContext, *feeds: str) -> None:
    """Reload the feeds whose names start with these prefixes."""
    if context.app.session is not None:
        await asyncio.gather(*(context.app.hub.refresh(prefix) for prefix in feeds))


async def read_again(context: ActionContext, read: Awaitable[T], called: str, *feeds: str) -> T:
    """Read a resource again and return it. Raises NotSentError with the reason if that fails.

    ``called`` names the resource at the beginning of a sentence: "Key “ci”". If it no longer
    exists, the feeds whose names start with ``feeds`` are refreshed.
    """
    try:
        return await read
    except NotFoundError:
        await refresh(context, *feeds)
        raise NotSentError(f"{called} no longer exists") from None
    except GatewayError as error:
        why = f"{called} could not be read: {error.message}"
        raise NotSentError(why) from error


async def confirm_and_report(
    context: ActionContext,
    plan: Plan[T],
    deliberate: str,
    done: str | Callable[[T], str],
    *feeds: str,
    typed: str = "",
) -> Applied[T] | None:
    """Show the plan, execute it if confirmed, report the result; None unless it was applied.

    ``done`` is the text to report, ``feeds`` are prefixes of the feeds to refresh.
    """
    if context.is_covered:
        return None
    confirmation = await confirm(context, plan, deliberate, typed=typed)
    if confirmation is None:
        return None
    outcome = await execute(context, confirmation)
    if isinstance(outcome, Applied):
        value = outcome.value
        report_done(context, done if isinstance(done, str) else done(value))
    else:
        await report_failed(context, plan.title, outcome)
    await refresh(context, *feeds)
    return outcome if isinstance(outcome, Applied) else None


async def report_failed(
    context: ActionContext, title: str, failed: Refused | Unknown, hint: str = ""
) -> None:
    """Report a write that was refused; for an unknown outcome, offer to check the current state."""
    why = safe_text(failed.error.message, 300)
    if isinstance(failed, Refused):
        context.app.say(" ".join(filter(None, (f"{title}: {why}", hint))), severity="error")
        return
    text = f"{sentence(why)} It may or may not have been applied. {LOOK}"
    lost = AskScreen(f"{title}: outcome unknown", text, deliberate="Check now")
    if await context.app.push_screen_wait(lost):
        await context.app.open_route(route_to(failed.plan_id))


async def pick(
    context: ActionContext,
    field: Field,
    request: type[RequestModel],
    options: Mapping[str, tuple[T, PickOption]],
) -> Mapping[str, T]:
    """Let the user tick entries of a list, and return them by identity; empty if cancelled.

    ``options`` has the entries by identity. ``field`` is the field of ``request`` that takes the
    identities.
    """
    source = OptionSource([option for _, option in options.values()], noun=field.noun)
    screen = PickScreen(field, field_rules(request)[field.name], source, ())
    if await context.app.push_screen_wait(screen) is None:
        return {}
    return {name: options[name][0] for name in screen.picked}


def select(context: ActionContext, identity: str) -> None:
    """Select a row as soon as it appears."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.show_row(identity, detail=False)
