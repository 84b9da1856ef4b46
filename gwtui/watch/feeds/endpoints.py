"""Endpoints of one model: contract "Endpoint object"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.client.request_log import list_read
from gwtui.contract.models import Endpoint, ModelEndpoints
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.reads import endpoints_of
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader

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


async def read_endpoints(reader: PoolReader, model_id: str) -> Sequence[EndpointRow]:
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
