"""``gwtui watch``: open the board, or with --ndjson print each reading as a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from math import ceil
from typing import Any, NamedTuple

from gwtui.cli import exits
from gwtui.cli.command import ALLOW_TRIES, DAY, DEMO, Argument, Command, whole_number
from gwtui.cli.commands import DISPLAY
from gwtui.cli.output import narrate, print_ndjson
from gwtui.cli.target import on_signals, open_hub, resolve_connection, run_async
from gwtui.contract.keys import limit_used_share
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.local.paths import Paths
from gwtui.local.targets import Connect
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.models import endpoints_feed
from gwtui.watch.feeds.recorded import ask_history
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import NAME, Observation, Subject
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import (
    Convert,
    ObservedReading,
    most_used_feed,
    observe_credits,
    observe_endpoints,
    observe_keys,
    observe_workspaces,
)
from gwtui.watch.hub import FeedHub, Scope

_NEAREST = 5
_INTERVAL = 60
_NDJSON_DEFAULTS = (
    ("model", None),
    ("nearest", _NEAREST),
    ("interval", _INTERVAL),
    ("count", 0),
)
"""Options that only apply to --ndjson, with their defaults."""
_SLOWER = 5
Values = Mapping[str, Decimal | None]


def run(arguments: argparse.Namespace) -> int:
    """Open the board or print readings; returns an exit code."""
    if not arguments.ndjson:
        return _board(arguments)
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())
    return run_async(lambda: _print_readings(connect, arguments))


def _board(arguments: argparse.Namespace) -> int:
    given = [name for name, default in _NDJSON_DEFAULTS if getattr(arguments, name) != default]
    if given:
        raise exits.CommandError(f"--{given[0]} requires --ndjson", exits.USAGE)
    from gwtui.cli.dashboard import run_board  # noqa: PLC0415 - not for lines

    return run_board(arguments)


# Lines -------------------------------------------------------------------------------------------


async def _print_readings(connect: Connect, arguments: argparse.Namespace) -> int:
    async with connect() as connection, open_hub(connection) as hub:
        await hub.fill_past()
        models = arguments.model or await ask_history(hub, HistoryReader.watched_models, None)
        models = models or (await most_used_feed(hub).refresh()).value or ()
        tasks = [
            asyncio.ensure_future(_print_each(watched, hub, arguments))
            for watched in _watched(hub, models, nearest=arguments.nearest > 0)
        ]

        def end(_code: int) -> None:
            for task in tasks:
                task.cancel()

        with on_signals(end) as codes:
            try:
                read = await asyncio.gather(*tasks)
            except asyncio.CancelledError:
                if not codes:
                    raise
                return codes[0]
            finally:
                end(exits.OK)
    if all(read):
        return exits.OK
    return exits.INCOMPLETE if any(read) else exits.FAILED


class _WatchedFeed(NamedTuple):
    """A watched feed; ``see`` converts its value to figures, ``slower`` multiplies the interval."""

    name: str
    feed: Feed[Any]
    see: Convert
    slower: int = 1


def _watched(hub: FeedHub, models: Iterable[str], *, nearest: bool) -> Iterator[_WatchedFeed]:
    scope = Scope()
    yield _WatchedFeed("credits", credits_feed(hub, scope), observe_credits)
    for model in models:
        feed = endpoints_feed(hub, Scope(parent=model))
        yield _WatchedFeed(f"endpoints of {model}", feed, partial(observe_endpoints, model))
    if nearest:
        yield _WatchedFeed("keys", keys_feed(hub, scope), observe_keys)
        slower = figures_feed(hub, scope)  # several requests for each workspace
        yield _WatchedFeed("workspaces", slower, observe_workspaces, _SLOWER)


async def _print_each(watched: _WatchedFeed, hub: FeedHub, arguments: argparse.Namespace) -> bool:
    name, feed, see, slower = watched
    clock, least = hub.clock, arguments.interval * slower
    succeeded, reported, tried = False, "", 0
    while True:
        state = await feed.refresh()
        pace = max(least, ceil(feed.min_interval))
        fault = "" if state.error is None else state.error.message
        if fault != reported:
            narrate(f"{name}: {fault or 'readable again'}")
        reported = fault
        if not fault and state.fetched_at is not None:
            succeeded = True
            reading = ObservedReading(state.fetched_at, pace, not state.list_gaps)
            print_ndjson(reading_lines(see(state.value, reading), arguments.nearest))
        tried += 1
        if tried == arguments.count:
            return succeeded
        held = 0.0 if state.retry_at is None else (state.retry_at - clock.now()).total_seconds()
        await clock.sleep(max(pace, held))


def reading_lines(observation: Observation, nearest: int) -> Iterator[dict[str, Any]]:
    """Yield a JSON object for each subject of an observation.

    Of keys and workspaces, only the ``nearest`` ones are included: those with the largest used
    share of their limit.
    """
    for subject in _chosen(observation.values, nearest):
        yield {
            "at": timestamp_text(observation.at),
            "resource": subject.resource,
            "identity": subject.identity,
            "name": observation.facts[subject].get(NAME),
            "every": observation.every,
            "figures": observation.values[subject],
        }


def _chosen(values: Mapping[Subject, Values], nearest: int) -> Sequence[Subject]:
    limited = [subject for subject in values if subject.resource in _SHARES]
    if not limited:
        return [*values]
    shares = {subject: _SHARES[subject.resource](values[subject]) for subject in limited}
    known = [(share, subject) for subject, share in shares.items() if share is not None]
    known.sort(key=lambda pair: (-pair[0], pair[1].identity))
    return [subject for _, subject in known[:nearest]]


def _share_of_key(values: Values) -> Decimal | None:
    return limit_used_share(values.get(figures.LIMIT), values.get(figures.LIMIT_REMAINING))


def _share_of_workspace(values: Values) -> Decimal | None:
    shares = [
        limit_used_share(
            values.get(figures.budget_figure(interval)),
            values.get(figures.remaining_figure(interval)),
        )
        for interval in BUDGET_INTERVALS
    ]
    return max((share for share in shares if share is not None), default=None)


_SHARES: Mapping[str, Callable[[Values], Decimal | None]] = {
    "key": _share_of_key,
    "workspace": _share_of_workspace,
}


_COUNT = whole_number(0, 1_000_000)
COMMAND = Command(
    run=run,
    arguments=(
        Argument("--ndjson", action="store_true", help="print each reading as a line of JSON"),
        Argument(
            "--model",
            action="append",
            metavar="AUTHOR/SLUG",
            kind="models",
            help="watch the endpoints of this model; may be repeated (default: the models that the "
            "dashboard watches, else the most used ones)",
        ),
        Argument(
            "--nearest",
            type=_COUNT,
            default=_NEAREST,
            metavar="N",
            help=f"print the N keys and workspaces nearest to their limits (default: {_NEAREST})",
        ),
        Argument(
            "--interval",
            type=whole_number(1, DAY),
            default=_INTERVAL,
            metavar="SECONDS",
            help="seconds between readings; five times that for workspaces (default: 60)",
        ),
        Argument(
            "--count",
            type=_COUNT,
            default=0,
            metavar="N",
            help="exit after N readings",
        ),
        ALLOW_TRIES,
        DEMO,
        *DISPLAY,
    ),
)
