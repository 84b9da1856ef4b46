"""The endpoints of every model: one request per model, a few at a time, shown as they come.

Contract "Endpoint object".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gwtui.client.errors import (
    GatewayError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from gwtui.client.request_log import list_read
from gwtui.contract.models import Model
from gwtui.domain.clock import Clock
from gwtui.watch import cadence
from gwtui.watch.feed import Feed, NotWantedError
from gwtui.watch.feeds.endpoints import EndpointRow, rows_of
from gwtui.watch.feeds.fetching import CONCURRENCY, fetch_each
from gwtui.watch.feeds.reads import MODELS, endpoints_of
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader

_EVERY = 0.5
"""Seconds between two looks at what has come so far."""

Rows = Sequence[EndpointRow]


@dataclass(slots=True)
class Sweep:
    """One reading after the other of all models.

    A reading that a failure or a person who left broke off is taken up where it ended: what was
    read stays and is not asked for again.
    """

    clock: Clock
    _read: dict[str, tuple[EndpointRow, ...]] = field(default_factory=dict)
    _left: dict[str, None] = field(default_factory=dict)
    """The models that the present reading has still to ask, in the order of the catalog."""
    _told: float = -math.inf

    async def rows(self, reader: PoolReader, feed: Feed[Rows]) -> Rows:
        """Every endpoint, in the order of the catalog. Raises GatewayError and NotWantedError.

        A model that is gone by now has none; one whose endpoints are refused counts as unreadable.
        What has come so far is shown on the way, while there is no whole value. A reading that
        nobody waits for any more ends early, and is taken up when somebody looks again.
        """
        models = {model.id: model for model in await reader.get(MODELS) if model.id}
        self._read = {name: rows for name, rows in self._read.items() if name in models}
        if not self._left:
            self._left = dict.fromkeys(models)
        self._left = {name: None for name in models if name in self._left or name not in self._read}
        refused: list[StatusError] = []
        faults: list[GatewayError] = []

        async def one(name: str) -> None:
            if faults or not feed.wanted:
                return
            try:
                await self._ask(reader, models[name], refused)
            except GatewayError as error:
                faults.append(error)  # what is under way beside it is still waited for
            else:
                self._tell(feed, models)

        await fetch_each(tuple(self._left), one)
        if faults:
            raise faults[0]
        if self._left:
            raise NotWantedError
        if refused:
            list_read(len(refused), complete=True)
        return self._in_order(models)

    async def _ask(self, reader: PoolReader, model: Model, refused: list[StatusError]) -> None:
        """Read the endpoints of one model. Raises GatewayError for what a later try may mend."""
        name = model.id or ""
        try:
            found = await reader.get(endpoints_of(name))
        except NotFoundError:
            self._read.pop(name, None)
        except (RateLimitedError, ServerError):
            raise
        except StatusError as error:
            refused.append(error)
            if len(refused) >= CONCURRENCY and not self._read:
                raise  # nothing is allowed to this key: there is no use in asking for the rest
        else:
            keyless = reader.client.connection.token is None
            now = self.clock.now()
            rows = rows_of(found, keyless=keyless)
            self._read[name] = tuple(
                replace(row, model_id=name, model_name=found.name or model.name, read_at=now)
                for row in rows
            )
        self._left.pop(name, None)

    def _tell(self, feed: Feed[Rows], models: dict[str, Model]) -> None:
        now = self.clock.monotonic()
        if feed.state.value is None and self._left and now - self._told >= _EVERY:
            self._told = now
            done = len(models) - len(self._left)
            feed.show_part(self._in_order(models), f"{done} of {len(models)} models read")

    def _in_order(self, models: dict[str, Model]) -> Rows:
        return tuple(row for name in models for row in self._read.get(name, ()))


def every_endpoint_feed(hub: FeedHub, _scope: Scope) -> Feed[Rows]:
    """The endpoints of every model; the same for every workspace.

    It is read only while somebody looks, and as seldom as the whole catalog.
    """
    sweep = Sweep(hub.clock)
    key: FeedKey[Rows] = FeedKey("every-endpoint")
    feed: Feed[Rows] = hub.derive(key, lambda reader: sweep.rows(reader, feed), cadence.CATALOG)
    return feed
