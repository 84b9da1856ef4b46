"""What the tests of plans share: a client that notes what is sent, and plans as plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.contract.request import RequestModel
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud.fields import FormContext, PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import Formatter, Names, named
from gwtui.local.rotations import RotationFile
from gwtui.resources import assignments
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.guardrails.fields import fields_of
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.guardrails.writes import BoundBy
from gwtui.resources.keys.writes import WRITES as KEYS
from gwtui.resources.organization import SETTINGS_WRITES as SETTINGS
from gwtui.resources.rotations import (
    RotateRequest,
    RotationSource,
    plan_rotation,
)
from gwtui.resources.uses import Uses, WorkspaceContents
from gwtui.resources.workspaces import WRITES as WORKSPACES
from gwtui.resources.workspaces import WorkspaceSurroundings as WorkspaceAround
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.hub import FeedHub

MOMENT = datetime(2026, 10, 1, 12, tzinfo=UTC)


class Recorder:
    """Stands for the client: each call becomes (service.method, what it was given)."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def __getattr__(self, service: str) -> _Service:
        return _Service(self, service)


class _Service:
    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[None]]:
        async def call(*given: Any, **options: Any) -> None:
            plain = [one.wire_body() if isinstance(one, RequestModel) else one for one in given]
            end = (options,) if options else ()
            self._recorder.sent.append((f"{self._name}.{method}", *plain, *end))

        return call


async def sent(plan: Plan[Any]) -> tuple[Any, ...]:
    """The one request that a plan sends, as (service.method, arguments)."""
    recorder = Recorder()
    await plan.send(cast("GatewayClient", recorder))
    (request,) = recorder.sent
    return request


def changes(plan: Plan[Any]) -> dict[str, tuple[str | None, str | None]]:
    """Field -> before and after, as people read them."""
    return {change.field: (change.before, change.after) for change in plan.changes}


def everything_said(plan: Plan[Any]) -> str:
    """All that a plan shows or leaves in the ledger."""
    return "\n".join(
        [
            plan.title,
            repr(plan),
            *plan.effects,
            *plan.obstacles,
            *(f"{change.field} {change.before} {change.after}" for change in plan.changes),
            repr(plan.summary),
        ]
    )


class ByokPlans:
    """The plans of a credential as its declaration makes them, at a fixed moment."""

    known_values = staticmethod(CREDENTIALS.fields.known)

    @staticmethod
    def in_words(field: str, value: Any) -> str:
        return CREDENTIALS.fields.format(field, value, PlanContext(MOMENT))

    @staticmethod
    def plan_create(
        request: CreateByokRequest, names: Names | None = None, warning: str = ""
    ) -> Plan[Any]:
        return CREDENTIALS.plan_create(request, PlanContext(MOMENT, names or {}), warning)

    @staticmethod
    def plan_update(
        fresh: ByokCredential, request: UpdateByokRequest, names: Names | None = None
    ) -> Plan[Any]:
        return CREDENTIALS.plan_update(fresh, request, PlanContext(MOMENT, names or {}))

    @staticmethod
    def plan_rotate(fresh: ByokCredential, key: SecretStr) -> Plan[Any]:
        return ByokPlans.plan_update(fresh, UpdateByokRequest(key=key))

    @staticmethod
    def plan_set_disabled(
        fresh: ByokCredential, disabled: bool, others: Sequence[ByokCredential] | None = None
    ) -> Plan[Any]:
        return CREDENTIALS.plan_switch(fresh, disabled, PlanContext(MOMENT), others)

    @staticmethod
    def plan_delete(
        fresh: ByokCredential, others: Sequence[ByokCredential] | None = None
    ) -> Plan[Any]:
        return CREDENTIALS.plan_delete(fresh, PlanContext(MOMENT), others)


byok_plans = ByokPlans()


class KeyPlans:
    """The plans of a key as its declaration makes them."""

    known_values = staticmethod(KEYS.fields.known)

    @staticmethod
    def in_words(field: str, value: Any, now: datetime, names: Names) -> str:
        return KEYS.fields.format(field, value, PlanContext(now, names))

    @staticmethod
    def plan_create(
        request: CreateKeyRequest, now: datetime, names: Names | None = None
    ) -> Plan[Any]:
        return KEYS.plan_create(request, PlanContext(now, names or {}))

    @staticmethod
    def plan_update(
        fresh: ApiKey, request: UpdateKeyRequest, now: datetime, names: Names | None = None
    ) -> Plan[Any]:
        return KEYS.plan_update(fresh, request, PlanContext(now, names or {}))

    @staticmethod
    def plan_set_disabled(
        fresh: ApiKey, disabled: bool, now: datetime, uses: Uses = ()
    ) -> Plan[Any]:
        return KEYS.plan_switch(fresh, disabled, PlanContext(now), uses)

    @staticmethod
    def plan_delete(fresh: ApiKey, now: datetime, uses: Uses = ()) -> Plan[Any]:
        return KEYS.plan_delete(fresh, PlanContext(now), uses)

    @staticmethod
    def plan_rotation(
        old: ApiKey, guardrail: Guardrail, asked: RotateRequest, now: datetime
    ) -> Plan[Any]:
        log, people = RotationFile(Path("/nowhere")), frozenset({"user_1"})
        source = RotationSource(old, log, "", guardrail=guardrail, people=people)
        return plan_rotation(source, asked, PlanContext(now))


