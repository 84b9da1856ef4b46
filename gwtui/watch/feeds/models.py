"""The catalog: models, endpoints, providers, and the effects of ZDR and guardrails on them.

See "Model with endpoints" and "Endpoint object" in the contract and section 7 of the extended
contract. The endpoints of all models take one request per model; they are read a few at a time and
shown as they arrive.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.client.errors import (
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from gwtui.client.request_log import record_list_gaps
from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Percentiles, Provider
from gwtui.domain.catalog import (
    CatalogView,
    EndpointKey,
    ModelWithEndpoints,
    endpoint_key,
    is_healthy,
)
from gwtui.domain.guardrail_effect import ModelEffect, effect_on_model, restrictions_of
from gwtui.watch import cadence
from gwtui.watch.feed import ReadAbandonedError
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, read_guardrails
from gwtui.watch.hub import FeedReader, FeedSpec, Scope
from gwtui.watch.reads import (
    CONCURRENCY,
    MODELS,
    PROVIDERS,
    USER_MODELS,
    ZDR_ENDPOINTS,
    BaseRead,
    GrowingList,
    endpoints_of,
    fetch_each,
)

if TYPE_CHECKING:
    from gwtui.watch.history.model import Curve


models_feed = FeedSpec("models", lambda reader, _scope: _models(MODELS, reader), cadence.MODELS)
"""All models of the catalog, of every output modality."""


async def _models(what: BaseRead[tuple[Model, ...]], reader: FeedReader) -> Sequence[Model]:
    def rows_of(listed: Mapping[str, Sequence[Model]]) -> Sequence[Model]:
        return tuple(model for models in listed.values() for model in models)

    return await GrowingList(reader, "models", rows_of).read("", reader.fresh, what)


user_models_feed = FeedSpec(
    "models:user", lambda reader, _scope: _models(USER_MODELS, reader), cadence.MODELS
)
"""The models that the key in use may call."""


providers_feed: FeedSpec[Sequence[Provider]] = FeedSpec(
    "providers", lambda reader, _scope: reader.fresh(PROVIDERS), cadence.PROVIDERS
)
"""Every provider."""


# Endpoints ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint and the model that it serves.

    ``keyless``: it was read without an API key, so the gateway hides throughput and workload
    figures (see rule 4 of "Authentication" in the contract).
    """

    endpoint: Endpoint
    identity: str
    model_id: str | None = None
    model_name: str | None = None
    keyless: bool = False
    past: Mapping[str, Curve | None] = field(default_factory=dict)
    """The curves of the last day by figure, for sparklines; empty until they are read."""
    read_at: datetime | None = None
    """When it was read, for lists whose rows are read at different times."""

    @property
    def title(self) -> str | None:
        """The name of the provider, with the variant in the endpoint's tag.

        The variant distinguishes two endpoints of one provider.
        """
        endpoint = self.endpoint
        name = endpoint.provider_name or endpoint.name
        _, slash, variant = (endpoint.tag or "").partition("/")
        return f"{name} /{variant}" if name and slash else name or endpoint.tag

    def why_missing(self, field: str) -> str:
        """Why a figure of the last 30 minutes is missing; ``field`` is its name in the response."""
        gap = self.endpoint.gaps.get(field)
        if gap is not None:
            return gap
        needs_key = field in {"throughput_last_30m", "perf_last_30m_by_workload"}
        if self.keyless and needs_key:
            return "hidden without an API key"
        if field == "throughput_last_30m" and self.endpoint.latency_last_30m is not None:
            return "no token throughput"
        return "no traffic"


def percentile(figures: Percentiles | None, name: str) -> Decimal | None:
    """A percentile by name ("p50"); None if unknown."""
    value = None if figures is None else getattr(figures, name)
    return value if isinstance(value, Decimal) else None


def rows_of(model: ModelEndpoints, *, keyless: bool = False) -> tuple[EndpointRow, ...]:
    """The endpoints of a model in the gateway's order, each with an identity.

    The gateway gives endpoints no id, so the identity consists of tag, tier and quantization;
    duplicates are numbered.
    """
    count: Counter[str] = Counter()
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
        count[identity] += 1
        if count[identity] > 1:
            identity = f"{identity}#{count[identity]}"
        rows.append(EndpointRow(endpoint, identity, model.id, model.name, keyless))
    return tuple(rows)


