"""Members of one workspace: extended contract section 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import Growing, Parts
from gwtui.watch.feeds.organization import shown_person
from gwtui.watch.feeds.reads import PEOPLE, keys_of, members_of
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader


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


async def read_members(reader: PoolReader, workspace_id: str) -> Sequence[MemberRow]:
    """The members of a workspace, with what the organization says of them. Raises GatewayError.

    Who they are and what keys they have is joined where it can be read: a list without names is
    still a list of members.
    """
    parts = Parts()
    people = await parts.read("organization", lambda: reader.get(PEOPLE))
    keys = await parts.read("keys", lambda: reader.get(keys_of(workspace_id)))
    by_id = {person.id: person for person in people or ()}

    def rows_of(listed: Mapping[str, Sequence[WorkspaceMember]]) -> Sequence[MemberRow]:
        return tuple(
            MemberRow(
                member,
                by_id.get(member.user_id),
                None if keys is None else keys_made_by(keys, member.user_id),
                tuple(parts.faults),
            )
            for members in listed.values()
            for member in members
        )

    growing = Growing(reader, "members", rows_of)
    return rows_of({"": await growing.read("", reader.fresh, members_of(workspace_id))})


def keys_made_by(keys: Sequence[ApiKey], user_id: str | None) -> tuple[ApiKey, ...]:
    """The keys that a person made."""
    return tuple(key for key in keys if user_id is not None and key.creator_user_id == user_id)


def members_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[MemberRow]]:
    """The members of the workspace that the scope names as parent. Raises ValueError without."""
    workspace_id = scope.parent
    if workspace_id is None:
        raise ValueError("members are listed for one workspace: open them from the workspaces")
    return hub.derive(
        FeedKey("members", (workspace_id,)),
        lambda reader: read_members(reader, workspace_id),
        cadence.WORKSPACES,
        passing=True,
    )
