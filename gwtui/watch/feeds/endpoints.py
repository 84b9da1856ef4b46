"""Endpoints of one model, and of every model: contract "Endpoint object".

Those of every model take one request per model: a few at a time, shown as they come.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.client.errors import (
    GatewayError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from gwtui.client.request_log import list_read
from gwtui.contract.models import Endpoint, Model, ModelEndpoints
from gwtui.domain.clock import Clock
from gwtui.watch import cadence
from gwtui.watch.base_reads import MODELS, FeedKey, endpoints_of
from gwtui.watch.feed import Feed, ReadAbandonedError
from gwtui.watch.feeds.concurrent_reads import CONCURRENCY, fetch_each
from gwtui.watch.hub import FeedHub, FeedReader, Scope

if TYPE_CHECKING:
    from gwtui.watch.history.model import Curve


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """One endpoint and the model it serves.

    ``keyless`` says that it was read without an API key: the gateway then hides throughput and
    workload figures (contract "Authentication", 4).
    """

    endpoint: Endpoint
    identity: str
    model_id: str | None = None
    model_name: str | None = None
    keyless: bool = False
    past: Mapping[str, Curve | None] = field(default_factory=dict)
    """Small curves of the last day, by figure; none until they were read."""
    read_at: datetime | None = None
    """When it was read, where rows of one list were read at different moments."""

    @property
    def title(self) -> str | None:
        """The provider, with the variant its tag names: one provider may serve a model twice."""
        endpoint = self.endpoint
        name = endpoint.provider_name or endpoint.name
        _, slash, variant = (endpoint.tag or "").partition("/")
        return f"{name} /{variant}" if name and slash else name or endpoint.tag

    def why_no(self, field: str) -> str:
        """Why a figure of the last 30 minutes is not there, for the person who misses it."""
        gap = self.endpoint.gaps.get(field)
        if gap is not None:
            return gap
        needs_key = field in {"throughput_last_30m", "perf_last_30m_by_workload"}
        if self.keyless and needs_key:
            return "hidden without an API key"
        if field == "throughput_last_30m" and self.endpoint.latency_last_30m is not None:
            return "no token throughput"
        return "no traffic"


def rows_of(model: ModelEndpoints, *, keyless: bool = False) -> tuple[EndpointRow, ...]:
    """The endpoints of a model with an identity each, in the gateway's order.

    The contract gives endpoints no identifier: tag, tier and quantization tell them apart, and
    twins are numbered.
    """
    seen: Counter[str] = Counter()
    rows = []
    for endpoint in model.endpoints or ():
        identity = "|".join(
            part or ""
            for part in (
                endpoint.tag or endpoint.provider_name or endpoint.name,
                endpoint.service_tier,
                endpoint.quantization,
            )
        )
        seen[identity] += 1
        if seen[identity] > 1:
            identity = f"{identity}#{seen[identity]}"
        rows.append(EndpointRow(endpoint, identity, model.id, model.name, keyless))
    return tuple(rows)


async def read_endpoints(reader: FeedReader, model_id: str) -> Sequence[EndpointRow]:
    """Every endpoint of a model ("author/slug"), read now. Raises GatewayError."""
    model = await reader.fresh(endpoints_of(model_id))
    unreadable = sum(field.startswith("endpoints[") for field in model.gaps)
    list_read(unreadable, complete=model.endpoints is not None)
    return rows_of(model, keyless=reader.client.connection.token is None)


def endpoints_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[EndpointRow]]:
    """The endpoints of the model that the scope names as parent. Raises ValueError without one."""
    model_id = scope.parent
    if model_id is None:
        raise ValueError("endpoints are listed for one model: open it from the models list")
    return hub.derive(
        FeedKey("endpoints", (model_id,)),
        lambda reader: read_endpoints(reader, model_id),
        cadence.ENDPOINTS,
        passing=True,
    )


_SHOW_EVERY = 0.5
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

    async def rows(self, reader: FeedReader, feed: Feed[Rows]) -> Rows:
        """Every endpoint, in the order of the catalog. Raises GatewayError and NotWantedError.

        A model that is gone by now has none. One whose endpoints are refused counts as unreadable,
        and so does one whose identifier names no path.
        What has come so far is shown on the way, while there is no whole value. A reading that
        nobody waits for any more ends early, and is taken up when somebody looks again.
        """
        models = {model.id: model for model in await reader.get(MODELS) if model.id}
        self._read = {name: rows for name, rows in self._read.items() if name in models}
        if not self._left:
            self._left = dict.fromkeys(models)
        self._left = {name: None for name in models if name in self._left or name not in self._read}
        refused: list[GatewayError] = []
        faults: list[GatewayError] = []

        async def one(name: str) -> None:
            if faults or not feed.awaited:
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
            raise ReadAbandonedError
        if refused:
            list_read(len(refused), complete=True)
        return self._in_order(models)

    async def _ask(self, reader: FeedReader, model: Model, refused: list[GatewayError]) -> None:
        """Read the endpoints of one model. Raises GatewayError for what a later try may mend."""
        name = model.id or ""
        try:
            found = await reader.get(endpoints_of(name))
        except NotFoundError:
            self._read.pop(name, None)
        except InvalidRequestError as error:
            refused.append(error)
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
        if feed.state.value is None and self._left and now - self._told >= _SHOW_EVERY:
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