async def read_endpoints(reader: FeedReader, scope: Scope) -> Sequence[EndpointRow]:
    """The endpoints of a model, the scope's parent ("author/slug"). Raises GatewayError."""
    model = await reader.fresh(endpoints_of(scope.parent or ""))
    unreadable = sum(field.startswith("endpoints[") for field in model.gaps)
    record_list_gaps(unreadable, complete=model.endpoints is not None)
    return rows_of(model, keyless=reader.client.connection.token is None)


endpoints_feed = FeedSpec(
    "endpoints",
    read_endpoints,
    cadence.ENDPOINTS,
    needs="endpoints are listed for one model: open it from the models list",
)
"""The endpoints of the model that the scope names as parent."""


_SHOW_EVERY = 0.5
"""Seconds between two updates of the rows shown."""
_ENDPOINTS_LAST = 300.0
"""Seconds for which a read of all models reuses the endpoints of a model."""

Rows = Sequence[EndpointRow]
Offers = Mapping[str, "ModelEndpoints | None"]
"""The endpoints of models by model id; None if they could not be read."""


async def _read_offers(
    reader: FeedReader, show: Callable[[Offers], Rows | None]
) -> dict[str, ModelEndpoints | None]:
    # A refused model counts as unreadable. If nobody waits, the read ends early; the next one
    # continues with the models that were not read recently.
    feed = reader.feed
    names = [model.id for model in await reader.get(MODELS) if model.id]
    lately = reader.reusing(_ENDPOINTS_LAST)
    offers: dict[str, ModelEndpoints | None] = {}
    done = refused = 0
    shown_at = reader.clock.monotonic()

    def in_order() -> dict[str, ModelEndpoints | None]:
        return {name: offers[name] for name in names if name in offers}

    async def one(name: str) -> None:
        nonlocal done, refused, shown_at
        if feed is not None and not feed.awaited:
            raise ReadAbandonedError("nobody waits for it")
        try:
            offer = await lately.get(endpoints_of(name))
            offers[name] = offer
        except NotFoundError:
            pass
        except (RateLimitedError, ServerError):
            raise
        except (InvalidRequestError, StatusError):
            offers[name], refused = None, refused + 1
            if refused >= CONCURRENCY and not any(offers.values()):
                raise  # this key may read none
        done += 1
        if feed is not None and reader.clock.monotonic() - shown_at >= _SHOW_EVERY:
            shown_at = reader.clock.monotonic()
            feed.show_part(show(in_order()), f"{done} of {len(names)} models read")

    await fetch_each(names, one)
    if refused:
        record_list_gaps(refused, complete=True)
    return in_order()


async def _every_endpoint(reader: FeedReader, _scope: Scope) -> Rows:
    models = {model.id: model.name for model in await reader.get(MODELS)}
    keyless = reader.client.connection.token is None

    def rows(offers: Offers) -> Rows:
        return tuple(
            replace(
                row,
                model_id=name,
                model_name=row.model_name or models.get(name),
                read_at=reader.hub.read_at(endpoints_of(name)),
            )
            for name, model in offers.items()
            if model is not None
            for row in rows_of(model, keyless=keyless)
        )

    return rows(await _read_offers(reader, rows))


every_endpoint_feed = FeedSpec("every-endpoint", _every_endpoint, cadence.CATALOG)
"""The endpoints of every model."""


# Zero data retention -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ZdrRow:
    """A model and its ZDR endpoints; ``every`` are all its endpoints, None until they are read."""

    model: Model
    remaining: tuple[Endpoint, ...]
    every: tuple[Endpoint, ...] | None = None

    @property
    def identity(self) -> str:
        """The model id, or other fields if there is none."""
        return self.model.id or f"?{self.model.canonical_slug}|{self.model.name}"

    @property
    def lost(self) -> tuple[Endpoint, ...]:
        """The endpoints that requiring zero data retention would exclude; empty if not read yet."""
        kept = {endpoint_key(endpoint) for endpoint in self.remaining}
        return tuple(
            endpoint for endpoint in self.every or () if endpoint_key(endpoint) not in kept
        )

    @property
    def healthy(self) -> int:
        """The number of ZDR endpoints that work now."""
        return sum(is_healthy(endpoint) for endpoint in self.remaining)