key_plans = KeyPlans()


def settings_plan(
    fresh: OrganizationSettings, request: UpdateOrganizationSettingsRequest
) -> Plan[Any]:
    """The plan of a change of the organization's settings as its declaration makes it."""
    return SETTINGS.plan_update(fresh, request, PlanContext(MOMENT))


class _Nowhere:
    """A client that cannot read anything: fields then offer nothing to pick."""

    def __getattr__(self, _name: str) -> _Nowhere:
        return self

    async def __call__(self, *_arguments: Any, **_options: Any) -> None:
        raise GatewayError("there is no gateway")


def form_context(
    now: datetime = MOMENT, workspace: str | None = None, dialect: Dialect = GENERIC
) -> FormContext:
    """What a form is built from, where nothing is picked from the gateway."""
    client = cast("GatewayClient", _Nowhere())
    return FormContext(FeedHub(client), client, dialect, now, workspace)


class WorkspacePlans:
    """The plans of a workspace as its declaration makes them."""

    known_values = staticmethod(WORKSPACES.fields.known)

    @staticmethod
    def in_words(field: str, value: Any) -> str:
        return WORKSPACES.fields.format(field, value, PlanContext(MOMENT))

    @staticmethod
    def plan_create(request: CreateWorkspaceRequest) -> Plan[Any]:
        return WORKSPACES.plan_create(request, PlanContext(MOMENT))

    @staticmethod
    def plan_update(
        fresh: Workspace, request: UpdateWorkspaceRequest, uses: Uses = ()
    ) -> Plan[Any]:
        return WORKSPACES.plan_update(fresh, request, PlanContext(MOMENT), uses)

    @staticmethod
    def plan_delete(
        fresh: Workspace, contents: WorkspaceContents, now: datetime, *, is_default: bool = False
    ) -> Plan[Any]:
        around = WorkspaceAround(contents, is_default)
        return WORKSPACES.plan_delete(fresh, PlanContext(now), around)


workspace_plans = WorkspacePlans()


class GuardrailPlans:
    """The plans of a guardrail as its declaration makes them."""

    @staticmethod
    def known_values(guardrail: Guardrail, dialect: Dialect) -> dict[str, Any]:
        return fields_of(dialect).known(guardrail)

    @staticmethod
    def in_words(now: datetime, names: Names) -> Formatter:
        return fields_of(GENERIC).formatter(PlanContext(now, names))

    @staticmethod
    def plan_create(
        request: CreateGuardrailRequest,
        dialect: Dialect,
        now: datetime,
        names: Names | None = None,
    ) -> Plan[Any]:
        writes = GUARDRAILS.for_row(None, dialect)
        return writes.plan_create(request, PlanContext(now, names or {}, dialect))

    @staticmethod
    def plan_update(
        fresh: Guardrail,
        request: UpdateGuardrailRequest,
        bound: BoundBy,
        dialect: Dialect,
        now: datetime,
    ) -> Plan[Any]:
        """``bound`` has the workspace whose default guardrail it is, if any."""
        writes = GUARDRAILS.for_row(GuardrailRow(fresh, bound.workspace), dialect)
        return writes.plan_update(fresh, request, PlanContext(now, {}, dialect), bound.uses)

    @staticmethod
    def plan_first_update(
        workspace: Workspace, request: UpdateGuardrailRequest, dialect: Dialect, now: datetime
    ) -> Plan[Any]:
        unmade = Guardrail.model_validate({"id": workspace.default_guardrail_id})
        writes = GUARDRAILS.for_row(GuardrailRow(unmade, workspace, exists=False), dialect)
        return writes.plan_update(unmade, request, PlanContext(now, {}, dialect))

    @staticmethod
    def plan_delete(fresh: Guardrail, bound: BoundBy) -> Plan[Any]:
        return GUARDRAILS.plan_delete(fresh, PlanContext(MOMENT), bound)


guardrail_plans = GuardrailPlans()


class AssignmentPlans:
    """The plans of what a guardrail is assigned to, for keys and for members."""

    @staticmethod
    def plan_assign_keys(
        guardrail: Guardrail,
        keys: Sequence[ApiKey],
        current: Iterable[KeyAssignment] | None,
        guardrails: Names,
    ) -> Plan[int]:
        called = assignments.key_names(keys)
        return assignments.plan_assign(assignments.KEYS, guardrail, called, current, guardrails)

    @staticmethod
    def plan_assign_members(
        guardrail: Guardrail,
        users: Sequence[str],
        current: Iterable[MemberAssignment] | None,
        guardrails: Names,
        people: Names,
    ) -> Plan[int]:
        called = {user: named(user, people) for user in users}
        return assignments.plan_assign(assignments.MEMBERS, guardrail, called, current, guardrails)

    @staticmethod
    def plan_unassign_keys(guardrail: Guardrail, held: Sequence[KeyAssignment]) -> Plan[int]:
        return assignments.plan_unassign(assignments.KEYS, guardrail, held, {})

    @staticmethod
    def plan_unassign_members(
        guardrail: Guardrail, held: Sequence[MemberAssignment], people: Names
    ) -> Plan[int]:
        return assignments.plan_unassign(assignments.MEMBERS, guardrail, held, people)


assignment_plans = AssignmentPlans()
