"""Workspaces with their keys, budgets, members and guardrails; the people of the organization.

Amounts are USD. See "Workspace" in the contract and sections 2, 3 and 4 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import OrganizationMember, OrganizationSettings, WorkspaceMember
from gwtui.contract.workspaces import Budget, Workspace
from gwtui.domain.keys import KeyCount, spent_by_interval
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope
from gwtui.watch.reads import (
    PEOPLE,
    WORKSPACES,
    FeedKey,
    GrowingList,
    Parts,
    budgets_of,
    fetch_each,
    guardrails_of,
    keys_of,
    members_of,
    read_workspaces,
)

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

DEFAULT_SLUG = "default"


@dataclass(frozen=True, slots=True)
class WorkspaceFigures:
    """The contents of a workspace; unread parts are None, with the reasons in ``faults``.

    ``members`` is the number of members.
    """

    keys: KeyCount | None = None
    spent: Mapping[str, Decimal | None] = field(default_factory=dict)
    """The spending of the present keys in USD, by budget interval."""
    members: int | None = None
    budgets: Mapping[str, Budget] | None = None
    """The budgets by interval."""
    guardrails: Mapping[str, Guardrail] | None = None
    """The guardrails by id."""
    faults: tuple[str, ...] = ()
    workspace: Workspace | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace in the list; ``figures`` is None until they are read.

    ``default`` is the id of the default workspace, None if unknown.
    """

    workspace: Workspace
    figures: WorkspaceFigures | None = None
    default: str | None = None

    @property
    def identity(self) -> str:
        """The id, or other fields if there is none."""
        space = self.workspace
        return space.id or f"?{space.slug}|{space.name}"

    @property
    def is_default(self) -> bool:
        """Whether it is the default workspace; if unknown, judged by its slug."""
        if self.default is None:
            return self.workspace.slug == DEFAULT_SLUG
        return self.workspace.id == self.default


workspaces_feed: FeedSpec[Sequence[Workspace]] = FeedSpec(
    "workspaces:plain", lambda reader, _scope: reader.get(WORKSPACES), cadence.WORKSPACES
)
"""The workspaces without figures."""


async def _rows(reader: FeedReader, _scope: Scope) -> Sequence[WorkspaceRow]:
    default: str | None = None

    def rows_of(listed: Mapping[str, Sequence[Workspace]]) -> Sequence[WorkspaceRow]:
        return tuple(
            WorkspaceRow(space, default=default) for spaces in listed.values() for space in spaces
        )

    growing = GrowingList(reader, "workspaces", rows_of)
    spaces = await growing.read("", reader.get, WORKSPACES)
    default = await default_workspace_id(reader.client)
    return rows_of({"": spaces})


workspace_rows_feed = FeedSpec("workspaces", _rows, cadence.WORKSPACES)
"""The workspaces as rows of the list, without figures."""


def workspace_figures_feed(hub: FeedHub, space: Workspace) -> Feed[WorkspaceFigures] | None:
    """The feed of the contents of a workspace; None if the workspace has no id."""
    if not space.id:
        return None
    # Whether BYOK counts decides the spending, so it is part of the key.
    return hub.feed(
        FeedKey("workspaces", ("figures", space.id, str(space.include_byok_in_budgets))),
        lambda reader: figures_of(reader, space),
        cadence.WORKSPACES,
        transient=True,
    )


def by_interval(budgets: Sequence[Budget]) -> Mapping[str, Budget]:
    """The budgets by interval, without those whose interval is unreadable."""
    return {budget.interval: budget for budget in budgets if budget.interval is not None}


async def default_workspace_id(client: GatewayClient) -> str | None:
    """The id of the default workspace; None if it cannot be found.

    The contract does not mark it, so it is taken from the keys that are listed without a workspace.
    """
    try:
        return await client.keys.default_workspace()
    except GatewayError:
        return None


