"""The catalog: models, providers, what zero data retention and guardrails leave of models.

Contract "Model with endpoints", extended contract section 7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from gwtui.client.errors import NotFoundError, StatusError
from gwtui.contract.models import Endpoint, Model, Provider
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
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.concurrent_reads import GrowingList, fetch_each
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, read_guardrails
from gwtui.watch.hub import FeedHub, FeedReader, Scope


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


@dataclass(slots=True)
class Progress:
    """How far the reading of the catalog is: one request per model."""

    done: int = 0
    total: int = 0


_PROGRESS: WeakKeyDictionary[FeedHub, Progress] = WeakKeyDictionary()


def progress_of(hub: FeedHub) -> Progress:
    """How far the present reading of the catalog is."""
    return _PROGRESS.setdefault(hub, Progress())


def catalog_feed(hub: FeedHub) -> Feed[CatalogView]:
    """The catalog with every endpoint; the same for every workspace and guardrail."""
    progress = progress_of(hub)
    key: FeedKey[CatalogView] = FeedKey("catalog")
    return hub.derive(key, lambda reader: _catalog(reader, progress), cadence.CATALOG)


async def _catalog(reader: FeedReader, progress: Progress) -> CatalogView:
    """Every model with its endpoints, a few requests at a time. Raises GatewayError.

    A model that is gone when its turn comes has no readable endpoints; a gateway that does not
    tell which endpoints keep no data leaves that open.
    """
    models = [model for model in await reader.get(MODELS) if model.id]
    progress.done, progress.total = 0, len(models)

    async def offers(model: Model) -> ModelWithEndpoints:
        try:
            found = await reader.get(endpoints_of(model.id or ""))
        except NotFoundError:
            return ModelWithEndpoints(model, None)
        finally:
            progress.done += 1
        return ModelWithEndpoints(
            model, None if found.endpoints is None else tuple(found.endpoints)
        )

    slugs = await read_slugs(reader)
    return CatalogView(
        offers=tuple(await fetch_each(models, offers)),
        provider_slugs=slugs,
        zdr=await read_zdr(reader),
    )


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
    models = await reader.get(MODELS)
    try:
        endpoints = (await reader.get(endpoints_of(model_id))).endpoints
    except NotFoundError:
        endpoints = None

    def offers(model: Model) -> ModelWithEndpoints:
        known = model.id == model_id and endpoints is not None
        return ModelWithEndpoints(model, tuple(endpoints or ()) if known else None)

    return CatalogView(
        offers=tuple(offers(model) for model in models),
        provider_slugs=await read_slugs(reader),
        zdr=await read_zdr(reader),
    )


def guardrails_on_model_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[GuardrailOnModel]]:
    """The guardrails on the model that the scope names as parent. ValueError without one."""
    if scope.parent is None:
        raise ValueError("guardrails are shown for one model: open it from the models list")
    return hub.derive(
        FeedKey(FEEDS, ("on-model", scope.parent, scope.workspace or "")),
        lambda reader: _guardrails_on_model(reader, scope),
        cadence.WORKSPACES,
    )
