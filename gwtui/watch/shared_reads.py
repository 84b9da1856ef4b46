"""What several feeds of one connection read: each list goes out once for all of them.

A ``SharedRead`` declares one thing to read, most often a list of the gateway; all of them are
declared at the end. They give models of ``gwtui.contract``, in the order of the gateway. A
``ReadPool`` holds their answers for a moment, a ``PoolReader`` gets them for one reading of a feed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from gwtui.client.request_log import (
    PageHandler,
    PartListener,
    ReadingLog,
    include,
    may_retry,
    reading_log,
)
from gwtui.domain.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.paging import Listing
    from gwtui.contract.budgets import Budget
    from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
    from gwtui.contract.keys import ApiKey
    from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
    from gwtui.contract.organization import OrganizationMember, WorkspaceMember
    from gwtui.contract.workspaces import Workspace
    from gwtui.watch.feed import Feed

T = TypeVar("T")

SHARED_FOR = 0.5
"""Share of its cadence for which a feed takes what was read for another one."""
SHARED_AT_MOST = 30.0
"""Seconds after which it takes it no more, however slow the feed is."""


@dataclass(frozen=True, slots=True)
class FeedKey(Generic[T]):
    """What is read, and of which part of the account: ``T`` is the type of the value.

    The parts of ``scope`` go from general to particular.
    """

    resource: str
    scope: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The parts in one word, such as "keys:WORKSPACE"."""
        return ":".join((self.resource, *self.scope))


@dataclass(frozen=True, slots=True)
class SharedRead(Generic[T]):
    """One thing to read from the gateway, most often a list. ``read`` raises GatewayError."""

    key: FeedKey[T]
    read: Callable[[GatewayClient], Awaitable[T]]


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """A value, the number of the read that gave it, and when it came by both clocks."""

    value: Any
    number: int
    read_at: datetime
    monotonic: float
    log: ReadingLog


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    """A read under way. ``log`` is what it costs and lacks so far."""

    number: int
    task: asyncio.Task[_Answer]
    log: ReadingLog


