"""What can be written to workspaces: contract "POST /workspaces"; extended section 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import count, quoted, several
from gwtui.crud.writes import Create, Delete, Update, Writes
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.resources.uses import Uses, WorkspaceContents, workspace_contents, workspace_uses
from gwtui.resources.workspaces.form import FIELDS, create_form, edit_form
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id

T = TypeVar("T")

_LOGGING = (
    (
        "is_observability_io_logging_enabled",
        "Inputs and outputs of requests are stored from now on.",
    ),
    (
        "is_observability_broadcast_enabled",
        "Requests are broadcast to the observability destinations from now on.",
    ),
    (
        "is_data_discount_logging_enabled",
        "The gateway logs requests for its own use, for a discount, from now on.",
    ),
)


@dataclass(frozen=True, slots=True)
class WorkspaceSurroundings:
    """What a workspace holds, and whether it is the default one."""

    contents: WorkspaceContents
    is_default: bool = False


async def _around(
    client: GatewayClient, fresh: Workspace, _context: PlanContext
) -> WorkspaceSurroundings:
    contents = await workspace_contents(client, fresh.id or "")
    default = await default_workspace_id(client)
    is_default = fresh.slug == DEFAULT_SLUG if default is None else default == fresh.id
    return WorkspaceSurroundings(contents, is_default)


async def _uses(client: GatewayClient, fresh: Workspace, context: PlanContext) -> Uses:
    return workspace_uses(await workspace_contents(client, fresh.id or ""), context.now)


def _create_effects(request: CreateWorkspaceRequest, _context: PlanContext) -> Iterator[str]:
    return (text for name, text in _LOGGING if getattr(request, name))


def _update_effects(
    fresh: Workspace, request: UpdateWorkspaceRequest, _context: PlanContext
) -> Iterator[str]:
    given = request.model_fields_set
    yield from (text for name, text in _LOGGING if name in given and getattr(request, name))
    if "slug" in given and fresh.slug:
        yield f"Whoever uses the slug {safe_line(fresh.slug, 60)} finds it no longer."
    if "disabled_server_tools" in given and request.disabled_server_tools:
        yield "Requests that use a tool that is off no longer get it."


def _delete_effects(
    _fresh: Workspace, around: WorkspaceSurroundings, context: PlanContext
) -> Iterator[str]:
    yield from _losses(around.contents, context.now)
    yield "This cannot be undone."
    if around.is_default:
        yield (
            "It is the default workspace: keys that belong to no workspace are disabled, "
            "and requests that name no workspace are refused from then on."
        )


class _WorkspaceWrites(Writes[Workspace]):
    """Writes of a workspace: active keys prevent deleting it, the default one is confirmed."""

    def plan_delete(self, fresh: Workspace, context: PlanContext, around: Any = None) -> Plan[None]:
        """One DELETE. ``around`` is an WorkspaceSurroundings; ``fresh`` has an id."""
        found: WorkspaceSurroundings = around or WorkspaceSurroundings(WorkspaceContents())
        plan = super().plan_delete(fresh, context, found)
        identity = plan.identity or ""
        return replace(
            plan,
            send=lambda client: client.workspaces.delete(
                identity, confirm_default=found.is_default
            ),
            obstacles=tuple(_obstacles(found.contents.keys, context.now)),
            summary={**plan.summary, "default": found.is_default},
        )


WRITES: Writes[Workspace] = _WorkspaceWrites(
    resource="workspaces",
    noun="workspace",
    model=Workspace,
    fields=FIELDS,
    identity=lambda space: space.id,
    of_row=lambda row: row.workspace,
    service=lambda client: client.workspaces,
    operand="its id, slug or name",
    called=("name", "slug", "id"),
    feeds=("workspaces", "organization", "members"),
    uses=_uses,
    around=_around,
    create=Create(
        request=CreateWorkspaceRequest,
        form=create_form,
        title=lambda request: f"Create workspace {quoted(request.name)}",
        effects=_create_effects,
        help="make one",
    ),
    update=Update(request=UpdateWorkspaceRequest, form=edit_form, effects=_update_effects),
    delete=Delete(effects=_delete_effects, kept=("name", "slug")),
)


def _obstacles(keys: Sequence[ApiKey] | None, now: datetime) -> list[str]:
    active = [quoted(key.name, key.label, key.hash) for key in keys or () if is_active(key, now)]
    if not active:
        return []
    return [
        f"{count(len(active), 'active key')} must be moved, disabled or deleted first: "
        f"{several(active)}."
    ]


def _losses(contents: WorkspaceContents, now: datetime) -> list[str]:
    """What goes with the workspace, and what is left without one."""
    lines = _idle_keys(contents.keys, now)
    budgets = _each(
        contents.budgets, lambda one: safe_line(f"{usd(one.limit_usd)} {one.interval or ''}")
    )
    guardrails = _each(contents.guardrails, lambda one: quoted(one.name, one.id))
    credentials = _each(contents.credentials, lambda one: quoted(one.name, one.label, one.id))
    for noun, more, end, names in (
        ("budgets", "", "go with it", budgets),
        ("guardrails", " and their assignments", "go with it", guardrails),
        ("provider keys", "", "are no longer used", credentials),
    ):
        if names is None:
            lines.append(f"Its {noun}, which could not be read, {end}.")
        elif names:
            lines.append(f"Its {noun}{more} {end}: {several(names)}.")
    if contents.members is None:
        lines.append("Its members, who could not be read, lose access to it.")
    elif contents.members:
        verb = "loses" if len(contents.members) == 1 else "lose"
        lines.append(f"{count(len(contents.members), 'member')} {verb} access to it.")
    return lines


def _idle_keys(keys: Sequence[ApiKey] | None, now: datetime) -> list[str]:
    if keys is None:
        return ["Its keys could not be read: while one is active the gateway refuses."]
    idle = sum(not is_active(key, now) for key in keys)
    verb = "is" if idle == 1 else "are"
    return [f"{count(idle, 'disabled or expired key')} {verb} still in it."] if idle else []


def _each(things: Sequence[T] | None, name: Callable[[T], str]) -> list[str] | None:
    return None if things is None else [name(thing) for thing in things]
