"""Activity of the last completed days, and single generations. Amounts are USD.

Extended contract section 8.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.usage import ActivityRow, Generation
from gwtui.domain.activity import day_of
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.base_reads import PEOPLE, WORKSPACES, FeedKey
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.concurrent_reads import fetch_each
from gwtui.watch.feeds.keys import KeyRow, read_keys
from gwtui.watch.feeds.organization import shown_person
from gwtui.watch.hub import FeedHub, FeedReader, Scope

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.paging import Listing
    from gwtui.contract.organization import OrganizationMember
    from gwtui.contract.workspaces import Workspace

MOST_KEYS = 100
"""Keys that are read one by one; the gateway does not tell keys apart in one answer."""
_NAME = 80
_KEY_NAME = 120


@dataclass(frozen=True, slots=True)
class Activity:
    """Everything that was done, told apart by workspace, and what the workspaces are called."""

    rows: tuple[ActivityRow, ...]
    workspaces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartedActivity:
    """What single keys or people did: rows and names by hash or id; ``left_out`` were not read.

    Of keys ``makers`` are the ids of those who made them, ``people`` their names as far as known.
    """

    rows: Mapping[str, tuple[ActivityRow, ...]]
    names: Mapping[str, str]
    left_out: int = 0
    makers: Mapping[str, str | None] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DayRow:
    """What one endpoint did on one UTC day, and what its workspace is called."""

    row: ActivityRow
    workspace_name: str | None = None

    @property
    def identity(self) -> str:
        """What tells it from others: the gateway gives these rows no identifier."""
        one = self.row
        parts = (one.date, one.model, one.endpoint_id or one.provider_name, one.workspace_id)
        return "|".join(part or "" for part in parts)

    @property
    def day(self) -> datetime | None:
        """The first moment of the day."""
        day = day_of(self.row)
        return None if day is None else datetime.combine(day, time(), UTC)


async def read_activity(
    reader: FeedReader, workspace: str | None, key_hash: str | None, user: str | None = None
) -> Activity:
    """The last 30 completed days of the account, a workspace, a key, or the keys of a user.

    Raises GatewayError.
    """
    found = await reader.client.activity.list(
        workspace_id=workspace, api_key_hash=key_hash, user_id=user, by_workspace=True
    )
    spaces: tuple[Workspace, ...] = ()
    with suppress(GatewayError):  # their ids will do
        spaces = await reader.get(WORKSPACES)
    names = {
        space.id: safe_line(space.name or space.slug or space.id, _NAME)
        for space in spaces
        if space.id
    }
    return Activity(found.items, names)


def activity_feed(hub: FeedHub, scope: Scope) -> Feed[Activity]:
    """The activity of a scope; ``parent`` narrows it to one key by its hash."""
    workspace, key = scope.workspace, scope.parent
    if key is not None:
        workspace = None  # a key is in one workspace only
    return hub.derive(
        FeedKey("activity", (workspace or "", *([key] if key else []))),
        lambda reader: read_activity(reader, workspace, key),
        cadence.ACTIVITY,
        passing=True,
    )


def user_activity_feed(hub: FeedHub, user: str) -> Feed[Activity]:
    """What the keys did that one person made, in every workspace."""
    return hub.derive(
        FeedKey("activity", ("user", user)),
        lambda reader: read_activity(reader, None, None, user),
        cadence.ACTIVITY,
        passing=True,
    )


async def read_key_activity(
    reader: FeedReader, workspace: str | None, *, people: bool = False
) -> PartedActivity:
    """What each key did that was ever used, the busiest first. Raises GatewayError.

    With ``people`` those who made them have names, where those can be read.
    """
    listed = [row for row in await read_keys(reader, workspace) if row.key.hash]
    used = [row for row in listed if row.key.usage != 0 or row.key.byok_usage != 0]
    used.sort(key=_this_month, reverse=True)
    hashes = [row.key.hash or "" for row in used[:MOST_KEYS]]
    ask = reader.client.activity.list
    found = await _rows_of_each(hashes, lambda one: ask(api_key_hash=one, by_workspace=True))
    known: tuple[OrganizationMember, ...] = ()
    if people:
        with suppress(GatewayError):  # their ids will do
            known = await reader.get(PEOPLE)
    return PartedActivity(
        found,
        {
            row.key.hash or "": safe_line(row.key.name or row.key.label or row.key.hash, _KEY_NAME)
            for row in used
        },
        len(used) - len(hashes),
        {row.key.hash or "": row.key.creator_user_id for row in used},
        _names_of(known),
    )


def _names_of(people: Sequence[OrganizationMember]) -> dict[str, str]:
    return {person.id: shown_person(person, person.id) for person in people if person.id}


async def read_user_activity(reader: FeedReader, workspace: str | None) -> PartedActivity:
    """What the keys did that each member of the organization made. Raises GatewayError."""
    people = await reader.get(PEOPLE)
    names = _names_of(people)
    users = list(names)[:MOST_KEYS]
    ask = reader.client.activity.list
    found = await _rows_of_each(
        users, lambda one: ask(user_id=one, workspace_id=workspace, by_workspace=True)
    )
    return PartedActivity(found, names, len(names) - len(users))


async def _rows_of_each(
    identities: Sequence[str], ask: Callable[[str], Awaitable[Listing[ActivityRow]]]
) -> Mapping[str, tuple[ActivityRow, ...]]:
    """The activity of each key or person; none of one that is gone since it was listed."""

    async def rows(identity: str) -> tuple[ActivityRow, ...]:
        try:
            return (await ask(identity)).items
        except NotFoundError:
            return ()

    return dict(zip(identities, await fetch_each(identities, rows), strict=True))


def _this_month(row: KeyRow) -> Decimal:
    """What a key cost since the first, own provider keys included: USD."""
    return (row.key.usage_monthly or Decimal(0)) + (row.key.byok_usage_monthly or Decimal(0))


def key_activity_feed(hub: FeedHub, scope: Scope, *, people: bool = False) -> Feed[PartedActivity]:
    """What single keys did; it takes a request per key, so it is read only when looked at."""
    workspace = scope.workspace
    return hub.derive(
        FeedKey("activity-keys", (workspace or "", *(["people"] if people else []))),
        lambda reader: read_key_activity(reader, workspace, people=people),
        cadence.ACTIVITY,
        passing=True,
    )


def every_user_activity_feed(hub: FeedHub, scope: Scope) -> Feed[PartedActivity]:
    """What single people did; it takes a request for each, so it is read only when looked at."""
    workspace = scope.workspace
    return hub.derive(
        FeedKey("activity-users", (workspace or "",)),
        lambda reader: read_user_activity(reader, workspace),
        cadence.ACTIVITY,
        passing=True,
    )


async def _days(reader: FeedReader, scope: Scope) -> Sequence[DayRow]:
    found = await read_activity(reader, scope.workspace, scope.parent)
    return tuple(DayRow(row, found.workspaces.get(row.workspace_id or "")) for row in found.rows)


def days_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[DayRow]]:
    """The activity of a scope row by row; ``parent`` narrows it to one key by its hash."""
    if scope.parent is not None:
        scope = Scope(parent=scope.parent)  # a key is in one workspace only
    return hub.derive(
        FeedKey("activity", ("rows", scope.workspace or "", scope.parent or "")),
        lambda reader: _days(reader, scope),
        cadence.ACTIVITY,
        passing=True,
    )


_SHOWN_ID = 60


async def _generation(client: GatewayClient, identity: str) -> Sequence[Generation]:
    """Raises GatewayError, in words for a person where there is none."""
    try:
        return (await client.generations.get(identity),)
    except NotFoundError as error:
        named = safe_line(identity, _SHOWN_ID)
        why = f"There is no generation “{named}”: unknown, or no longer kept."
        raise GatewayError(why, request_id=error.request_id) from None


def generation_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[Generation]]:
    """The generation whose id is the scope's parent, as a list of one."""
    identity = scope.parent or ""
    key: FeedKey[Sequence[Generation]] = FeedKey("generation", (identity,))
    return hub.feed(key, lambda client: _generation(client, identity), cadence.KEYS)