class ReadPool:
    """Holds the last answer of each shared read, and the reads under way.

    Reads are numbered in the order in which they begin. An answer is never replaced by one that
    was asked for earlier, whichever comes first. Failures are not kept.
    """

    def __init__(self, client: GatewayClient, clock: Clock = SYSTEM_CLOCK) -> None:
        self.client = client
        self.clock = clock
        self._answers: dict[FeedKey[Any], _Answer] = {}
        """Those that may be shared still, the oldest first."""
        self._latest: dict[FeedKey[Any], int] = {}
        """The number of the last answer, kept so that an earlier one is known as such."""
        self._running: dict[FeedKey[Any], _Running] = {}
        self._tasks: set[asyncio.Task[_Answer]] = set()
        self._forgotten = 0
        self.begun = 0
        """The number of the latest read that began."""

    def forget(self) -> None:
        """What was read up to now is out of date. Who waits for a read under way still gets it."""
        self._forgotten = self.begun

    async def get(
        self,
        read: SharedRead[T],
        *,
        after: int,
        within: float,
        since: int,
        on_part: PartListener | None = None,
    ) -> T:
        """The value of a read that began later than number ``after``.

        It is not older than ``within`` seconds, unless the read was under way already. What it
        lacks and what it costs counts for the reading of the caller, and so does its age where it
        began no later than number ``since``. ``on_part`` is told what has come of a long list
        meanwhile. Raises GatewayError.
        """
        began = self.begun
        after = max(after, self._forgotten)
        answer = self._answers.get(read.key)
        if answer is not None and answer.number > after and self._age(answer) <= within:
            include(answer.log, read_at=None if answer.number > since else answer.read_at)
            return cast("T", answer.value)
        running = self._running.get(read.key)
        if running is None or running.number <= after:
            running = self._begin(read)
        mine = running.number > began
        if on_part is not None:
            running.log.parts.append(on_part)
        try:
            answer = await asyncio.shield(running.task)
        except BaseException:
            include(running.log, requests=mine)
            raise
        finally:
            if on_part is not None:
                running.log.parts.remove(on_part)
        newer = self._answers.get(read.key)
        if newer is not None and newer.number > answer.number:
            answer = newer
        include(running.log, requests=mine)
        return cast("T", answer.value)

    async def close(self) -> None:
        """End every read under way, and wait for that."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _begin(self, read: SharedRead[Any]) -> _Running:
        self.begun += 1
        log = ReadingLog(trying=not may_retry())
        task = asyncio.get_running_loop().create_task(
            self._read(read, self.begun, log), name=f"read {read.key.name}"
        )
        running = self._running[read.key] = _Running(self.begun, task, log)
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._landed(read.key, running))
        return running

    async def _read(self, read: SharedRead[Any], number: int, log: ReadingLog) -> _Answer:
        with reading_log(log):
            value = await read.read(self.client)
        return _Answer(value, number, self.clock.now(), self.clock.monotonic(), log)

    def _landed(self, key: FeedKey[Any], running: _Running) -> None:
        task = running.task
        self._tasks.discard(task)
        self._let_go()
        if self._running.get(key) is running:
            del self._running[key]
        if task.cancelled() or task.exception() is not None:
            return
        answer = task.result()
        if self._latest.get(key, 0) < answer.number:
            self._latest[key] = answer.number
            self._answers.pop(key, None)
            self._answers[key] = answer

    def _let_go(self) -> None:
        """Let go of the answers that are too old to be shared."""
        while self._answers:
            oldest, known = next(iter(self._answers.items()))
            if self._age(known) <= SHARED_AT_MOST:
                break
            del self._answers[oldest]

    def _age(self, answer: _Answer) -> float:
        """Seconds; the monotonic clock stands still while a machine sleeps, the other may jump."""
        passed = (self.clock.now() - answer.read_at).total_seconds()
        return max(passed, self.clock.monotonic() - answer.monotonic)


class PoolReader:
    """Gets shared reads for one reading of a feed.

    What it gets began later than read number ``after``, and is not older than ``within`` seconds.
    ``feed`` gives the feed that reads, if one does. ``take`` is who takes the rows of the feed's
    list as they come, where that is wanted instead of the whole.
    """

    def __init__(
        self,
        pool: ReadPool,
        *,
        after: int = 0,
        within: float = 0.0,
        feed: Callable[[], Feed[Any] | None] = lambda: None,
        take: PageHandler | None = None,
    ) -> None:
        self.take = take
        self.client = pool.client
        self.clock = pool.clock
        self._feed = feed
        self._pool = pool
        self._after = after
        self._within = within
        self._begun = pool.begun

    async def get(self, read: SharedRead[T], on_part: PartListener | None = None) -> T:
        """The value, read now or a moment ago for another feed. Raises GatewayError.

        ``on_part`` is told what has come of a long list while the rest of it is read.
        """
        after, within = self._after, self._within
        return await self._pool.get(
            read, after=after, within=within, since=self._begun, on_part=on_part
        )

    async def fresh(self, read: SharedRead[T], on_part: PartListener | None = None) -> T:
        """The value, read since this reading began; otherwise like ``get``."""
        after = max(self._after, self._begun)
        return await self._pool.get(
            read, after=after, within=math.inf, since=self._begun, on_part=on_part
        )

    async def hand_on(self, read: SharedRead[tuple[Any, ...]], take: PageHandler) -> None:
        """Read a list now, each page of it handed to ``take``. Raises GatewayError.

        Nothing of it is kept or shared. A list that comes in one answer is one page.
        """
        log = ReadingLog(trying=not may_retry(), page_handler=take)
        try:
            with reading_log(log):
                whole = await read.read(self.client)
        finally:
            include(log, requests=True)
        if whole:
            await take(whole)

    @property
    def growing(self) -> Feed[Any] | None:
        """The feed that reads, while it has no value and so shows parts; None without one."""
        feed = self._feed()
        return None if feed is None or feed.state.value is not None else feed


def unshared(client: GatewayClient) -> PoolReader:
    """A reader for what reads once, such as a form: nothing is shared with any feed."""
    return PoolReader(ReadPool(client))


def _list_of(
    key: FeedKey[tuple[T, ...]], read: Callable[[GatewayClient], Awaitable[Listing[T]]]
) -> SharedRead[tuple[T, ...]]:
    async def items(client: GatewayClient) -> tuple[T, ...]:
        return (await read(client)).items

    return SharedRead(key, items)


WORKSPACES: SharedRead[tuple[Workspace, ...]] = _list_of(
    FeedKey("workspaces"), lambda client: client.workspaces.list()
)
PEOPLE: SharedRead[tuple[OrganizationMember, ...]] = _list_of(
    FeedKey("organization"), lambda client: client.organization.members()
)
MODELS: SharedRead[tuple[Model, ...]] = _list_of(
    FeedKey("models"), lambda client: client.catalog.models()
)
USER_MODELS: SharedRead[tuple[Model, ...]] = _list_of(
    FeedKey("user-models"), lambda client: client.catalog.user_models()
)
PROVIDERS: SharedRead[tuple[Provider, ...]] = _list_of(
    FeedKey("providers"), lambda client: client.providers.list()
)
ZDR_ENDPOINTS: SharedRead[tuple[Endpoint, ...]] = _list_of(
    FeedKey("zdr"), lambda client: client.catalog.zdr_endpoints()
)


def endpoints_of(model_id: str) -> SharedRead[ModelEndpoints]:
    """A model ("author/slug") with its endpoints."""
    return SharedRead(
        FeedKey("endpoints", (model_id,)), lambda client: client.catalog.endpoints(model_id)
    )


def keys_of(workspace: str | None) -> SharedRead[tuple[ApiKey, ...]]:
    """The keys of a workspace, disabled and expired ones included; None is the default one."""
    return _list_of(
        FeedKey("keys", (workspace or "",)), lambda client: client.keys.list(workspace_id=workspace)
    )


def members_of(workspace: str) -> SharedRead[tuple[WorkspaceMember, ...]]:
    """Who may use a workspace."""
    return _list_of(
        FeedKey("members", (workspace,)), lambda client: client.workspaces.members(workspace)
    )


def budgets_of(workspace: str) -> SharedRead[tuple[Budget, ...]]:
    """The budgets of a workspace."""
    return _list_of(
        FeedKey("budgets", (workspace,)), lambda client: client.workspaces.budgets(workspace)
    )


def guardrails_of(workspace: str) -> SharedRead[tuple[Guardrail, ...]]:
    """The guardrails of a workspace; the default one may be missing while nobody changed it."""
    return _list_of(
        FeedKey("guardrails", (workspace,)),
        lambda client: client.guardrails.list(workspace_id=workspace),
    )


def key_assignments(guardrail: str | None) -> SharedRead[tuple[KeyAssignment, ...]]:
    """The keys that a guardrail is assigned to; for None those of every guardrail."""
    return _list_of(
        FeedKey("assigned-keys", (guardrail or "",)),
        lambda client: client.guardrails.key_assignments(guardrail),
    )


def member_assignments(guardrail: str | None) -> SharedRead[tuple[MemberAssignment, ...]]:
    """The members that a guardrail is assigned to; for None those of every guardrail."""
    return _list_of(
        FeedKey("assigned-members", (guardrail or "",)),
        lambda client: client.guardrails.member_assignments(guardrail),
    )
