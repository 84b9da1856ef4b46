"""The catalog: models, endpoints, providers, what zero data retention and guardrails leave of them.

Contract "Model with endpoints", "Endpoint object", extended contract section 7. The endpoints of
every model take one request per model: a few at a time, shown as they come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import (
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from gwtui.client.request_log import list_read
from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
from gwtui.domain.catalog import (
    CatalogView,
    EndpointKey,
    ModelWithEndpoints,
    endpoint_key,
    is_healthy,
)
from gwtui.domain.guardrail_effect import ModelEffect, effect_on_model, restrictions_of
from gwtui.watch import cadence
from gwtui.watch.base_reads import (
    MODELS,
    PROVIDERS,
    USER_MODELS,
    ZDR_ENDPOINTS,
    BaseRead,
    FeedKey,
    endpoints_of,
)
from gwtui.watch.feed import Feed, ReadAbandonedError
from gwtui.watch.feeds.concurrent_reads import CONCURRENCY, GrowingList, fetch_each
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, read_guardrails
from gwtui.watch.hub import FeedHub, FeedReader, Scope

if TYPE_CHECKING:
    from gwtui.watch.history.model import Curve

T = TypeVar("T")


def models_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[Model]]:
    """The whole catalog, every output modality; the same for every workspace."""
    key: FeedKey[Sequence[Model]] = FeedKey("models")
    return hub.derive(key, partial(_models, MODELS), cadence.MODELS)


async def _models(what: BaseRead[tuple[Model, ...]], reader: FeedReader) -> Sequence[Model]:
    def rows_of(listed: Mapping[str, Sequence[Model]]) -> Sequence[Model]:
        return tuple(model for models in listed.values() for model in models)

    return await GrowingList(reader, "models", rows_of).read("", reader.fresh, what)


def user_models_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[Model]]:
    """The models that the policies of the key in use leave; the same for every workspace."""
    key: FeedKey[Sequence[Model]] = FeedKey("models", ("user",))
    return hub.derive(key, partial(_models, USER_MODELS), cadence.MODELS)


def providers_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[Provider]]:
    """Every provider; the same for every workspace."""
    key: FeedKey[Sequence[Provider]] = FeedKey("providers")
    return hub.derive(key, lambda reader: reader.fresh(PROVIDERS), cadence.PROVIDERS)


# Endpoints ----------------------------------------------------------------------------------------


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
_ENDPOINTS_LAST = 300.0
"""Seconds for which the endpoints of a model are not read again by a reading of all models."""

Rows = Sequence[EndpointRow]
Offers = Mapping[str, "ModelEndpoints | None"]
"""The endpoints of models by id; None for what could not be read."""


async def _read_offers(
    reader: FeedReader, feed: Feed[T], show: Callable[[Offers], T | None]
) -> dict[str, ModelEndpoints | None]:
    """Every model with its endpoints, in the order of the catalog. Raises GatewayError.

    A model that is gone by now is left out. One whose endpoints are refused counts as unreadable,
    and so does one whose identifier names no path. What has come so far is shown on the way, while
    there is no whole value. A reading that nobody waits for any more ends early; a later one asks
    only for what was not read lately.
    """
    names = [model.id for model in await reader.get(MODELS) if model.id]
    lately = reader.relaxed(_ENDPOINTS_LAST)
    found: dict[str, ModelEndpoints | None] = {}
    done = refused = 0
    told = reader.clock.monotonic()

    def in_order() -> dict[str, ModelEndpoints | None]:
        return {name: found[name] for name in names if name in found}

    async def one(name: str) -> None:
        nonlocal done, refused, told
        if not feed.awaited:
            raise ReadAbandonedError("nobody waits for it")
        try:
            offer = await lately.get(endpoints_of(name))
            found[name] = offer
        except NotFoundError:
            pass
        except (RateLimitedError, ServerError):
            raise
        except (InvalidRequestError, StatusError):
            found[name], refused = None, refused + 1
            if refused >= CONCURRENCY and not any(found.values()):
                raise  # nothing is allowed to this key: there is no use in asking for the rest
        done += 1
        if reader.clock.monotonic() - told >= _SHOW_EVERY:
            told = reader.clock.monotonic()
            feed.show_part(show(in_order()), f"{done} of {len(names)} models read")

    await fetch_each(names, one)
    if refused:
        list_read(refused, complete=True)
    return in_order()


def every_endpoint_feed(hub: FeedHub, _scope: Scope) -> Feed[Rows]:
    """The endpoints of every model; the same for every workspace.

    It is read only while somebody looks, and as seldom as the whole catalog.
    """

    async def read(reader: FeedReader) -> Rows:
        models = {model.id: model.name for model in await reader.get(MODELS)}
        keyless = reader.client.connection.token is None

        def rows(offers: Offers) -> Rows:
            return tuple(
                replace(
                    row,
                    model_id=name,
                    model_name=row.model_name or models.get(name),
                    read_at=reader.read_at(endpoints_of(name)),
                )
                for name, model in offers.items()
                if model is not None
                for row in rows_of(model, keyless=keyless)
            )

        return rows(await _read_offers(reader, feed, rows))

    key: FeedKey[Rows] = FeedKey("every-endpoint")
    feed: Feed[Rows] = hub.derive(key, read, cadence.CATALOG)
    return feed


# Zero data retention -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ZdrRow:
    """A model and what of it remains; ``every`` is None until all its endpoints were read."""

    model: Model
    remaining: tuple[Endpoint, ...]
    every: tuple[Endpoint, ...] | None = None

    @property
    def identity(self) -> str:
        """The model's id; for one that came without, what else tells it from others."""
        return self.model.id or f"?{self.model.canonical_slug}|{self.model.name}"

    @property
    def lost(self) -> tuple[Endpoint, ...]:
        """The endpoints that do not remain, as far as they are known."""
        kept = {endpoint_key(endpoint) for endpoint in self.remaining}
        return tuple(one for one in self.every or () if endpoint_key(one) not in kept)

    @property
    def healthy(self) -> int:
        """How many of the remaining endpoints work now."""
        return sum(is_healthy(endpoint) for endpoint in self.remaining)


