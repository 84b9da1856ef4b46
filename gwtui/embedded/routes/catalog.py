"""The catalog: models, their endpoints, and providers. See section 7 of the extended contract.

Rule 4 of "Authentication" in the contract lists the fields that require a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple
from urllib.parse import urlencode

from pydantic import Field, JsonValue

from gwtui.contract.models import Endpoint, Model, ModelCount, ModelEndpoints, Provider
from gwtui.contract.values import MAX_MODELS_PAGE, MODELS_PAGE
from gwtui.domain.guardrail_effect import effect_on_model, restrictions_of
from gwtui.embedded.messages import (
    Count,
    Flag,
    Names,
    QueryParameter,
    data_schema,
    list_schema,
    not_found,
    page_schema,
    record,
)
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.simulator.catalog import (
    Catalog,
    CatalogEndpoint,
    CatalogModel,
    catalog_view,
    live_figures,
)
from gwtui.embedded.store import account, keys
from gwtui.embedded.store.documents import Document
from gwtui.embedded.store.keys import Binding

if TYPE_CHECKING:
    from gwtui.embedded.gateway import EmbeddedGateway

_PATH = "/api/v1/models"
ANY_OUTPUT = "all"
_DAY_SECONDS = 86_400
_MILLION = 1_000_000
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]
_RANKS: Mapping[str, tuple[str, str, Any]] = {
    "intelligence_index": ("intelligence", "percent", _Amount),
    "coding_index": ("coding", "percent", _Amount),
    "agentic_index": ("agentic", "percent", _Amount),
    "tool_success_rate": ("tool_success", "a share from 0 to 1", _Share),
}
"""Name in ``min_NAME`` and ``max_NAME`` -> name in the data file, unit and type of the filter."""


class _Filter(NamedTuple):
    """A query parameter that filters models; ``passes`` gets the model, its value and the time."""

    query: QueryParameter
    passes: Callable[[CatalogModel, Any, datetime], bool]


def _bounds(
    name: str,
    low: str,
    high: str,
    figure: Callable[[CatalogModel, datetime], Any],
    kind: Any = _Amount,
) -> tuple[_Filter, _Filter]:
    # A model with an unknown figure passes neither ``min_NAME`` nor ``max_NAME``.
    return (
        _Filter(
            QueryParameter(f"min_{name}", low, kind),
            lambda model, least, now: (value := figure(model, now)) is not None and value >= least,
        ),
        _Filter(
            QueryParameter(f"max_{name}", high, kind),
            lambda model, most, now: (value := figure(model, now)) is not None and value <= most,
        ),
    )


def _price(model: CatalogModel, name: str) -> Decimal:
    return Decimal(model.wire["pricing"][name]) * _MILLION


def _age(model: CatalogModel, now: datetime) -> float:
    return float(now.timestamp() - model.wire["created"]) / _DAY_SECONDS


def _mentions(wire: Mapping[str, Any], text: str) -> bool:
    fields = (wire["id"], wire["name"], wire.get("description"), wire["canonical_slug"])
    haystack = " ".join(str(field) for field in fields if field).casefold()
    return all(word in haystack for word in text.casefold().split())


def _is_of(architecture: Mapping[str, Any], family: str) -> bool:
    names = (architecture["tokenizer"], architecture["instruct_type"])
    return family.casefold() in {name.casefold() for name in names if name}


def _gives(model: CatalogModel, outputs: frozenset[str]) -> bool:
    offered: Iterable[str] = model.wire["architecture"]["output_modalities"]
    return ANY_OUTPUT in outputs or not outputs.isdisjoint(offered)


_OUTPUTS = _Filter(
    QueryParameter(
        "output_modalities",
        "only models with one of these outputs, or all",
        Names,
        default="text",
    ),
    lambda model, outputs, _: _gives(model, outputs),
)
_FILTERS = (
    _Filter(
        QueryParameter("q", "words that all stand in the name, identifier or description"),
        lambda model, text, _: _mentions(model.wire, text),
    ),
    _OUTPUTS,
    _Filter(
        QueryParameter("input_modalities", "only models with all of these inputs", Names),
        lambda model, names, _: names.issubset(model.wire["architecture"]["input_modalities"]),
    ),
    _Filter(
        QueryParameter("supported_parameters", "only models that take all of these", Names),
        lambda model, names, _: names.issubset(model.wire["supported_parameters"]),
    ),
    _Filter(
        QueryParameter("category", "only models that are used for this, such as programming"),
        lambda model, name, _: name.casefold() in model.entry.get("categories", ()),
    ),
    _Filter(
        QueryParameter("arch", "only models of this family, by tokenizer or instruction format"),
        lambda model, family, _: _is_of(model.wire["architecture"], family),
    ),
    _Filter(
        QueryParameter("distillable", "whether others may be trained on it", Flag),
        lambda model, flag, _: model.is_distillable is flag,
    ),
    _Filter(
        QueryParameter("region", "only models served in this region", Literal["eu", "us"]),
        lambda model, region, _: any(region in endpoint.regions for endpoint in model.endpoints),
    ),
    _Filter(
        QueryParameter("model_authors", "only models of one of these authors", Names),
        lambda model, authors, _: model.id.partition("/")[0] in authors,
    ),
    _Filter(
        QueryParameter("providers", "only models that one of these providers serves", Names),
        lambda model, slugs, _: any(
            endpoint.provider["slug"] in slugs for endpoint in model.endpoints
        ),
    ),
    _Filter(
        QueryParameter("context", "only models with at least this context length", Count),
        lambda model, least, _: (model.wire["context_length"] or -1) >= least,
    ),
    *_bounds(
        "price",
        "least price of prompts, USD per million tokens",
        "highest price of prompts, USD per million tokens",
        lambda model, _: _price(model, "prompt"),
    ),
    *_bounds(
        "output_price",
        "least price of answers, USD per million tokens",
        "highest price of answers, USD per million tokens",
        lambda model, _: _price(model, "completion"),
    ),
    *_bounds(
        "age_days", "only models at least this old", "only models at most this old", _age, Count
    ),
    _Filter(
        QueryParameter("zdr", "only models with an endpoint that keeps no data", Literal["true"]),
        lambda model, _value, _: any(endpoint.is_zero_retention for endpoint in model.endpoints),
    ),
    *(
        bound
        for name, (figure, unit, kind) in _RANKS.items()
        for bound in _bounds(
            name,
            f"least {name.replace('_', ' ')}, {unit}",
            f"highest {name.replace('_', ' ')}, {unit}",
            lambda model, _, figure=figure: model.rank(figure),  # type: ignore[misc]
            kind,
        )
    ),
)

_NOT_GIVEN: tuple[Any, ...] = (None, "", frozenset())

_Figure = Callable[["Catalog", "CatalogModel", datetime], Any]


def _median(name: str, best: Callable[[list[float]], float]) -> _Figure:
    def figure(catalog: Catalog, model: CatalogModel, now: datetime) -> float | None:
        stats = [live_figures(catalog, endpoint.key, now)[name] for endpoint in model.endpoints]
        medians = [stat["p50"] for stat in stats if stat is not None]
        return best(medians) if medians else None

    return figure


def _of_model(figure: Callable[[CatalogModel], Any]) -> _Figure:
    return lambda _catalog, model, _now: figure(model)


_POPULARITY = _of_model(lambda model: model.popularity)
_COST = _of_model(lambda model: _price(model, "prompt") + _price(model, "completion"))
_SORTS: Mapping[str, tuple[_Figure, bool]] = {
    "most-popular": (_POPULARITY, True),
    "newest": (_of_model(lambda model: model.wire["created"]), True),
    "top-weekly": (_POPULARITY, True),
    "pricing-low-to-high": (_COST, False),
    "pricing-high-to-low": (_COST, True),
    "context-high-to-low": (_of_model(lambda model: model.wire["context_length"]), True),
    "throughput-high-to-low": (_median("throughput_last_30m", max), True),
    "latency-low-to-high": (_median("latency_last_30m", min), False),
    "intelligence-high-to-low": (_of_model(lambda model: model.rank("intelligence")), True),
    "coding-high-to-low": (_of_model(lambda model: model.rank("coding")), True),
    "agentic-high-to-low": (_of_model(lambda model: model.rank("agentic")), True),
    "design-arena-elo-high-to-low": (_of_model(lambda model: model.rank("arena")), True),
}
"""Sort order -> the figure of a model to sort by, and whether the largest comes first.