async def _figures(reader: FeedReader, _scope: Scope) -> Mapping[str, WorkspaceFigures]:
    spaces = [space for space in await reader.get(WORKSPACES) if space.id]
    figures = await fetch_each(spaces, lambda space: figures_of(reader, space))
    return {space.id or "": contents for space, contents in zip(spaces, figures, strict=True)}


async def figures_of(reader: FeedReader, space: Workspace) -> WorkspaceFigures:
    """The keys, members, budgets and guardrails of one workspace."""
    identity = space.id or ""
    parts: Parts[str] = Parts()
    keys = await parts.read("keys", reader.get(keys_of(identity)))
    members = await parts.read("members", reader.get(members_of(identity)))
    budgets = await parts.read("budgets", reader.get(budgets_of(identity)))
    guardrails = await parts.read("guardrails", reader.get(guardrails_of(identity)))
    byok = bool(space.include_byok_in_budgets)
    return WorkspaceFigures(
        keys=None if keys is None else KeyCount.of(keys),
        spent={} if keys is None else spent_by_interval(keys, byok=byok),
        members=None if members is None else len(members),
        budgets=None if budgets is None else by_interval(budgets),
        guardrails=None
        if guardrails is None
        else {guardrail.id or "": guardrail for guardrail in guardrails},
        faults=parts.faults,
        workspace=space,
    )


figures_feed = FeedSpec("workspaces:figures", _figures, cadence.WORKSPACES)
"""The contents of all workspaces by id."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A budget and the spending of the workspace's present keys, None until it is read."""

    budget: Budget
    spent: Decimal | None = None

    @property
    def interval(self) -> str:
        """The interval, or the id if the interval is unreadable."""
        return self.budget.interval or f"?{self.budget.id}"

    @property
    def limit(self) -> Decimal | None:
        """The budget in USD, None if unreadable."""
        return self.budget.limit_usd

    @property
    def share(self) -> Decimal | None:
        """The spent share of the budget, 0 to 1 and above; None if unknown."""
        if self.limit is None or self.limit <= 0 or self.spent is None:
            return None
        return self.spent / self.limit


async def _budgets(reader: FeedReader, scope: Scope) -> Sequence[BudgetRow]:
    return tuple(BudgetRow(budget) for budget in await reader.fresh(budgets_of(scope.parent or "")))


_NEEDS_WORKSPACE = "budgets are listed for one workspace"
budgets_feed = FeedSpec("budgets", _budgets, cadence.WORKSPACES, needs=_NEEDS_WORKSPACE)
"""The budgets of the scope's parent, a workspace."""


async def _spent(reader: FeedReader, scope: Scope) -> WorkspaceFigures:
    return await figures_of(reader, await reader.client.workspaces.get(scope.parent or ""))


spent_feed = FeedSpec("workspaces:figures", _spent, cadence.WORKSPACES, needs=_NEEDS_WORKSPACE)
"""The contents of the scope's parent, a workspace."""


# People -------------------------------------------------------------------------------------------

_NAME = 60


def shown_person(person: OrganizationMember | None, user_id: str | None) -> str:
    """The name of a person, else the mail address, else the id, safe to show."""
    name = person and (person.full_name or person.email)
    return safe_line(name or user_id or "without an id", _NAME)


async def read_people(reader: FeedReader) -> Mapping[str, OrganizationMember]:
    """The people of the organization by user id; empty if they cannot be read."""
    try:
        people = await reader.get(PEOPLE)
    except GatewayError:
        return {}
    return {person.id: person for person in people if person.id}


async def read_person_names(reader: FeedReader) -> dict[str, str]:
    """The names of the people of the organization by user id; empty if they cannot be read."""
    people = await read_people(reader)
    return {identity: shown_person(person, identity) for identity, person in people.items()}


