"""What the actions on workspaces do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar, cast

from gwtui.contract.models import Model
from gwtui.contract.request import RequestModel
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud import cells
from gwtui.crud.form import PickOption
from gwtui.crud.plan import Applied, Outcome
from gwtui.domain.safe_text import safe_line
from gwtui.resources.choices import value_now
from gwtui.resources.models.resource import models_feed
from gwtui.resources.uses import Uses, workspace_contents, workspace_uses
from gwtui.resources.workspaces import view as workspace_row
from gwtui.resources.workspaces.form import Catalog, create_form, edit_form
from gwtui.resources.workspaces.plans import (
    LABELS,
    in_words,
    known_values,
    plan_create,
    plan_delete,
    plan_update,
    shown_name,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.editing import Editing
from gwtui.ui.actions.workspace_links import go_to, workspace_of
from gwtui.ui.actions.writing import (
    carry_out,
    confirm,
    confirm_and_tell,
    covered,
    go_instead,
    plain_facts,
    read_again,
    refresh,
    say_done,
    select,
    send_and_tell,
    submitted,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id

T = TypeVar("T")

FEEDS = ("workspaces", "organization", "members")
"""The feeds that a write to a workspace makes out of date begin so."""


async def create(context: ActionContext) -> None:
    """A form, one request, the new row selected."""
    app = context.app

    async def submit(request: RequestModel) -> Outcome[Workspace] | None:
        plan = plan_create(cast("CreateWorkspaceRequest", request))
        consent = await submitted(context, plan, "Create it")
        return None if consent is None else await carry_out(context, consent)

    form: FormScreen[Workspace] = FormScreen(
        create_form(_catalog(context)), plain_facts(context), submit
    )
    match await app.push_screen_wait(form):
        case Applied(made):
            say_done(context, f"Workspace {shown_name(made)} created")
            if made.id:
                select(context, made.id)
        case None:
            return
    await refresh(context, *FEEDS)


async def edit(context: ActionContext) -> None:
    """A form filled from the row; on submit it is read again before anything is sent."""
    app = context.app
    space = workspace_of(context)
    if space is None:
        return
    identity = space.id or ""
    editing = Editing(
        context=context,
        original=space,
        noun="workspace",
        called=f"Workspace {shown_name(space)}",
        read=lambda: app.gateway.workspaces.get(identity),
        known=known_values,
        labels=LABELS,
        words=in_words,
        plan=lambda fresh, wanted: plan_update(
            fresh, UpdateWorkspaceRequest.model_validate(wanted)
        ),
        uses=partial(_uses, context),
    )
    form: FormScreen[Workspace] = FormScreen(
        edit_form(space, _catalog(context)), plain_facts(context), editing.submit
    )
    match await app.push_screen_wait(form):
        case Applied(changed):
            say_done(context, f"Workspace {shown_name(changed)} changed")
            if app.scope.workspace == identity:
                app.narrow(identity, workspace_row.shown_name(changed))
        case None:
            return
    await refresh(context, *FEEDS, "keys")


async def delete(context: ActionContext) -> None:
    """Show what stands in the way and what goes with it; for the default one its slug is typed."""
    app, space = context.app, workspace_of(context)
    if space is None:
        return
    identity = space.id or ""
    read = app.gateway.workspaces.get(identity)
    fresh = await read_again(context, read, f"Workspace {shown_name(space)}", *FEEDS)
    if fresh is None:
        return
    contents = await workspace_contents(app.gateway, identity)
    default = await default_workspace_id(app.gateway)
    is_default = fresh.slug == DEFAULT_SLUG if default is None else default == identity
    plan = plan_delete(fresh, contents, app.clock.now(), is_default=is_default)
    if covered(context):
        return
    if plan.obstacles:
        if await go_instead(context, plan, "Show its keys"):
            await go_to(context, "keys", fresh)
        return
    consent = await confirm(context, plan, "Delete for good")
    if consent is None:
        return
    done = f"Workspace {shown_name(fresh)} deleted"
    if is_default:
        applied = await confirm_and_tell(
            context,
            plan,
            "Delete the default workspace",
            done,
            *FEEDS,
            typed=fresh.slug or identity,
        )
    else:
        applied = await send_and_tell(context, consent, done, *FEEDS)
    if applied is not None:
        if app.scope.workspace == identity:
            app.narrow(None, None)
        await refresh(context, "keys", "guardrails", "byok")


async def _uses(context: ActionContext, space: Workspace) -> Uses:
    contents = await workspace_contents(context.app.gateway, space.id or "")
    return workspace_uses(contents, context.app.clock.now())


# What they share --------------------------------------------------------------------------------


def _catalog(context: ActionContext) -> Catalog:
    return Catalog(partial(_models, context, "text"), partial(_models, context, "image"))


async def _models(context: ActionContext, output: str) -> Sequence[PickOption]:
    """Models of the catalog that give this kind of output. Raises GatewayError."""
    models = await value_now(models_feed(context.app.hub, context.app.scope))
    return tuple(
        PickOption(model.id, safe_line(model.id, 60), cells.text(model.name).text)
        for model in models
        if model.id and _gives(model, output)
    )


def _gives(model: Model, output: str) -> bool:
    outputs = model.architecture.output_modalities if model.architecture else None
    return outputs is None or output in outputs


HANDLERS: Mapping[str, Handler] = {
    "workspaces.create": create,
    "workspaces.edit": edit,
    "workspaces.delete": delete,
}
