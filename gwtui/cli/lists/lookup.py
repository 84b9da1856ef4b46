"""Find the row that a person names: by identifier, the start of one, or name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gwtui.cli import exits
from gwtui.cli.exits import CommandError
from gwtui.cli.output import narrate
from gwtui.client.errors import GatewayError
from gwtui.client.request_log import Shortfall
from gwtui.contract.workspaces import Workspace
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.lookup import Names, lookup, nearest
from gwtui.domain.safe_text import safe_line
from gwtui.resources.registry import RESOURCES, Parent
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.workspaces import workspaces_feed
from gwtui.watch.hub import FeedHub

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Portion(Generic[T]):
    """Rows of a list that came together; the ``last`` ones are all that were not handed on before.

    Of a list that cannot be had in portions these are all.
    """

    rows: Sequence[T]
    last: bool = False


class CommandReadings:
    """What one command reads, and whether that was all there is."""

    def __init__(self, hub: FeedHub) -> None:
        self.hub = hub
        self._lacks: list[str] = []

    @property
    def exit_code(self) -> int:
        """The code of a command that printed what could be read."""
        return exits.INCOMPLETE if self._lacks else exits.OK

    async def value(self, feed: Feed[T]) -> T:
        """What the feed gives now. Raises GatewayError."""
        state = await feed.refresh()
        if state.error is not None or state.value is None:
            raise state.error or GatewayError("There is no answer.")
        if state.lacks:
            self.report_missing(_shortfall(state.lacks))
        return state.value

    async def portions(
        self, feed_of: Callable[[FeedHub], Feed[Sequence[T]]]
    ) -> AsyncGenerator[Portion[T], None]:
        """The rows of a list as they come, read no faster than they are taken.

        To be closed by who leaves before the end. Raises GatewayError.
        """
        rows: asyncio.Queue[Sequence[T]] = asyncio.Queue(maxsize=1)
        feed = feed_of(self.hub.streaming(rows.put))
        last = asyncio.create_task(self.value(feed))
        try:
            while not (last.done() and rows.empty()):
                portion = asyncio.create_task(rows.get())
                await asyncio.wait({portion, last}, return_when=asyncio.FIRST_COMPLETED)
                if portion.done():
                    yield Portion(portion.result())
                else:
                    portion.cancel()
            yield Portion(last.result(), last=True)
        finally:
            last.cancel()
            await feed.close()

    async def value_or_nothing(self, feed: Feed[T], called: str) -> T | None:
        """As ``value``, for what a list can do without: None when it could not be read."""
        try:
            return await self.value(feed)
        except GatewayError as error:
            self.report_missing(f"{called} could not be read: {error.message}")
            return None

    def report_missing(self, message: str) -> None:
        """Report that a part of the output is missing, once for each part."""
        if message not in self._lacks:
            narrate(message)
        self._lacks.append(message)


def _shortfall(lacks: Shortfall) -> str:
    unreadable, cut = lacks.unreadable, lacks.cut
    parts = []
    if unreadable:
        parts.append(f"{unreadable} {'entry' if unreadable == 1 else 'entries'} could not be read")
    if cut:
        lists = "a list" if cut == 1 else f"{cut} lists"
        parts.append(f"{lists} came incomplete: rows are missing")
    return "; ".join(parts)


_SHOWN = 5
_NAME = 60
_IDENTITY = 80
"""Whole, also where it is a hash: it is there to be copied."""


def find(
    rows: Iterable[T],
    text: str,
    noun: str,
    names: Names[T],
    differences: Callable[[Sequence[T]], Sequence[str]] | None = None,
) -> T:
    """The one row that is called so. Raises CommandError when there is none, or several.

    ``names`` gives the identity first, then what else a row goes by; ``differences`` what tells
    several rows apart.
    """
    rows = tuple(rows)
    found = lookup(rows, text, names).rows
    if len(found) == 1:
        return found[0]
    called = safe_line(text, _NAME)
    if not found:
        near = ", ".join(safe_line(name, _NAME) for name in nearest(rows, text, names))
        meant = f"; did you mean {near}?" if near else ""
        raise CommandError(f"there is no {noun} {called!r} that this key may see{meant}")
    identities = [safe_line(names(row)[0] or "", _IDENTITY) for row in found[:_SHOWN]]
    if differences is not None:
        apart = differences(found)[:_SHOWN]
        identities = [
            f"{identity} ({safe_line(differs, _NAME)})" if differs else identity
            for identity, differs in zip(identities, apart, strict=True)
        ]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise CommandError(
        f"{len(found)} {noun}s are called {called!r}; name one by its identifier: "
        f"{', '.join(identities)}{more}"
    )


def find_row(spec: ResourceSpec[T], rows: Iterable[T], text: str) -> T:
    """The row of a declared list with that name. Raises CommandError."""
    now = SYSTEM_CLOCK.now()
    return find(rows, text, spec.singular, spec.names(now), lambda few: spec.differences(few, now))


async def find_workspace(readings: CommandReadings, text: str) -> Workspace:
    """A workspace by its id, slug or name. Raises CommandError and GatewayError."""
    spaces = await readings.value(workspaces_feed(readings.hub, Scope()))
    return find(spaces, text, "workspace", lambda space: (space.id, space.slug, space.name))


async def find_parent(readings: CommandReadings, kind: Parent, text: str) -> str:
    """The identity of what a list belongs to. Raises CommandError and GatewayError."""
    if kind == "model":
        return text
    if kind == "workspace":
        return (await find_workspace(readings, text)).id or ""
    spec = RESOURCES["keys" if kind == "key" else "guardrails"]
    rows = await readings.value(spec.feed(readings.hub, Scope()))
    return spec.identity(find_row(spec, rows, text))