@dataclass(frozen=True, slots=True)
class Membership:
    """A workspace, and a person as its member."""

    workspace: Workspace
    member: WorkspaceMember


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A member of the organization; ``memberships`` (in workspaces) is None until they are read."""

    person: OrganizationMember
    memberships: tuple[Membership, ...] | None = None

    @property
    def identity(self) -> str:
        """The user id, or other fields if there is none."""
        return self.person.id or f"?{self.person.email}|{self.person.full_name}"


async def _person_rows(reader: FeedReader, _scope: Scope) -> Sequence[PersonRow]:
    def rows_of(listed: Mapping[str, Sequence[OrganizationMember]]) -> Sequence[PersonRow]:
        return tuple(PersonRow(person) for people in listed.values() for person in people)

    growing = GrowingList(reader, "people", rows_of)
    return rows_of({"": await growing.read("", reader.fresh, PEOPLE)})


async def _memberships(reader: FeedReader, _scope: Scope) -> Mapping[str, tuple[Membership, ...]]:
    spaces = tuple((await read_workspaces(reader)).values())

    async def members(space: Workspace) -> tuple[WorkspaceMember, ...]:
        try:
            return await reader.get(members_of(space.id or ""))
        except NotFoundError:
            return ()  # deleted meanwhile

    memberships: dict[str, list[Membership]] = {}
    for space, listed in zip(spaces, await fetch_each(spaces, members), strict=True):
        for member in listed:
            if member.user_id:
                memberships.setdefault(member.user_id, []).append(Membership(space, member))
    return {user_id: tuple(belongings) for user_id, belongings in memberships.items()}


people_feed = FeedSpec("organization", _person_rows, cadence.WORKSPACES)
"""The people of the organization."""


memberships_feed = FeedSpec("organization:memberships", _memberships, cadence.WORKSPACES)
"""The memberships of each person, by user id."""


async def _settings(reader: FeedReader, _scope: Scope) -> Sequence[OrganizationSettings]:
    return (await reader.client.organization.settings(),)


settings_feed = FeedSpec("organization:settings", _settings, cadence.WORKSPACES)
"""The settings of the organization, as a list of one."""


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A membership with its person and the keys that this person created in the workspace.

    ``person`` is None if the organization does not list it. ``keys`` is None if the keys could not
    be read, with the reason in ``faults``.
    """

    member: WorkspaceMember
    person: OrganizationMember | None = None
    keys: tuple[ApiKey, ...] | None = None
    faults: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The user id, or the id of the membership if there is none."""
        return self.member.user_id or f"?{self.member.id}"

    @property
    def called(self) -> str:
        """The name of the person, for sentences."""
        return shown_person(self.person, self.member.user_id)

    def active_keys(self, now: datetime) -> tuple[ApiKey, ...]:
        """The active keys of this person, which prevent a removal."""
        return tuple(key for key in self.keys or () if is_active(key, now))


async def read_members(reader: FeedReader, scope: Scope) -> Sequence[MemberRow]:
    """The members of the scope's parent, a workspace, with their names and keys.

    Names and keys are missing if they cannot be read. Raises GatewayError.
    """
    workspace_id = scope.parent or ""
    parts: Parts[str] = Parts()
    people = await parts.read("organization", reader.get(PEOPLE))
    keys = await parts.read("keys", reader.get(keys_of(workspace_id)))
    by_id = {person.id: person for person in people or ()}

    def rows_of(listed: Mapping[str, Sequence[WorkspaceMember]]) -> Sequence[MemberRow]:
        return tuple(
            MemberRow(
                member,
                by_id.get(member.user_id),
                None if keys is None else keys_created_by(keys, member.user_id),
                parts.faults,
            )
            for members in listed.values()
            for member in members
        )

    growing = GrowingList(reader, "members", rows_of)
    return rows_of({"": await growing.read("", reader.fresh, members_of(workspace_id))})


def keys_created_by(keys: Sequence[ApiKey], user_id: str | None) -> tuple[ApiKey, ...]:
    """Those of ``keys`` that this person created; none if ``user_id`` is None."""
    return tuple(key for key in keys if user_id is not None and key.creator_user_id == user_id)


members_feed = FeedSpec(
    "members",
    read_members,
    cadence.WORKSPACES,
    needs="members are listed for one workspace: open them from the workspaces",
)
"""The members of the scope's parent, a workspace."""
