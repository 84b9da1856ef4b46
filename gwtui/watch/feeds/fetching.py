"""Reading many parts at once without flooding the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.client.request_log import workspaces_closed
from gwtui.watch.feeds.reads import WORKSPACES

if TYPE_CHECKING:
    from gwtui.contract.workspaces import Workspace
    from gwtui.watch.shared import PoolReader

P = TypeVar("P")
R = TypeVar("R")

CONCURRENCY = 4
"""Requests in flight at once for one list."""
AT_ONCE = 2_000
"""Rows that are worked on at once: a few hundredths of a second."""


async def open_workspaces(reader: PoolReader, *, every: bool = True) -> Mapping[str, Workspace]:
    """The workspaces by id, in their order. Raises GatewayError.

    Where ``every`` one is to be read, one that came without an id is told as something that lacks.
    """
    listed = await reader.get(WORKSPACES)
    known = {space.id: space for space in listed if space.id}
    if every:
        workspaces_closed(sum(not space.id for space in listed))
    return known


async def beside(count: int, work: Callable[[], R]) -> R:
    """What ``work`` gives, for a list of ``count`` rows.

    A long list is worked on in a thread, so that keys are answered meanwhile: ``work`` must only
    read what nobody changes. For a short one a thread would cost more than it saves.
    """
    return await asyncio.to_thread(work) if count > AT_ONCE else work()


async def fetch_each(
    parts: Sequence[P], fetch: Callable[[P], Awaitable[R]], *, concurrency: int = CONCURRENCY
) -> list[R]:
    """``fetch`` of every part, in the order of ``parts``.

    The first failure stops the rest and is raised as itself: half an account shown as the whole
    one would be a lie. Raises GatewayError.
    """
    gate = asyncio.Semaphore(concurrency)

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
    """What ``fetch`` lists of one workspace, or of every ``known`` one, each with its id.

    Without any known one, None stands for the default one. Raises GatewayError: a list that lacks a
    workspace's part is never given out as whole, unless that workspace is gone by now.
    """
    wanted: Sequence[str | None] = [workspace] if workspace is not None else list(known) or [None]

    async def of_one(identity: str | None) -> tuple[R, ...]:
        try:
            return await fetch(identity)
        except NotFoundError:
            if workspace is None and identity is not None:
                return ()  # deleted since the workspaces were listed
            raise

    return list(zip(wanted, await fetch_each(wanted, of_one), strict=True))


class Parts:
    """Parts of one reading that may fail each by itself; ``faults`` says which did and why."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    async def read(self, what: str, reading: Callable[[], Awaitable[R]]) -> R | None:
        """One part; None when it could not be read."""
        try:
            return await reading()
        except GatewayError as error:
            self.faults.append(f"{what}: {error.message}")
            return None
