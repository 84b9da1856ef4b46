"""The activity of the last 30 completed days, and single generations. Amounts are USD.

See section 8 of the extended contract.
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
from gwtui.watch.feeds.keys import KeyRow, read_keys
from gwtui.watch.feeds.workspaces import read_person_names, shown_person
from gwtui.watch.hub import (
    FeedReader,
    FeedSpec,
    Scope,
)
from gwtui.watch.reads import PEOPLE, WORKSPACES, fetch_each

if TYPE_CHECKING:
    from gwtui.client.paging import Listing
    from gwtui.contract.workspaces import Workspace

MOST_KEYS = 100
"""The maximum number of keys or people to read, because each takes a request."""
_NAME = 80
_KEY_NAME = 120


@dataclass(frozen=True, slots=True)
class Activity:
    """Activity by workspace, with the names of the workspaces."""

    rows: tuple[ActivityRow, ...]
    workspaces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupedActivity:
    """Activity by key or person: ``rows`` and ``names`` by key hash or user id.

    ``left_out`` is the number of keys or people that were not read. By key, ``creators`` has the
    user id of each key's creator, and ``people`` the names by user id.
    """

    rows: Mapping[str, tuple[ActivityRow, ...]]
    names: Mapping[str, str]
    left_out: int = 0
    creators: Mapping[str, str | None] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DayRow:
    """The activity of an endpoint on a UTC day, with the name of the workspace."""

    row: ActivityRow
    workspace_name: str | None = None

    @property
    def identity(self) -> str:
        """An id from several fields, because the gateway gives these rows none."""
        row = self.row
        parts = (row.date, row.model, row.endpoint_id or row.provider_name, row.workspace_id)
        return "|".join(part or "" for part in parts)

    @property
    def day(self) -> datetime | None:
        """The start of the day; None if the date is unreadable."""
        day = day_of(self.row)
        return None if day is None else datetime.combine(day, time(), UTC)


async def read_activity(
    reader: FeedReader, workspace: str | None, key_hash: str | None, user: str | None = None
) -> Activity:
    """The activity of the account, a workspace, a key, or the keys that a user created.

    Raises GatewayError.
    """
    activity = await reader.client.activity.list(
        workspace_id=None if key_hash else workspace,
        api_key_hash=key_hash,
        user_id=user,
        by_workspace=True,
    )
    spaces: tuple[Workspace, ...] = ()
    with suppress(GatewayError):  # show the ids instead
        spaces = await reader.get(WORKSPACES)
    names = {space.id: safe_line(space.shown_name, _NAME) for space in spaces if space.id}
    return Activity(activity.items, names)


activity_feed = FeedSpec(
    "activity",
    lambda reader, scope: read_activity(reader, scope.workspace, scope.parent),
    cadence.ACTIVITY,
    workspace=True,
    parent=True,
)
"""The activity of the account or a workspace; ``parent`` limits it to a key hash."""


user_activity_feed = FeedSpec(
    "activity:user",
    lambda reader, scope: read_activity(reader, None, None, scope.parent),
    cadence.ACTIVITY,
    needs="a person is needed",
)
"""The activity of all keys that the scope's parent, a user id, created."""


async def read_key_activity(reader: FeedReader, scope: Scope) -> GroupedActivity:
    """The activity of each key that was ever used, the top spenders of this month first.

    At most ``MOST_KEYS`` keys are read. ``people`` is empty if the names cannot be read. Raises
    GatewayError if the keys or their activity cannot be read.
    """
    listed = [row for row in await read_keys(reader, scope.workspace) if row.key.hash]
    used = [row for row in listed if row.key.usage != 0 or row.key.byok_usage != 0]
    used.sort(key=_this_month, reverse=True)
    hashes = [row.key.hash or "" for row in used[:MOST_KEYS]]
    ask = reader.client.activity.list
    rows = await _rows_of_each(
        hashes, lambda key_hash: ask(api_key_hash=key_hash, by_workspace=True)
    )
    return GroupedActivity(
        rows,
        {
            row.key.hash or "": safe_line(row.key.name or row.key.label or row.key.hash, _KEY_NAME)
            for row in used
        },
        len(used) - len(hashes),
        {row.key.hash or "": row.key.creator_user_id for row in used},
        await read_person_names(reader),
    )


async def _read_user_activity(reader: FeedReader, scope: Scope) -> GroupedActivity:
    people = await reader.get(PEOPLE)
    names = {person.id: shown_person(person, person.id) for person in people if person.id}
    users = list(names)[:MOST_KEYS]
    ask = reader.client.activity.list
    rows = await _rows_of_each(
        users, lambda user_id: ask(user_id=user_id, workspace_id=scope.workspace, by_workspace=True)
    )
    return GroupedActivity(rows, names, len(names) - len(users))


async def _rows_of_each(
    identities: Sequence[str], ask: Callable[[str], Awaitable[Listing[ActivityRow]]]
) -> Mapping[str, tuple[ActivityRow, ...]]:
    async def rows(identity: str) -> tuple[ActivityRow, ...]:
        try:
            return (await ask(identity)).items
        except NotFoundError:
            return ()

    return dict(zip(identities, await fetch_each(identities, rows), strict=True))


def _this_month(row: KeyRow) -> Decimal:
    return (row.key.usage_monthly or Decimal(0)) + (row.key.byok_usage_monthly or Decimal(0))


key_activity_feed = FeedSpec("activity-keys", read_key_activity, cadence.ACTIVITY, workspace=True)
"""The activity by key, with one request per key, so it is read on demand only."""


every_user_activity_feed = FeedSpec(
    "activity-users", _read_user_activity, cadence.ACTIVITY, workspace=True
)
"""The activity by person, with one request each, so it is read on demand only."""


async def _days(reader: FeedReader, scope: Scope) -> Sequence[DayRow]:
    activity = await read_activity(reader, scope.workspace, scope.parent)
    return tuple(
        DayRow(row, activity.workspaces.get(row.workspace_id or "")) for row in activity.rows
    )


days_feed = FeedSpec("activity:rows", _days, cadence.ACTIVITY, workspace=True, parent=True)
"""The activity by day and endpoint; ``parent`` limits it to a key hash."""


_SHOWN_ID = 60


async def _generation(reader: FeedReader, scope: Scope) -> Sequence[Generation]:
    identity = scope.parent or ""
    try:
        return (await reader.client.generations.get(identity),)
    except NotFoundError as error:
        named = safe_line(identity, _SHOWN_ID)
        why = f"There is no generation “{named}”. It is unknown or no longer stored."
        raise GatewayError(why, request_id=error.request_id) from None


generation_feed = FeedSpec("generation", _generation, cadence.KEYS, needs="a generation is needed")
"""The generation whose id is the scope's parent, as a list of one."""
