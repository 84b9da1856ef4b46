"""The plan of each write to workspaces: contract "POST /workspaces"; extended section 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud.plan import Plan, Undo, WayBack
from gwtui.crud.text import (
    MOST_NAMED,
    as_read,
    changes,
    count,
    first_values,
    identity_of,
    known_fields,
    quoted,
    several,
)
from gwtui.crud.undo import known, put_back
from gwtui.domain.money import percent, usd
from gwtui.domain.safe_text import safe_line
from gwtui.resources.uses import Uses, WorkspaceContents, workspace_contents
from gwtui.resources.workspaces.actions import RESOURCE

T = TypeVar("T")

LABELS: Mapping[str, str] = {
    "name": "Name",
    "slug": "Slug",
    "description": "Description",
    "default_text_model": "Default text model",
    "default_image_model": "Default image model",
    "default_provider_sort": "Provider order",
    "is_observability_io_logging_enabled": "Private I/O logging",
    "io_logging_sampling_rate": "Share logged",
    "io_logging_api_key_ids": "Keys logged",
    "is_observability_broadcast_enabled": "Broadcast",
    "is_data_discount_logging_enabled": "Data discount logging",
    "disabled_server_tools": "Server tools off",
}
"""What people call the fields, the same in forms and plans."""

EDITABLE = tuple(LABELS)
"""Fields of a workspace that its form changes."""

EMPTY: Mapping[str, str] = {
    "default_text_model": "none: requests must name one",
    "default_image_model": "none: requests must name one",
    "default_provider_sort": "the gateway's own",
    "io_logging_api_key_ids": "every key",
}
"""What it means that a field has no value."""

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


def shown_name(workspace: Workspace) -> str:
    """The workspace in a sentence."""
    return quoted(workspace.name, workspace.slug, workspace.id)


def known_values(workspace: Workspace) -> dict[str, Any]:
    """The editable fields as the gateway gave them; those it left out or garbled are missing."""
    return known_fields(workspace, EDITABLE)


def in_words(field: str, value: Any) -> str:
    """A field's value as people read it; None and an empty list say what they stand for."""
    if value is None or value in ([], ""):
        return EMPTY.get(field, "none")
    words = _WORDS.get(field, _plain)
    return words(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return several([safe_line(entry, 60) for entry in value], MOST_NAMED)
    return safe_line(value, 200)


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "io_logging_sampling_rate": lambda value: percent(value, places=2),
}


def plan_create(request: CreateWorkspaceRequest) -> Plan[Workspace]:
    """One POST /workspaces."""
    return Plan(
        action="workspaces.create",
        title=f"Create workspace {quoted(request.name)}",
        resource=RESOURCE,
        identity=None,
        send=lambda client: client.workspaces.create(request),
        changes=first_values(request, LABELS, in_words),
        effects=tuple(text for name, text in _LOGGING if getattr(request, name)),
        summary=request.body(),
        identify=lambda made: made.id,
        undo=_delete_again,
    )


def _delete_again(made: Workspace) -> WayBack:
    """The way back from a creation."""
    identity = made.id

    async def way(client: GatewayClient, now: datetime) -> Plan[Any]:
        fresh = await client.workspaces.get(known(identity, "workspace"))
        return plan_delete(fresh, await workspace_contents(client, fresh.id or ""), now)

    return way


def plan_update(
    fresh: Workspace, request: UpdateWorkspaceRequest, uses: Uses = ()
) -> Plan[Workspace]:
    """One PATCH /workspaces/{id} with the fields that were given. ``fresh`` has an id.

    ``uses`` says what it holds, as ``workspace_uses`` words it.
    """
    identity = identity_of(fresh.id, "workspace")
    return Plan(
        action="workspaces.edit",
        title=f"Change workspace {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.workspaces.update(identity, request),
        changes=changes(known_values(fresh), request, LABELS, in_words),
        effects=(*_update_effects(request, fresh), *uses),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=_put_back(fresh, request),
    )


def _put_back(fresh: Workspace, request: UpdateWorkspaceRequest) -> Undo[Workspace] | None:
    return put_back(
        fresh,
        request,
        LABELS,
        in_words,
        read=lambda client: client.workspaces.get(fresh.id or ""),
        plan=lambda present, wanted, _now: plan_update(
            present, UpdateWorkspaceRequest.model_validate(wanted)
        ),
    )


def _update_effects(request: UpdateWorkspaceRequest, fresh: Workspace) -> list[str]:
    given = request.model_fields_set
    effects = [text for name, text in _LOGGING if name in given and getattr(request, name)]
    if "slug" in given and fresh.slug:
        effects.append(f"Whoever uses the slug {safe_line(fresh.slug, 60)} finds it no longer.")
    if "disabled_server_tools" in given and request.disabled_server_tools:
        effects.append("Requests that use a tool that is off no longer get it.")
    return effects


def plan_delete(
    fresh: Workspace,
    contents: WorkspaceContents,
    now: datetime,
    *,
    is_default: bool = False,
) -> Plan[None]:
    """One DELETE /workspaces/{id}; active keys stand in its way. ``fresh`` has an id."""
    identity = identity_of(fresh.id, "workspace")
    effects = [*_losses(contents, now), "This cannot be undone."]
    if is_default:
        effects.append(
            "It is the default workspace: keys that belong to no workspace are disabled, "
            "and requests that name no workspace are refused from then on."
        )
    return Plan(
        action="workspaces.delete",
        title=f"Delete workspace {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.workspaces.delete(identity, confirm_default=is_default),
        effects=tuple(effects),
        obstacles=tuple(_obstacles(contents.keys, now)),
        danger="high",
        summary={"name": fresh.name, "slug": fresh.slug, "default": is_default},
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
