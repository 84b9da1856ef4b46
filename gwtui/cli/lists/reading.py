"""Readings of a command: each feed once, with what it lacked told at the end."""

from __future__ import annotations

from typing import TypeVar

from gwtui.cli import exits
from gwtui.cli.output import narrate
from gwtui.client.errors import GatewayError
from gwtui.client.reading_log import Shortfall
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

T = TypeVar("T")


class Readings:
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
            self.lacks(_shortfall(state.lacks))
        return state.value

    async def value_or_nothing(self, feed: Feed[T], called: str) -> T | None:
        """The same for what a list can do without; None when it could not be read."""
        try:
            return await self.value(feed)
        except GatewayError as error:
            self.lacks(f"{called} could not be read: {error.message}")
            return None

    def lacks(self, message: str) -> None:
        """Something is missing from what is printed; told once, however many readings met it."""
        if message not in self._lacks:
            narrate(message)
        self._lacks.append(message)


def _shortfall(lacks: Shortfall) -> str:
    unreadable, cut, closed = lacks.unreadable, lacks.cut, lacks.closed
    parts = []
    if unreadable:
        parts.append(f"{unreadable} {'entry' if unreadable == 1 else 'entries'} could not be read")
    if cut:
        lists = "a list" if cut == 1 else f"{cut} lists"
        parts.append(f"{lists} ended before the end: rows are missing")
    if closed:
        spaces, them = ("a workspace", "it") if closed == 1 else (f"{closed} workspaces", "them")
        parts.append(f"{spaces} came without an id: what is in {them} is missing")
    return "; ".join(parts)