async def _zdr_rows(reader: FeedReader) -> Sequence[ZdrRow]:
    """Every model of the catalog with the endpoints that remain. Raises GatewayError."""
    remaining: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in await reader.fresh(ZDR_ENDPOINTS):
        remaining[endpoint.model_id or ""].append(endpoint)

    def of(model: Model) -> tuple[Endpoint, ...]:
        found = remaining.get(model.canonical_slug or "") or remaining.get(model.id or "")
        return tuple(found or ())

    return tuple(ZdrRow(model, of(model)) for model in await reader.get(MODELS))


def zdr_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[ZdrRow]]:
    """What zero data retention leaves of each model; the same for every workspace."""
    return hub.derive(FeedKey("zdr"), _zdr_rows, cadence.MODELS)


async def read_zdr(reader: FeedReader) -> frozenset[EndpointKey] | None:
    """The endpoints that keep no data; None when the gateway does not tell. Raises GatewayError."""
    try:
        found = await reader.get(ZDR_ENDPOINTS)
    except StatusError as error:
        if error.status in {403, 404}:
            return None
        raise
    return frozenset(endpoint_key(endpoint) for endpoint in found)


# What guardrails are compared with ---------------------------------------------------------------


async def read_slugs(reader: FeedReader) -> Mapping[str, str]:
    """The slugs of the providers by their names. Raises GatewayError."""
    providers = await reader.get(PROVIDERS)
    return {one.name: one.slug for one in providers if one.name and one.slug}


@dataclass(frozen=True, slots=True)
class Routing:
    """Every model, the slugs of providers by their names, and the endpoints that keep no data.

    ``zdr`` None: the gateway does not tell.
    """

    models: tuple[Model, ...]
    provider_slugs: Mapping[str, str]
    zdr: frozenset[EndpointKey] | None

    def view(self, known: Mapping[str, tuple[Endpoint, ...]]) -> CatalogView:
        """The catalog as far as the endpoints of some models are known."""
        offers = tuple(
            ModelWithEndpoints(model, known.get(model.id or "")) for model in self.models
        )
        return CatalogView(offers, self.provider_slugs, self.zdr)


async def _routing(reader: FeedReader) -> Routing:
    """Three lists. Raises GatewayError."""
    models = await reader.get(MODELS)
    return Routing(models, await read_slugs(reader), await read_zdr(reader))


def routing_feed(hub: FeedHub) -> Feed[Routing]:
    """The same for every workspace."""
    return hub.derive(FeedKey("routing"), _routing, cadence.CATALOG)


def catalog_feed(hub: FeedHub) -> Feed[CatalogView]:
    """The catalog with every endpoint; the same for every workspace and guardrail."""

    async def read(reader: FeedReader) -> CatalogView:
        routing = await _routing(reader)
        offers = await _read_offers(reader, feed, lambda _offers: None)
        return routing.view(
            {
                name: tuple(model.endpoints)
                for name, model in offers.items()
                if model is not None and model.endpoints is not None
            }
        )

    key: FeedKey[CatalogView] = FeedKey("catalog")
    feed: Feed[CatalogView] = hub.derive(key, read, cadence.CATALOG)
    return feed


@dataclass(frozen=True, slots=True)
class GuardrailOnModel:
    """One guardrail and what it leaves of the model."""

    row: GuardrailRow
    effect: ModelEffect


async def _guardrails_on_model(reader: FeedReader, scope: Scope) -> Sequence[GuardrailOnModel]:
    """Every guardrail of the scope, applied to the model that it names as parent.

    One that is not made yet blocks nothing and is left out. Raises GatewayError.
    """
    view = await _view_of_model(reader, scope.parent or "")
    rows = [row for row in await read_guardrails(reader, scope.workspace) if row.made]
    return tuple(
        GuardrailOnModel(
            row, effect_on_model(offers, [restrictions_of(row.guardrail)], view, row.dialect)
        )
        for row in rows
        for offers in view.offers
        if offers.model.id == scope.parent
    )


async def _view_of_model(reader: FeedReader, model_id: str) -> CatalogView:
    """The catalog with the endpoints of one model."""
    known: dict[str, tuple[Endpoint, ...]] = {}
    with suppress(NotFoundError):
        endpoints = (await reader.get(endpoints_of(model_id))).endpoints
        known = {} if endpoints is None else {model_id: tuple(endpoints)}
    return (await _routing(reader)).view(known)


def guardrails_on_model_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[GuardrailOnModel]]:
    """The guardrails on the model that the scope names as parent. ValueError without one."""
    if scope.parent is None:
        raise ValueError("guardrails are shown for one model: open it from the models list")
    return hub.derive(
        FeedKey(FEEDS, ("on-model", scope.parent, scope.workspace or "")),
        lambda reader: _guardrails_on_model(reader, scope),
        cadence.WORKSPACES,
    )
