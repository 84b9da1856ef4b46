"""The organization: its people, their workspaces, its settings; the members of one workspace.

Extended contract sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gwtui.client.errors import NotFoundError
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import OrganizationMember, OrganizationSettings, WorkspaceMember
from gwtui.contract.workspaces import Workspace
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.base_reads import PEOPLE, keys_of, members_of
from gwtui.watch.feeds.concurrent_reads import GrowingList, Parts, fetch_each, open_workspaces
from gwtui.watch.hub import FeedReader, FeedSpec, Scope, of_parent

_NAME = 60


def full_name(person: OrganizationMember | None) -> str | None:
    """First and last name as far as there are any; None for nobody and for a nameless one."""
    return None if person is None else person.full_name


def shown_person(person: OrganizationMember | None, user_id: str | None) -> str:
    """What a person is called: by name, else by mail, else by id. Fit to be shown."""
    mail = None if person is None else person.email
    return safe_line(full_name(person) or mail or user_id or "without an id", _NAME)


@dataclass(frozen=True, slots=True)
class Belonging:
    """A workspace that a person is in, and as what."""

    workspace: Workspace
    member: WorkspaceMember


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A member of the organization; ``places`` is None until the workspaces were read."""

    person: OrganizationMember
    places: tuple[Belonging, ...] | None = None

    @property
    def identity(self) -> str:
        """The user id; for a person that came without one, what else tells them from others."""
        return self.person.id or f"?{self.person.email}|{full_name(self.person)}"


async def _people(reader: FeedReader, _scope: Scope) -> Sequence[PersonRow]:
    def rows_of(listed: Mapping[str, Sequence[OrganizationMember]]) -> Sequence[PersonRow]:
        return tuple(PersonRow(person) for people in listed.values() for person in people)

    growing = GrowingList(reader, "people", rows_of)
    return rows_of({"": await growing.read("", reader.fresh, PEOPLE)})


async def _places(reader: FeedReader, _scope: Scope) -> Mapping[str, tuple[Belonging, ...]]:
    """The workspaces of each user id, in the order of the workspaces. Raises GatewayError."""
    spaces = tuple((await open_workspaces(reader)).values())

    async def members(space: Workspace) -> tuple[WorkspaceMember, ...]:
        try:
            return await reader.get(members_of(space.id or ""))
        except NotFoundError:
            return ()  # deleted since the workspaces were listed

    found: dict[str, list[Belonging]] = {}
    for space, listed in zip(spaces, await fetch_each(spaces, members), strict=True):
        for member in listed:
            if member.user_id:
                found.setdefault(member.user_id, []).append(Belonging(space, member))
    return {user_id: tuple(places) for user_id, places in found.items()}


people_feed = FeedSpec("organization", _people, cadence.WORKSPACES)
"""Everybody in the organization."""


places_feed = FeedSpec("organization:places", _places, cadence.WORKSPACES)
"""The workspaces that each user id is in."""


async def _settings(reader: FeedReader, _scope: Scope) -> Sequence[OrganizationSettings]:
    return (await reader.client.organization.settings(),)


settings_feed = FeedSpec("organization:settings", _settings, cadence.WORKSPACES)
"""What holds for the whole organization, as a list of one."""


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A membership, the person it is of, and the keys that this person made in the workspace.

    ``person`` is None when the organization does not say who it is, ``keys`` when the workspace's
    keys could not be read; ``faults`` says why.
    """

    member: WorkspaceMember
    person: OrganizationMember | None = None
    keys: tuple[ApiKey, ...] | None = None
    faults: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The user id; for a membership that came without one, its own id."""
        return self.member.user_id or f"?{self.member.id}"

    @property
    def called(self) -> str:
        """The person in a sentence."""
        return shown_person(self.person, self.member.user_id)

    def active_keys(self, now: datetime) -> tuple[ApiKey, ...]:
        """Keys of this person that stand in the way of a removal, as far as they are known."""
        return tuple(key for key in self.keys or () if is_active(key, now))


async def read_members(reader: FeedReader, scope: Scope) -> Sequence[MemberRow]:
    """The members of the scope's parent, a workspace, with what the organization says of them.

    Who they are and what keys they have is joined where it can be read: a list without names is
    still a list of members. Raises GatewayError.
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
                None if keys is None else keys_made_by(keys, member.user_id),
                parts.faults,
            )
            for members in listed.values()
            for member in members
        )

    growing = GrowingList(reader, "members", rows_of)
    return rows_of({"": await growing.read("", reader.fresh, members_of(workspace_id))})


def keys_made_by(keys: Sequence[ApiKey], user_id: str | None) -> tuple[ApiKey, ...]:
    """The keys that a person made."""
    return tuple(key for key in keys if user_id is not None and key.creator_user_id == user_id)


members_feed = FeedSpec(
    "members",
    read_members,
    cadence.WORKSPACES,
    of_parent("members are listed for one workspace: open them from the workspaces"),
)
"""The members of the workspace that the scope names as parent."""
