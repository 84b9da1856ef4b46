"""Readings as they come, each subject a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.cli import exits
from gwtui.cli.output import narrate, print_ndjson
from gwtui.cli.running import hub_over, run_async
from gwtui.cli.target import Connect, resolve_connection
from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.keys import limit_used_share
from gwtui.contract.scalars import timestamp_text
from gwtui.local.paths import Paths
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.models import endpoints_feed
from gwtui.watch.feeds.recorded import ask_history
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import NAME, Observation, Subject
from gwtui.watch.history.observers import observe_credits, observe_keys, observe_workspaces
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import DEFAULT_PACES, Build, EndpointSource, Source, Sources
from gwtui.watch.hub import FeedHub, Scope

_SLOWER = 5
"""A reading of the workspaces costs several requests for each of them."""
_ENDINGS = {signal.SIGINT: exits.INTERRUPTED, signal.SIGTERM: exits.TERMINATED}
Values = Mapping[str, Decimal | None]


def print_readings(arguments: argparse.Namespace) -> int:
    """Print a line of JSON for each reading as it comes; returns an exit code."""
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())
    return run_async(lambda: watch_readings(connect, arguments))


async def watch_readings(connect: Connect, arguments: argparse.Namespace) -> int:
    """Print readings until a signal, the last of the count, or a reader that leaves.

    Raises CommandError and OutputLostError.
    """
    async with connect() as connection, hub_over(connection) as hub:
        await hub.fill_past()
        models = arguments.model or await ask_history(hub, HistoryReader.watched_models, None)
        models = models or await _most_used(hub)
        watching = _Watching(hub, arguments)
        with _until_signalled(watching.end) as codes:
            watching.open(models)
            try:
                await watching.write()
            finally:
                watching.close()
        return codes[0] if codes else watching.exit_code


@contextmanager
def _until_signalled(end: Callable[[], None]) -> Iterator[list[int]]:
    """Call ``end`` on SIGINT and SIGTERM; gives the exit codes of those that came."""
    loop, codes = asyncio.get_running_loop(), list[int]()

    def signalled(code: int) -> None:
        codes.append(code)
        end()

    for number, code in _ENDINGS.items():
        loop.add_signal_handler(number, signalled, code)
    try:
        yield codes
    finally:
        for number in _ENDINGS:
            loop.remove_signal_handler(number)


async def _most_used(hub: FeedHub) -> Sequence[str]:
    return await Sources(hub, DEFAULT_PACES, hub.clock, lambda _name, _build: None).most_used()


class _Watching:
    """The feeds that are watched, and the lines that their readings make."""

    def __init__(self, hub: FeedHub, arguments: argparse.Namespace) -> None:
        self._hub = hub
        self._every: int = arguments.interval
        self._nearest: int = arguments.nearest
        self._count: int = arguments.count
        self._ended = asyncio.Event()
        self._news = asyncio.Event()
        """Something arrived, or the end was asked for."""
        self._arrivals: deque[Build] = deque()
        self._watched: list[_WatchedFeed] = []

    def open(self, models: Iterable[str]) -> None:
        """Begin to read."""
        hub, scope, every = self._hub, Scope(), self._every
        self._watch(
            Source("credits", every, observe_credits, self._arrived), credits_feed(hub, scope)
        )
        for model in models:
            endpoints = EndpointSource(model, every, hub.clock, self._arrived)
            self._watch(endpoints, endpoints_feed(hub, Scope(parent=model)))
        if not self._nearest:
            return
        self._watch(Source("keys", every, observe_keys, self._arrived), keys_feed(hub, scope))
        slower = every * _SLOWER
        source = Source("workspaces", slower, observe_workspaces, self._arrived)
        self._watch(source, figures_feed(hub, scope), slower)

    def close(self) -> None:
        """Read no more."""
        for one in self._watched:
            one.close()

    def end(self) -> None:
        """Let ``write`` return once what has arrived is printed."""
        self._ended.set()
        self._news.set()

    @property
    def exit_code(self) -> int:
        """Whether everything that was watched was read at least once."""
        read = [one.succeeded for one in self._watched]
        if all(read):
            return exits.OK
        return exits.INCOMPLETE if any(read) else exits.FAILED

    async def write(self) -> None:
        """Print what arrives, until the end. Raises OutputLostError."""
        while not self._ended.is_set():
            await self._news.wait()
            self._news.clear()
            while self._arrivals:
                print_ndjson(reading_lines(self._arrivals.popleft()(), self._nearest))

    def _watch(self, source: Source, feed: Feed[Any], every: int | None = None) -> None:
        self._watched.append(
            _WatchedFeed(source.open(feed), feed, every or self._every, self._tried)
        )

    def _arrived(self, _name: str, build: Build) -> None:
        self._arrivals.append(build)
        self._news.set()

    def _tried(self) -> None:
        """A reading came to its end, one way or the other."""
        if not self._count:
            return
        for one in self._watched:
            if one.tried >= self._count:
                one.close()
        if all(one.tried >= self._count for one in self._watched):
            self.end()


class _WatchedFeed:
    """One feed: how often it was tried, and whether it ever gave something."""

    def __init__(self, source: Source, feed: Feed[Any], every: int, tell: Any) -> None:
        self._source = source
        self._under_way = False
        self._told = ""
        self._tell = tell
        self.tried = 0
        self.succeeded = False
        self._leave = feed.watch(self._news, background=True, every=every)

    def close(self) -> None:
        """Watch it no more."""
        self._source.close()
        self._leave()

    def _news(self, state: FeedState[Any]) -> None:
        under_way, self._under_way = self._under_way, state.refreshing
        if state.refreshing or not under_way:
            return
        self.tried += 1
        fault = "" if state.error is None else state.error.message
        self.succeeded = self.succeeded or not fault
        if fault != self._told:
            narrate(f"{self._source.name}: {fault or 'it can be read again'}")
            self._told = fault
        self._tell()


def reading_lines(observation: Observation, nearest: int) -> Iterator[dict[str, Any]]:
    """One object for each subject; of keys and workspaces those nearest to their limits."""
    values: dict[Subject, dict[str, Decimal | None]] = {one: {} for one in observation.facts}
    for sample in observation.samples:
        resource, identity, figure = sample.series.key
        values[Subject(resource, identity)][figure] = sample.value
    for subject in _chosen(values, nearest):
        yield _line(observation, subject, observation.facts[subject].get(NAME), values[subject])


def _line(
    observation: Observation, subject: Subject, name: JsonValue, figures_seen: Values
) -> dict[str, Any]:
    return {
        "at": timestamp_text(observation.at),
        "resource": subject.resource,
        "identity": subject.identity,
        "name": name,
        "every": observation.every,
        "figures": figures_seen,
    }


def _chosen(values: Mapping[Subject, Values], nearest: int) -> Sequence[Subject]:
    limited = [one for one in values if one.resource in _SHARES]
    if not limited:
        return [*values]
    shares = {one: _SHARES[one.resource](values[one]) for one in limited}
    known = [(share, one) for one, share in shares.items() if share is not None]
    known.sort(key=lambda pair: (-pair[0], pair[1].identity))
    return [one for _, one in known[:nearest]]


def _share_of_key(found: Values) -> Decimal | None:
    return limit_used_share(found.get(figures.LIMIT), found.get(figures.LIMIT_REMAINING))


def _share_of_workspace(found: Values) -> Decimal | None:
    """Of the budget of which most is spent."""
    shares = [
        limit_used_share(
            found.get(figures.budget_figure(interval)),
            found.get(figures.remaining_figure(interval)),
        )
        for interval in BUDGET_INTERVALS
    ]
    return max((share for share in shares if share is not None), default=None)


_SHARES: Mapping[str, Callable[[Values], Decimal | None]] = {
    "key": _share_of_key,
    "workspace": _share_of_workspace,
}
