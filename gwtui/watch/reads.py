"""Declares every list of the gateway once, and reads lists in parts, a few requests at a time.

``FeedHub`` has a base feed for each ``BaseRead``. The feeds of screens and commands are derived
from them through a ``FeedReader``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.client.request_log import record_list_gaps

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.paging import Listing
    from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
    from gwtui.contract.keys import ApiKey
    from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
    from gwtui.contract.organization import OrganizationMember, WorkspaceMember
    from gwtui.contract.workspaces import Budget, Workspace
    from gwtui.watch.hub import FeedReader, TakeRows

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FeedKey(Generic[T]):
    """The identity of a feed; ``T`` is the type of its value.

    ``scope`` are ids from general to particular, such as a workspace and a key.
    """

    resource: str
    scope: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The resource and the scope as one word, such as "keys:WORKSPACE"."""
        return ":".join((self.resource, *self.scope))


@dataclass(frozen=True, slots=True)
class BaseRead(Generic[T]):
    """Reads the value of a base feed, usually a list, which several derived feeds share.

    ``read`` raises GatewayError.
    """

    key: FeedKey[T]
    read: Callable[[GatewayClient], Awaitable[T]]


def _list_of(
    key: FeedKey[tuple[T, ...]], read: Callable[[GatewayClient], Awaitable[Listing[T]]]
) -> BaseRead[tuple[T, ...]]:
    async def items(client: GatewayClient) -> tuple[T, ...]:
        return (await read(client)).items

    return BaseRead(key, items)


WORKSPACES: BaseRead[tuple[Workspace, ...]] = _list_of(
    FeedKey("workspaces"), lambda client: client.workspaces.list()
)
PEOPLE: BaseRead[tuple[OrganizationMember, ...]] = _list_of(
    FeedKey("organization"), lambda client: client.organization.members()
)
MODELS: BaseRead[tuple[Model, ...]] = _list_of(
    FeedKey("models"), lambda client: client.catalog.models()
)
USER_MODELS: BaseRead[tuple[Model, ...]] = _list_of(
    FeedKey("user-models"), lambda client: client.catalog.user_models()
)
PROVIDERS: BaseRead[tuple[Provider, ...]] = _list_of(
    FeedKey("providers"), lambda client: client.providers.list()
)
ZDR_ENDPOINTS: BaseRead[tuple[Endpoint, ...]] = _list_of(
    FeedKey("zdr"), lambda client: client.catalog.zdr_endpoints()
)


def endpoints_of(model_id: str) -> BaseRead[ModelEndpoints]:
    """The read of the endpoints of a model ("author/slug")."""
    return BaseRead(
        FeedKey("endpoints", (model_id,)), lambda client: client.catalog.endpoints(model_id)
    )


def keys_of(workspace: str | None) -> BaseRead[tuple[ApiKey, ...]]:
    """The read of all keys of a workspace, also disabled ones; None is the default workspace."""
    return _list_of(
        FeedKey("keys", (workspace or "",)), lambda client: client.keys.list(workspace_id=workspace)
    )


def members_of(workspace: str) -> BaseRead[tuple[WorkspaceMember, ...]]:
    """The read of the members of a workspace."""
    return _list_of(
        FeedKey("members", (workspace,)), lambda client: client.workspaces.members(workspace)
    )


def budgets_of(workspace: str) -> BaseRead[tuple[Budget, ...]]:
    """The read of the budgets of a workspace."""
    return _list_of(
        FeedKey("budgets", (workspace,)), lambda client: client.workspaces.budgets(workspace)
    )


def guardrails_of(workspace: str) -> BaseRead[tuple[Guardrail, ...]]:
    """The read of the guardrails of a workspace.

    The default guardrail may be missing before its first edit.
    """
    return _list_of(
        FeedKey("guardrails", (workspace,)),
        lambda client: client.guardrails.list(workspace_id=workspace),
    )


def key_assignments(guardrail: str | None) -> BaseRead[tuple[KeyAssignment, ...]]:
    """The read of the key assignments of a guardrail; None stands for all guardrails."""
    return _list_of(
        FeedKey("assigned-keys", (guardrail or "",)),
        lambda client: client.guardrails.key_assignments(guardrail),
    )


def member_assignments(guardrail: str | None) -> BaseRead[tuple[MemberAssignment, ...]]:
    """The read of the member assignments of a guardrail; None stands for all guardrails."""
    return _list_of(
        FeedKey("assigned-members", (guardrail or "",)),
        lambda client: client.guardrails.member_assignments(guardrail),
    )


# Lists in parts -----------------------------------------------------------------------------------

CONCURRENCY = 4
"""The maximum number of concurrent requests for one list."""
_SHOW_AFTER = 0.25
"""Seconds after which an unfinished read shows its first rows."""
_SHOW_EVERY = 0.5
"""Seconds between two updates of the rows shown."""


async def read_workspaces(reader: FeedReader, *, every: bool = True) -> Mapping[str, Workspace]:
    """The workspaces by id, in the order of the gateway. Raises GatewayError.

    Workspaces without an id are left out; with ``every``, they make the list count as incomplete.
    """
    listed = await reader.get(WORKSPACES)
    known = {space.id: space for space in listed if space.id}
    if every and len(known) < len(listed):
        record_list_gaps(0, complete=False)
    return known


