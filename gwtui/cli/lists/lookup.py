"""Find the row that a person names by identifier, prefix or name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gwtui.cli import exits
from gwtui.cli.output import narrate
from gwtui.client.errors import GatewayError
from gwtui.client.request_log import Shortfall
from gwtui.contract.workspaces import Workspace
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.lookup import Names, lookup, nearest
from gwtui.domain.safe_text import safe_line
from gwtui.resources.entries import Parent
from gwtui.resources.registry import RESOURCES
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.workspaces import workspaces_feed
from gwtui.watch.hub import FeedHub

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Portion(Generic[T]):
    """Some rows of a list. The ``last`` portion repeats the rows of all earlier ones."""

    rows: Sequence[T]
    last: bool = False


class CommandReadings:
    """Reads feeds for one command, and tracks whether all data could be read."""

    def __init__(self, hub: FeedHub) -> None:
        self.hub = hub
        self._lacks: list[str] = []

    @property
    def exit_code(self) -> int:
        """OK, or INCOMPLETE if something could not be read."""
        return exits.INCOMPLETE if self._lacks else exits.OK

    async def value(self, feed: Feed[T]) -> T:
        """Return a fresh value of the feed. Raises GatewayError."""
        state = await feed.refresh()
        if state.error is not None or state.value is None:
            raise state.error or GatewayError("The gateway did not answer.")
        if state.lacks:
            self.report_missing(_shortfall(state.lacks))
        return state.value

    async def portions(
        self, feed_of: Callable[[FeedHub], Feed[Sequence[T]]]
    ) -> AsyncGenerator[Portion[T], None]:
        """Yield the rows of a list as they arrive, read no faster than they are consumed.

        Close the generator if you stop early. Raises GatewayError.
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
        """Return a fresh value of the feed; if it cannot be read, report that and return None."""
        try:
            return await self.value(feed)
        except GatewayError as error:
            self.report_missing(f"{called} could not be read: {error.message}")
            return None

    def report_missing(self, message: str) -> None:
        """Print a message about missing output, once, and make the exit code INCOMPLETE."""
        if message not in self._lacks:
            narrate(message)
        self._lacks.append(message)


def _shortfall(lacks: Shortfall) -> str:
    unreadable, cut = lacks.unreadable, lacks.cut
    parts = []
    if unreadable:
        parts.append(f"{unreadable} {'entry' if unreadable == 1 else 'entries'} could not be read")
    if cut:
        lists = "1 list is" if cut == 1 else f"{cut} lists are"
        parts.append(f"{lists} incomplete: rows are missing")
    return "; ".join(parts)


_SHOWN = 5
_NAME = 60
_IDENTITY = 80
"""Displayed characters of an identifier: enough for a complete hash to copy."""


def find(
    rows: Iterable[T],
    text: str,
    noun: str,
    names: Names[T],
    differences: Callable[[Sequence[T]], Sequence[str]] | None = None,
) -> T:
    """Return the row with this name. Raises CommandError if there is none or more than one.

    ``names`` returns the identity of a row and its other names. ``differences`` returns a text for
    each of several matching rows that distinguishes them.
    """
    rows = tuple(rows)
    matches = lookup(rows, text, names).rows
    if len(matches) == 1:
        return matches[0]
    called = safe_line(text, _NAME)
    if not matches:
        near = ", ".join(safe_line(name, _NAME) for name in nearest(rows, text, names))
        meant = f"; did you mean {near}?" if near else ""
        raise exits.CommandError(f"there is no {noun} {called!r} that this key can see{meant}")
    identities = [safe_line(names(row)[0] or "", _IDENTITY) for row in matches[:_SHOWN]]
    if differences is not None:
        apart = differences(matches)[:_SHOWN]
        identities = [
            f"{identity} ({safe_line(differs, _NAME)})" if differs else identity
            for identity, differs in zip(identities, apart, strict=True)
        ]
    more = f" and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
    raise exits.CommandError(
        f"{len(matches)} {noun}s match {called!r}; use an identifier: {', '.join(identities)}{more}"
    )


def find_row(spec: ResourceSpec[T], rows: Iterable[T], text: str) -> T:
    """Return the row of a resource with this name. Raises CommandError."""
    now = SYSTEM_CLOCK.now()
    return find(rows, text, spec.singular, spec.names(now), lambda few: spec.differences(few, now))


async def find_workspace(readings: CommandReadings, text: str) -> Workspace:
    """Read a workspace by its id, slug or name. Raises CommandError and GatewayError."""
    spaces = await readings.value(workspaces_feed(readings.hub, Scope()))
    return find(spaces, text, "workspace", lambda space: (space.id, space.slug, space.name))


async def find_parent(readings: CommandReadings, kind: Parent, text: str) -> str:
    """Return the identity of the parent of a list. Raises CommandError and GatewayError."""
    if kind == "model":
        return text
    if kind == "workspace":
        return (await find_workspace(readings, text)).id or ""
    spec = RESOURCES["keys" if kind == "key" else "guardrails"]
    rows = await readings.value(spec.feed(readings.hub, Scope()))
    return spec.identity(find_row(spec, rows, text))