Models without that figure come last, newest first.
"""
SORTS = tuple(_SORTS)


def select(catalog: Catalog, query: Mapping[str, Any], now: datetime) -> list[CatalogModel]:
    """Return the models that pass all filters of a query, in the requested order."""
    given = [filter_ for filter_ in _FILTERS if query.get(filter_.query.name) not in _NOT_GIVEN]
    selected = [
        model
        for model in catalog.models
        if all(filter_.passes(model, query[filter_.query.name], now) for filter_ in given)
    ]
    if not query.get("sort"):
        return selected
    figure, descending = _SORTS[query["sort"]]
    values = {model.id: figure(catalog, model, now) for model in selected}
    known = [model for model in selected if values[model.id] is not None]
    known.sort(key=lambda model: values[model.id], reverse=descending)
    return known + [model for model in selected if values[model.id] is None]


def usable_models(site: EmbeddedGateway, binding: Binding) -> frozenset[str]:
    """Return the ids of the models with at least one endpoint that all guardrails allow."""
    if not binding:
        return frozenset(model.id for model in site.catalog.models)
    guardrails = [restrictions_of(guardrail) for guardrail in binding.values()]
    view = catalog_view(site.catalog.seed)
    return frozenset(
        str(offers.model.id)
        for offers in view.offers
        if effect_on_model(offers, guardrails, view, site.dialect).remaining
    )


def _list(call: OperationRequest) -> JsonValue:
    return _page(call, _PATH, _catalog(call))


def _list_of_user(call: OperationRequest) -> JsonValue:
    models = select(call.site.catalog, call.query, call.now)
    return _page(call, f"{_PATH}/user", _left(call, call.known_caller, models))


def _catalog(call: OperationRequest) -> list[CatalogModel]:
    # If the organization filters its catalog, a member's key sees only models that its guardrails
    # allow. Management keys, which configure the guardrails, and the public see all models.
    models = select(call.site.catalog, call.query, call.now)
    caller = call.caller
    if (
        caller is None
        or caller["workspace_id"] is None
        or not account.setting(call.db, "is_filtered_model_catalog_enabled")
    ):
        return models
    return _left(call, caller, models)


def _left(
    call: OperationRequest, caller: Document, models: list[CatalogModel]
) -> list[CatalogModel]:
    key = keys.find(call.db, caller["hash"], call.now)
    if key is None:
        return models
    left = usable_models(call.site, keys.binding_of(call.db, key.key))
    return [model for model in models if model.id in left]


def _page(call: OperationRequest, path: str, models: list[CatalogModel]) -> JsonValue:
    offset, limit = call.query["offset"], call.query["limit"]
    if offset is None and limit is None:
        shown, following = models, None
    else:
        start, size = offset or 0, limit or MODELS_PAGE
        shown, end = models[start : start + size], start + size
        following = _page_link(call, path, end, size) if end < len(models) else None
    return {
        "data": [dict(model.wire) for model in shown],
        "total_count": len(models),
        "links": {"next": following},
    }


def _page_link(call: OperationRequest, path: str, offset: int, limit: int) -> str:
    # The link is relative to the host, because the gateway does not know its host name.
    kept = [(name, value) for name, value in call.given_query if name not in {"offset", "limit"}]
    return f"{path}?{urlencode([*kept, ('offset', offset), ('limit', limit)])}"


def _count(call: OperationRequest) -> JsonValue:
    return {"data": {"count": len(_catalog(call))}}


def _model(call: OperationRequest) -> CatalogModel:
    model = call.site.catalog.model(f"{call.path['author']}/{call.path['slug']}")
    if model is None:
        raise not_found()
    return model


def _with_figures(call: OperationRequest, endpoint: CatalogEndpoint) -> dict[str, JsonValue]:
    # Some figures are only visible with a key.
    shown = {**endpoint.wire, **live_figures(call.site.catalog, endpoint.key, call.now)}
    if call.caller is None:
        shown["throughput_last_30m"] = None
        del shown["perf_last_30m_by_workload"]
    return shown


def _endpoints(call: OperationRequest) -> JsonValue:
    model = _model(call)
    names = ("id", "name", "created", "description", "architecture")
    endpoints: list[JsonValue] = [_with_figures(call, endpoint) for endpoint in model.endpoints]
    return {"data": {**{name: model.wire[name] for name in names}, "endpoints": endpoints}}


def _zero_retention(call: OperationRequest) -> JsonValue:
    endpoints = (endpoint for model in call.site.catalog.models for endpoint in model.endpoints)
    return {
        "data": [
            _with_figures(call, endpoint) for endpoint in endpoints if endpoint.is_zero_retention
        ]
    }


def _providers(call: OperationRequest) -> JsonValue:
    return {"data": [dict(provider) for provider in call.site.catalog.providers]}


_MODELS = page_schema(
    Model,
    {"links": record({"next": {"type": ["string", "null"], "format": "uri-reference"}})},
)
_PAGING = (
    QueryParameter("offset", "models to skip", Count),
    QueryParameter("limit", "models in a page", Annotated[int, Field(ge=1, le=MAX_MODELS_PAGE)]),
)
_SORT = QueryParameter("sort", "order; catalog order when not given", Literal[SORTS])

OPERATIONS = (
    Operation(
        method="GET",
        path="/models",
        operation_id="listModels",
        summary="List models; everything when neither offset nor limit is given",
        tag="Models",
        access=Access.PUBLIC,
        handler=_list,
        answer=_MODELS,
        query=(*_PAGING, *(filter_.query for filter_ in _FILTERS), _SORT),
        refusals=(403,),
    ),
    Operation(
        method="GET",
        path="/models/user",
        operation_id="listUserModels",
        summary="List the models that the asking key may use",
        tag="Models",
        access=Access.ANY_KEY,
        handler=_list_of_user,
        answer=_MODELS,
        query=(*_PAGING, _OUTPUTS.query, _SORT),
        refusals=(403, 404, 503),
    ),
    Operation(
        method="GET",
        path="/models/count",
        operation_id="countModels",
        summary="Count models",
        tag="Models",
        access=Access.PUBLIC,
        handler=_count,
        answer=data_schema(ModelCount),
        query=(_OUTPUTS.query,),
    ),
    Operation(
        method="GET",
        path="/model/{author}/{slug}",
        operation_id="getModel",
        summary="Get a model",
        tag="Models",
        access=Access.PUBLIC,
        handler=lambda call: {"data": dict(_model(call).wire)},
        answer=data_schema(Model),
        refusals=(403,),
    ),
    Operation(
        method="GET",
        path="/models/{author}/{slug}/endpoints",
        operation_id="listEndpoints",
        summary="List the endpoints of a model",
        tag="Models",
        access=Access.PUBLIC,
        handler=_endpoints,
        answer=data_schema(ModelEndpoints),
        refusals=(403,),
    ),
    Operation(
        method="GET",
        path="/endpoints/zdr",
        operation_id="listZdrEndpoints",
        summary="Preview zero data retention: list the endpoints that remain",
        tag="Models",
        access=Access.PUBLIC,
        handler=_zero_retention,
        answer=list_schema(Endpoint),
        refusals=(403,),
    ),
    Operation(
        method="GET",
        path="/providers",
        operation_id="listProviders",
        summary="List providers",
        tag="Providers",
        access=Access.PUBLIC,
        handler=_providers,
        answer=list_schema(Provider),
    ),
)
