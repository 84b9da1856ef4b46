"""The recorded history as feeds: the last day of endpoints and credits. No request goes out.

``ask_history`` answers any question from the history that is open, else from its file.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed
from gwtui.watch.history.model import HistoryError
from gwtui.watch.hub import FeedHub, Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.history.model import Curve
    from gwtui.watch.history.queries import CreditsPast
    from gwtui.watch.history.reader import HistoryReader

T = TypeVar("T")

CADENCE = Cadence(60, stale_after=300, local=True)
SPAN = timedelta(hours=24)
_SLOT = 3600.0
_MARGIN = timedelta(hours=3)

EndpointCurves = Mapping[str, Mapping[str, "Curve | None"]]
"""Small curves by figure, by the identity of the endpoint within its model."""


def endpoints_past_feed(hub: FeedHub, scope: Scope) -> Feed[EndpointCurves]:
    """A slot an hour of each endpoint of the scope's parent; empty where nothing is recorded."""
    model = scope.parent or ""
    return _feed(hub, FeedKey("past", ("endpoints", model)), partial(_endpoints, model), {})


def credits_past_feed(hub: FeedHub, _scope: Scope) -> Feed[CreditsPast | None]:
    """The account's burn, outlook and balance; None where nothing is recorded."""
    return _feed(hub, FeedKey("past", ("credits",)), _credits, None)


def _feed(
    hub: FeedHub, key: FeedKey[T], ask: Callable[[datetime, HistoryReader], T], nothing: T
) -> Feed[T]:
    async def fetch(_client: GatewayClient) -> T:
        return await ask_history(hub, partial(ask, hub.clock.now()), nothing)

    return hub.feed(key, fetch, CADENCE, passing=True)


async def ask_history(hub: FeedHub, question: Callable[[HistoryReader], T], nothing: T) -> T:
    """What the history says that is open, else its file; ``nothing`` where nothing is recorded.

    Raises GatewayError where the open history cannot be read.
    """
    archive = hub.archive
    if archive is None:
        path = hub.history_file
        if path is None:
            return nothing
        await hub.fill_past()
        try:
            return await _from_file(hub.connection, path, question)
        except HistoryError as error:
            if hub.connection.history is not None:
                raise GatewayError(str(error)) from None
            return nothing
    try:
        return await archive.read(question)
    except HistoryError as error:
        raise GatewayError(str(error)) from None


async def _from_file(
    connection: Connection, path: Path, question: Callable[[HistoryReader], T]
) -> T:
    from gwtui.watch.history.archive import ask  # noqa: PLC0415 - loads SQLite

    if connection.history is None:
        return await to_thread(ask, path, question)
    from gwtui.watch.history.prometheus import open_prometheus  # noqa: PLC0415 - few profiles

    server = await open_prometheus(connection)
    try:
        return await to_thread(ask, path, question, server)
    finally:
        if server is not None:
            server.close()


def _credits(now: datetime, reader: HistoryReader) -> CreditsPast:
    from gwtui.watch.history.queries import QuerySpan, credits_past  # noqa: PLC0415 - loads SQLite

    return credits_past(reader, QuerySpan(now - SPAN - _MARGIN, now))


def _endpoints(model: str, now: datetime, reader: HistoryReader) -> EndpointCurves:
    from gwtui.watch.history.queries import SPARKS  # noqa: PLC0415 - loads SQLite

    found: dict[str, dict[str, Curve | None]] = {}
    prefix = f"{model} "
    for figure in SPARKS:
        for series in reader.series("endpoint", figure=figure):
            identity = series.key.identity
            if identity.startswith(prefix):
                curve = reader.points(series.key, now - SPAN, now, resolution=_SLOT)
                found.setdefault(identity.removeprefix(prefix), {})[figure] = curve
    return found