async def fetch_each(parts: Sequence[P], fetch: Callable[[P], Awaitable[R]]) -> list[R]:
    """Call ``fetch`` for each part and return the results in the same order.

    The first failure cancels the rest and is raised, because an incomplete list must not look
    complete. Raises GatewayError.
    """
    gate = asyncio.Semaphore(CONCURRENCY)

    async def one(part: P) -> R:
        async with gate:
            return await fetch(part)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(part)) for part in parts]
    except* GatewayError as failures:
        failure = failures.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise failure


async def fetch_of_workspaces(
    known: Mapping[str, Workspace],
    workspace: str | None,
    fetch: Callable[[str | None], Awaitable[tuple[R, ...]]],
) -> Sequence[tuple[str | None, tuple[R, ...]]]:
    """The ids of workspaces, each with the rows that ``fetch`` returns for it.

    Reads one workspace, or all ``known`` ones if ``workspace`` is None; if none is known, the id
    None stands for the default workspace. A workspace that was deleted meanwhile has no rows.
    Raises GatewayError.
    """
    identities: Sequence[str | None] = (
        [workspace] if workspace is not None else list(known) or [None]
    )

    async def of_one(identity: str | None) -> tuple[R, ...]:
        try:
            return await fetch(identity)
        except NotFoundError:
            if workspace is None and identity is not None:
                return ()  # deleted since the workspaces were listed
            raise

    return list(zip(identities, await fetch_each(identities, of_one), strict=True))


class GrowingList(Generic[R]):
    """Shows the rows of a long list while its parts are read for the first time.

    ``things`` names the rows, such as "keys"; ``parts`` is the number of parts; ``rows_of``
    converts the items of each part to rows. Rows of several parts need an ``identity``. The shown
    rows are updated when their number has doubled, because showing a long list takes time. When
    streaming (``FeedHub.streaming``), the rows are passed on in the order of the parts, and
    ``read`` returns an empty list.
    """

    def __init__(
        self,
        reader: FeedReader,
        things: str,
        rows_of: Callable[[Mapping[Any, Sequence[Any]]], Sequence[R]],
        *,
        parts: int = 1,
    ) -> None:
        self._reader = reader
        self._before: asyncio.Event | None = None
        feed = reader.feed
        self._feed = feed if feed is not None and feed.state.value is None else None
        self._clock = reader.clock
        self._things = things
        self._rows_of = rows_of
        self._expected = parts
        self._totals: dict[str | None, int | None] = {}
        self._shown: dict[object, R] = {}
        self._part: tuple[R, ...] = ()
        self._identity = attrgetter("identity") if parts > 1 else id
        self._due = self._clock.monotonic() + _SHOW_AFTER

    async def read(
        self,
        part: str | None,
        get: Callable[..., Awaitable[tuple[T, ...]]],
        what: BaseRead[tuple[T, ...]],
    ) -> tuple[T, ...]:
        """Read the part of the list called ``part``, and return its items.

        ``get`` is the method of the reader that reads ``what``: ``get`` or ``fresh``. When
        streaming, ``get`` is not used and the result is empty. Raises GatewayError.
        """
        if self._reader.take is not None:
            await self._stream(part, what, self._reader.take)
            return ()
        if self._feed is None:
            return await get(what)
        whole = await get(what, partial(self._add_rows, part))
        if part not in self._totals:  # one response, or read before
            await self._add_rows(part, whole, len(whole))
        return whole

    async def _stream(
        self, part: str | None, what: BaseRead[tuple[Any, ...]], take: TakeRows
    ) -> None:
        before, done = self._before, asyncio.Event()
        self._before = done

        async def page(rows: Sequence[Any], _total: int | None) -> None:
            if before is not None:
                await before.wait()
            await take(self._rows_of({part: rows}))

        try:
            await self._reader.stream(what, page)
        except NotFoundError:
            done.set()  # the list is complete without a part that was deleted
            raise
        if before is not None:
            await before.wait()
        done.set()

    async def _add_rows(self, part: str | None, rows: Sequence[Any], total: int | None) -> None:
        self._totals[part] = total
        for row in self._rows_of({part: rows}):
            self._shown.setdefault(self._identity(row), row)
        now = self._clock.monotonic()
        if self._feed is not None and now >= self._due:
            self._due = now + _SHOW_EVERY
            if len(self._shown) >= 2 * len(self._part):
                self._part = tuple(self._shown.values())
            self._feed.show_part(self._part, f"reading, {self._count()}")

    def _count(self) -> str:
        count = len(self._shown)
        totals = [total for total in self._totals.values() if total is not None]
        if len(totals) == self._expected:
            return f"{count:,} of {sum(totals):,} {self._things}"
        return f"{count:,} {self._things} so far"


class Parts(Generic[P]):
    """Collects the failures of the parts of a read that may fail separately.

    ``failed`` lists the parts that failed, with the reason.
    """

    def __init__(self) -> None:
        self.failed: list[tuple[P, str]] = []

    async def read(self, what: P, reading: Awaitable[R]) -> R | None:
        """Await the read of the part ``what``; None if it raises GatewayError."""
        try:
            return await reading
        except GatewayError as error:
            self.failed.append((what, error.message))
            return None

    @property
    def faults(self) -> tuple[str, ...]:
        """A sentence for each part that failed."""
        return tuple(f"{what}: {why}" for what, why in self.failed)
