"""The writes of workspaces: contract "POST /workspaces"; extended section 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import (
    CreateWorkspaceRequest,
    UpdateWorkspaceRequest,
    Workspace,
    slug_of,
)
from gwtui.crud.fields import ON_OFF, Facts, Field, Fields, PickOption, PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import count, quoted, several
from gwtui.crud.resource import Cell
from gwtui.crud.writes import Create, Delete, Update, Writes
from gwtui.domain.money import compact_int, percent, usd
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.uses import Uses, WorkspaceContents, workspace_contents, workspace_uses
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id

T = TypeVar("T")

_LOGGING = "is_observability_io_logging_enabled"

_SORT = {
    "price": "the cheapest first",
    "throughput": "the fastest output first",
    "latency": "the quickest answer first",
    "exacto": "the most accurate with tools first",
}


def _share(value: Any, _context: PlanContext) -> str:
    return percent(value, places=2)


async def _tools() -> tuple[PickOption, ...]:
    return tuple(
        PickOption(tool, tool.partition(":")[2].replace("__", ": ").replace("_", " "))
        for tool in SERVER_TOOLS
    )


def _sort(value: str | None, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None:
        return Cell("the gateway decides which provider is tried first", "muted")
    words = _SORT.get(value)
    return None if words is None else Cell(words, "muted")


def _sampling(value: Decimal | None, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None or value <= 0 or value > 1:
        return None
    text = f"{percent(value, places=2)} of requests, 1 in {compact_int(round(1 / value))}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; only applies with private logging", "muted")
    return Cell(text)


def _logged_keys(value: list[int] | None, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None:
        text = "every key of the workspace is logged"
    elif not value:
        return Cell("an empty list: no key is logged", "warn")
    else:
        text = f"only the keys {safe_line(', '.join(map(str, value)), 80)}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; only applies with private logging", "muted")
    return Cell(text)


def _field(name: str, label: str, **more: Any) -> Field:
    # An empty text or list means the same as none.
    return Field(name, label, blank=("", []), **more)


FIELDS = Fields(
    _field("name", "Name", group="Workspace"),
    _field(
        "slug",
        "Slug",
        group="Workspace",
        suggest=lambda values: slug_of(str(values.get("name") or "")),
    ),
    _field("description", "Description", group="Workspace", kind="lines"),
    _field(
        "default_text_model",
        "Default text model",
        group="Defaults",
        offers=partial(choices.models, giving="text"),
        empty="none: requests must name one",
        placeholder="empty: requests must name one",
    ),
    _field(
        "default_image_model",
        "Default image model",
        group="Defaults",
        offers=partial(choices.models, giving="image"),
        empty="none: requests must name one",
        placeholder="empty: requests must name one",
    ),
    _field(
        "default_provider_sort",
        "Provider order",
        group="Defaults",
        empty="gateway's own",
        preview=_sort,
    ),
    _field(
        "disabled_server_tools",
        "Server tools off",
        group="Defaults",
        offers=lambda _context: _tools,
        empty="none",
        chosen="off",
        noun="tools",
        free=True,
        effect="Requests can no longer use the disabled tools.",
    ),
    _field(
        _LOGGING,
        "Private I/O logging",
        group="Logging",
        words=ON_OFF,
        effect="Inputs and outputs of requests are stored from now on.",
    ),
    _field(
        "io_logging_sampling_rate",
        "Share logged",
        format=_share,
        group="Logging",
        kind="percent",
        placeholder="such as 5 % or 0.05",
        preview=_sampling,
    ),
    _field(
        "io_logging_api_key_ids",
        "Keys logged",
        empty="every key",
        group="Logging",
        placeholder="such as 4, 9; empty for every key",
        preview=_logged_keys,
    ),
    _field(
        "is_observability_broadcast_enabled",
        "Broadcast",
        group="Logging",
        words=ON_OFF,
        effect="Requests will be broadcast to the observability destinations.",
    ),
    _field(
        "is_data_discount_logging_enabled",
        "Data discount logging",
        group="Logging",
        words=ON_OFF,
        effect="The gateway will log requests for its own use in exchange for a discount.",
    ),
)


@dataclass(frozen=True, slots=True)
class WorkspaceSurroundings:
    """The contents of a workspace, and whether it is the default one."""

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


def _update_effects(
    fresh: Workspace, request: UpdateWorkspaceRequest, _context: PlanContext
) -> Iterator[str]:
    if "slug" in request.model_fields_set and fresh.slug:
        slug = safe_line(fresh.slug, 60)
        yield f"Links and scripts that use the slug “{slug}” will stop working."


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
    operand="id, slug or name",
    called=("name", "slug", "id"),
    feeds=("workspaces", "organization", "members"),
    uses=_uses,
    around=_around,
    create=Create(
        request=CreateWorkspaceRequest,
        title=lambda request: f"Create workspace {quoted(request.name)}",
        help="create a workspace",
        initial={"io_logging_sampling_rate": Decimal(1)},
    ),
    update=Update(request=UpdateWorkspaceRequest, effects=_update_effects),
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
    """Resources deleted with the workspace, and those left without one."""
    lines = _idle_keys(contents.keys, now)
    budgets = _each(
        contents.budgets, lambda one: safe_line(f"{usd(one.limit_usd)} {one.interval or ''}")
    )
    guardrails = _each(contents.guardrails, lambda one: quoted(one.name, one.id))
    credentials = _each(contents.credentials, lambda one: quoted(one.name, one.label, one.id))
    for loss, names in (
        ("Budgets are deleted", budgets),
        ("Guardrails and their assignments are deleted", guardrails),
        ("Provider keys stop being used", credentials),
    ):
        if names is None:
            lines.append(f"{loss} (list unavailable).")
        elif names:
            lines.append(f"{loss}: {several(names)}.")
    if contents.members is None:
        lines.append("Members lose access (list unavailable).")
    elif contents.members:
        verb = "loses" if len(contents.members) == 1 else "lose"
        lines.append(f"{count(len(contents.members), 'member')} {verb} access.")
    return lines


def _idle_keys(keys: Sequence[ApiKey] | None, now: datetime) -> list[str]:
    if keys is None:
        return ["Could not read the keys. The gateway rejects the deletion if any key is active."]
    idle = sum(not is_active(key, now) for key in keys)
    if not idle:
        return []
    verb = "does" if idle == 1 else "do"
    still = count(idle, "disabled or expired key")
    return [f"The workspace still has {still}, which {verb} not prevent the deletion."]


def _each(things: Sequence[T] | None, name: Callable[[T], str]) -> list[str] | None:
    return None if things is None else [name(thing) for thing in things]
