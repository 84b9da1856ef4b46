"""Feeds of the recorded history: the last day of endpoints and credits, and changes.

They need no request to the gateway.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.watch.cadence import Cadence, NothingRecordedError
from gwtui.watch.history.model import SPARKS, HistoryError, RecordedChange
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.watch.history.model import Curve
    from gwtui.watch.history.reader import CreditsState, HistoryReader

T = TypeVar("T")

CADENCE = Cadence(60, stale_after=300, local=True)
CHANGES = Cadence(30, stale_after=120, local=True)
SPAN = timedelta(hours=24)
_SLOT = 3600.0
_MARGIN = timedelta(hours=3)

EndpointCurves = Mapping[str, Mapping[str, "Curve | None"]]
"""The curves of sparklines by figure, by the identity of the endpoint within its model."""


endpoints_past_feed: FeedSpec[EndpointCurves] = FeedSpec(
    "past:endpoints",
    lambda reader, scope: ask_history(
        reader.hub, partial(_endpoints, scope.parent or "", reader.clock.now()), {}
    ),
    CADENCE,
    needs="curves are those of one model",
)
"""Hourly curves of the endpoints of the scope's parent, a model; empty without a recording."""


credits_past_feed: FeedSpec[CreditsPast | None] = FeedSpec(
    "past:credits",
    lambda reader, _scope: ask_history(reader.hub, partial(_credits, reader.clock.now()), None),
    CADENCE,
)
"""The recorded credits and their curve; None without a recording."""


async def ask_history(hub: FeedHub, question: Callable[[HistoryReader], T], nothing: T) -> T:
    """Return the result of a query, run on the open history or, if none is open, on its file.

    Returns ``nothing`` if there is no history file that can be read. Raises GatewayError if the
    open history or the Prometheus server of the profile cannot be read.
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


@dataclass(frozen=True, slots=True)
class CreditsPast:
    """The recorded credits at a moment, and the curve of the balance."""

    state: CreditsState
    curve: Curve | None


def credits_past(reader: HistoryReader, since: datetime, until: datetime) -> CreditsPast:
    """The recorded credits at ``until``, and the curve since ``since``. Raises sqlite3.Error."""
    from gwtui.watch.history.reader import BALANCE, credits_state  # noqa: PLC0415 - loads SQLite

    curve = reader.points(BALANCE, since, until)
    return CreditsPast(credits_state(reader, until), curve)


def _credits(now: datetime, reader: HistoryReader) -> CreditsPast:
    return credits_past(reader, now - SPAN - _MARGIN, now)


def _endpoints(model: str, now: datetime, reader: HistoryReader) -> EndpointCurves:
    curves: dict[str, dict[str, Curve | None]] = {}
    prefix = f"{model} "
    for figure in SPARKS:
        for key in reader.series("endpoint", figure=figure):
            if key.identity.startswith(prefix):
                curve = reader.points(key, now - SPAN, now, resolution=_SLOT)
                curves.setdefault(key.identity.removeprefix(prefix), {})[figure] = curve
    return curves


# Changes ------------------------------------------------------------------------------------------

MOST = 5000
"""The maximum number of changes in the list, the newest."""
_KEPT = timedelta(days=366)


async def _changes(reader: FeedReader, _scope: Scope) -> Sequence[RecordedChange]:
    now = reader.clock.now()
    changes = await ask_history(
        reader.hub, lambda history: history.changes(now - _KEPT, now, limit=MOST), None
    )
    if changes is None:
        raise NothingRecordedError("No history is recorded on this machine")
    return changes


changes_feed: FeedSpec[Sequence[RecordedChange]] = FeedSpec("changes", _changes, CHANGES)
"""The recorded changes, newest first."""