async def _zdr_rows(reader: FeedReader, _scope: Scope) -> Sequence[ZdrRow]:
    remaining: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in await reader.fresh(ZDR_ENDPOINTS):
        remaining[endpoint.model_id or ""].append(endpoint)

    def of(model: Model) -> tuple[Endpoint, ...]:
        endpoints = remaining.get(model.canonical_slug or "") or remaining.get(model.id or "")
        return tuple(endpoints or ())

    return tuple(ZdrRow(model, of(model)) for model in await reader.get(MODELS))


zdr_feed = FeedSpec("zdr", _zdr_rows, cadence.MODELS)
"""The ZDR endpoints of each model."""


async def read_zdr(reader: FeedReader) -> frozenset[EndpointKey] | None:
    """The ZDR endpoints; None if the gateway does not list them. Raises GatewayError."""
    try:
        endpoints = await reader.get(ZDR_ENDPOINTS)
    except StatusError as error:
        if error.status in {403, 404}:
            return None
        raise
    return frozenset(endpoint_key(endpoint) for endpoint in endpoints)


# Data for the effect of guardrails ---------------------------------------------------------------


async def read_slugs(reader: FeedReader) -> Mapping[str, str]:
    """Provider slugs by name. Raises GatewayError."""
    providers = await reader.get(PROVIDERS)
    return {
        provider.name: provider.slug for provider in providers if provider.name and provider.slug
    }


@dataclass(frozen=True, slots=True)
class Routing:
    """The data that decides where requests are routed.

    ``provider_slugs`` are by provider name. ``zdr`` are the ZDR endpoints, None if unknown.
    """

    models: tuple[Model, ...]
    provider_slugs: Mapping[str, str]
    zdr: frozenset[EndpointKey] | None

    def view(self, known: Mapping[str, tuple[Endpoint, ...]]) -> CatalogView:
        """The catalog with ``known``, the endpoints by model id; other models count as unread."""
        offers = tuple(
            ModelWithEndpoints(model, known.get(model.id or "")) for model in self.models
        )
        return CatalogView(offers, self.provider_slugs, self.zdr)


async def _routing(reader: FeedReader, _scope: Scope) -> Routing:
    models = await reader.get(MODELS)
    return Routing(models, await read_slugs(reader), await read_zdr(reader))


async def _catalog(reader: FeedReader, scope: Scope) -> CatalogView:
    routing = await _routing(reader, scope)
    offers = await _read_offers(reader, lambda _offers: None)
    return routing.view(
        {
            name: tuple(model.endpoints)
            for name, model in offers.items()
            if model is not None and model.endpoints is not None
        }
    )


catalog_feed = FeedSpec("catalog", _catalog, cadence.CATALOG)
"""The catalog with the endpoints of all models."""


@dataclass(frozen=True, slots=True)
class GuardrailOnModel:
    """A guardrail and its effect on the model."""

    row: GuardrailRow
    effect: ModelEffect


async def _guardrails_on_model(reader: FeedReader, scope: Scope) -> Sequence[GuardrailOnModel]:
    view = await _view_of_model(reader, scope)
    rows = [row for row in await read_guardrails(reader, scope.workspace) if row.exists]
    return tuple(
        GuardrailOnModel(
            row, effect_on_model(offers, [restrictions_of(row.guardrail)], view, row.dialect)
        )
        for row in rows
        for offers in view.offers
        if offers.model.id == scope.parent
    )


async def _view_of_model(reader: FeedReader, scope: Scope) -> CatalogView:
    model_id = scope.parent or ""
    known: dict[str, tuple[Endpoint, ...]] = {}
    with suppress(NotFoundError):
        endpoints = (await reader.get(endpoints_of(model_id))).endpoints
        known = {} if endpoints is None else {model_id: tuple(endpoints)}
    return (await _routing(reader, scope)).view(known)


guardrails_on_model_feed = FeedSpec(
    f"{FEEDS}:on-model",
    _guardrails_on_model,
    cadence.WORKSPACES,
    workspace=True,
    needs="guardrails are shown for one model: open it from the models list",
)
"""The effect of each guardrail on the scope's parent, a model."""
