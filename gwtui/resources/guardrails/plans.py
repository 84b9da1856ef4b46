"""The plan of each write to guardrails: contract "POST /guardrails"; extended section 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
)
from gwtui.contract.workspaces import Workspace
from gwtui.crud.plan import Plan, Undo, WayBack
from gwtui.crud.text import (
    Names,
    as_read,
    changes,
    count,
    first_values,
    identity_of,
    named,
    quoted,
    several,
)
from gwtui.crud.undo import known, put_back
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.actions import RESOURCE
from gwtui.resources.guardrails.fields import LISTS, in_words, known_values, labels, shown_name
from gwtui.resources.uses import guardrail_bindings


@dataclass(frozen=True, slots=True)
class BoundBy:
    """What a guardrail binds, as the caller read it; None where that could not be read.

    ``workspace`` is the workspace whose default guardrail it is, if any; ``people`` names users.
    """

    keys: Sequence[KeyAssignment] | None = None
    members: Sequence[MemberAssignment] | None = None
    workspace: Workspace | None = None
    people: Names = field(default_factory=dict)

    def in_words(self, what: str) -> tuple[str, ...]:
        """What happens to whom: a sentence for each kind, ``what`` begins it."""
        lines = []
        if self.workspace is not None:
            lines.append(f"all traffic of workspace {_space(self.workspace)}")
        if self.keys:
            names = [quoted(one.key_name, one.key_label, one.key_hash) for one in self.keys]
            lines.append(f"{count(len(names), 'key')}: {several(names)}")
        if self.members:
            names = [named(one.user_id, self.people) for one in self.members]
            lines.append(f"{count(len(names), 'member')}: {several(names)}")
        sentences = [f"{what} {line}." for line in lines]
        if self.keys is None or self.members is None:
            sentences.append("What else it is assigned to could not be read.")
        return tuple(sentences)


def plan_create(
    request: CreateGuardrailRequest,
    dialect: Dialect,
    now: datetime,
    workspaces: Names | None = None,
) -> Plan[Guardrail]:
    """One POST /guardrails."""
    effects = ["It enforces nothing until it is assigned to keys or members."]
    if request.limit_usd is not None:
        effects.append("The cap binds each key and each member by itself; it is not shared.")
    return Plan(
        action="guardrails.create",
        title=f"Create guardrail {quoted(request.name)}",
        resource=RESOURCE,
        identity=None,
        send=lambda client: client.guardrails.create(request),
        changes=first_values(
            request, labels(dialect), in_words(now, workspaces or {}), ("name", "workspace_id")
        ),
        effects=tuple(effects),
        summary=request.body(),
        identify=lambda made: made.id,
        undo=_delete_again,
    )


def _delete_again(made: Guardrail) -> WayBack:
    """The way back from a creation."""
    identity = made.id

    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        fresh = await client.guardrails.get(known(identity, "guardrail"))
        return plan_delete(fresh, BoundBy(*await guardrail_bindings(client, fresh.id or "")))

    return way


def plan_update(
    fresh: Guardrail,
    request: UpdateGuardrailRequest,
    reach: BoundBy,
    dialect: Dialect,
    now: datetime,
) -> Plan[Guardrail]:
    """One PATCH /guardrails/{id} with the fields that were given. ``fresh`` has an id.

    The name of a workspace's default guardrail is an obstacle: it cannot be changed.
    """
    identity = identity_of(fresh.id, "guardrail")
    known = known_values(fresh, dialect)
    bound = reach.in_words("It binds at once")
    fixed = reach.workspace is not None and "name" in request.model_fields_set
    return Plan(
        action="guardrails.edit",
        title=f"Change guardrail {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.guardrails.update(identity, request),
        changes=changes(known, request, labels(dialect), in_words(now, {})),
        effects=(
            *_list_effects(known, request),
            *(bound or ("It is assigned to nothing: nothing changes for requests.",)),
        ),
        obstacles=(_FIXED_NAME,) if fixed else (),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=_put_back(fresh, request, reach, dialect, now),
    )


def _put_back(
    fresh: Guardrail,
    request: UpdateGuardrailRequest,
    reach: BoundBy,
    dialect: Dialect,
    now: datetime,
) -> Undo[Guardrail] | None:
    async def read(client: GatewayClient) -> Guardrail:
        return await client.guardrails.get(fresh.id or "")

    def plan(present: Guardrail, wanted: Mapping[str, Any], then: datetime) -> Plan[Any]:
        return plan_update(
            present, UpdateGuardrailRequest.model_validate(wanted), reach, dialect, then
        )

    return put_back(
        fresh,
        request,
        labels(dialect),
        in_words(now, {}),
        read=read,
        plan=plan,
        known=lambda guardrail: known_values(guardrail, dialect),
    )


def plan_first_update(
    workspace: Workspace, request: UpdateGuardrailRequest, dialect: Dialect, now: datetime
) -> Plan[Guardrail]:
    """The PATCH that makes a workspace's default guardrail, which is not there before it.

    ``workspace`` has a default_guardrail_id. The guardrail's name is the gateway's own.
    """
    identity = identity_of(workspace.default_guardrail_id, "default guardrail")
    fixed = "name" in request.model_fields_set
    return Plan(
        action="guardrails.edit",
        title=f"Set up the default guardrail of workspace {_space(workspace)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.guardrails.update(identity, request),
        changes=first_values(request, labels(dialect), in_words(now, {})),
        effects=(f"It binds at once all traffic of workspace {_space(workspace)}.",),
        obstacles=(_FIXED_NAME,) if fixed else (),
        summary=request.body(),
    )


_FIXED_NAME = "The name of a default guardrail cannot be changed."


def plan_delete(fresh: Guardrail, reach: BoundBy) -> Plan[None]:
    """One DELETE /guardrails/{id}. ``fresh`` has an id."""
    identity = identity_of(fresh.id, "guardrail")
    lost = reach.in_words("Its protection ends at once for")
    return Plan(
        action="guardrails.delete",
        title=f"Delete guardrail {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.guardrails.delete(identity),
        effects=(*(lost or ("It is assigned to nothing.",)), "This cannot be undone."),
        danger="high",
        summary={"name": fresh.name, "workspace_id": fresh.workspace_id},
    )


def _list_effects(known: Mapping[str, Any], request: UpdateGuardrailRequest) -> list[str]:
    """What is put on each list and what is taken off: long lists hide that in a change."""
    lines = []
    for name, label in LISTS.items():
        before, after = known.get(name), getattr(request, name)
        if name not in request.model_fields_set or not before:
            continue
        if after is None:
            lines.append(f"{label}: no restriction any more.")
            continue
        added = [entry for entry in after if entry not in before]
        taken = [entry for entry in before if entry not in after]
        lines += [
            f"{label}, {what}: {several([safe_line(entry, 60) for entry in entries])}."
            for what, entries in (("added", added), ("taken off", taken))
            if entries
        ]
    return lines


def _space(workspace: Workspace) -> str:
    return quoted(workspace.name, workspace.slug, workspace.id)
