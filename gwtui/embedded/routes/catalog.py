"""The catalog: models, their endpoints, and providers. Extended contract section 7.

What only callers with a key may see is in the contract's "Authentication", rule 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pydantic import JsonValue

from gwtui.contract.models import Endpoint, Model, ModelCount, ModelEndpoints, Provider
from gwtui.contract.values import MAX_MODELS_PAGE, MODELS_PAGE
from gwtui.embedded import catalog_query, queries
from gwtui.embedded.catalog_query import usable_models
from gwtui.embedded.operations import Access, Operation, OperationRequest, Principal
from gwtui.embedded.responses import many, not_found, one, page, record
from gwtui.embedded.simulator.endpoint_figures import endpoints_answer, shown_endpoint
from gwtui.embedded.store import account, budgets, keys

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import CatalogModel

_PATH = "/api/v1/models"
_OUTPUTS = queries.names(
    "output_modalities", "only models with one of these outputs, or all", ("text",)
)


def _list(call: OperationRequest) -> JsonValue:
    return _page(call, _PATH, _catalog(call))


def _list_of_user(call: OperationRequest) -> JsonValue:
    found = catalog_query.select(call.site.catalog, call.query, call.now)
    return _page(call, f"{_PATH}/user", _left(call, call.known_caller, found))


def _catalog(call: OperationRequest) -> list[CatalogModel]:
    """What the caller sees of the catalog.

    Where the organization filters it, a member's key sees what its guardrails leave. Management
    keys, which choose what guardrails allow, and the public see everything.
    """
    found = catalog_query.select(call.site.catalog, call.query, call.now)
    caller = call.caller
    if (
        caller is None
        or caller.is_management
        or not account.setting(call.db, "is_filtered_model_catalog_enabled")
    ):
        return found
    return _left(call, caller, found)


def _left(
    call: OperationRequest, caller: Principal, found: list[CatalogModel]
) -> list[CatalogModel]:
    """The models that the guardrails on the caller's key leave an endpoint of."""
    key = keys.find(call.db, caller.key_hash, call.now)
    if key is None:
        return found
    left = usable_models(call.site, budgets.binding_of(call.db, key.key))
    return [model for model in found if model.id in left]


def _page(call: OperationRequest, path: str, found: list[CatalogModel]) -> JsonValue:
    offset, limit = call.query["offset"], call.query["limit"]
    if offset is None and limit is None:
        shown, following = found, None
    else:
        start, size = offset or 0, limit or MODELS_PAGE
        shown, end = found[start : start + size], start + size
        following = _page_link(call, path, end, size) if end < len(found) else None
    return {
        "data": [dict(model.wire) for model in shown],
        "total_count": len(found),
        "links": {"next": following},
    }


def _page_link(call: OperationRequest, path: str, offset: int, limit: int) -> str:
    """The next page, relative to the host: the gateway does not know by what name it is reached."""
    kept = [(name, value) for name, value in call.given_query if name not in {"offset", "limit"}]
    return f"{path}?{urlencode([*kept, ('offset', offset), ('limit', limit)])}"


def _count(call: OperationRequest) -> JsonValue:
    return {"data": {"count": len(_catalog(call))}}


def _get(call: OperationRequest) -> JsonValue:
    model = call.site.catalog.model(f"{call.path['author']}/{call.path['slug']}")
    if model is None:
        raise not_found()
    return {"data": dict(model.wire)}


_NULL_WITHOUT_KEY = "throughput_last_30m"
_ABSENT_WITHOUT_KEY = "perf_last_30m_by_workload"


def _as_seen_by(caller: Principal | None, endpoints: list[dict[str, Any]]) -> list[JsonValue]:
    """Endpoints as this caller may see them: some figures are for those with a key."""
    return [dict(endpoint) if caller else _without_key(endpoint) for endpoint in endpoints]


def _without_key(endpoint: dict[str, Any]) -> dict[str, JsonValue]:
    shown = {name: value for name, value in endpoint.items() if name != _ABSENT_WITHOUT_KEY}
    return {**shown, _NULL_WITHOUT_KEY: None}


def _endpoints(call: OperationRequest) -> JsonValue:
    model_id = f"{call.path['author']}/{call.path['slug']}"
    answer = endpoints_answer(call.site.catalog, model_id, call.now)
    if answer is None:
        raise not_found()
    return {"data": {**answer, "endpoints": _as_seen_by(call.caller, answer["endpoints"])}}


def _zero_retention(call: OperationRequest) -> JsonValue:
    catalog = call.site.catalog
    found = [
        shown_endpoint(catalog, endpoint, call.now)
        for model in catalog.models
        for endpoint in model.endpoints
        if endpoint.is_zero_retention
    ]
    return {"data": _as_seen_by(call.caller, found)}


def _providers(call: OperationRequest) -> JsonValue:
    return {"data": [dict(provider) for provider in call.site.catalog.providers]}


_MODELS = page(
    Model,
    {"links": record({"next": {"type": ["string", "null"], "format": "uri-reference"}})},
)
_PAGING = (
    queries.integer("offset", "models to skip", low=0),
    queries.integer("limit", "models in a page", low=1, high=MAX_MODELS_PAGE),
)
_YES_NO = ("true", "false")
_INDICES = tuple(
    queries.amount(f"{bound}_{name}", f"{word} {name.replace('_', ' ')}, {unit}", high=high)
    for name, unit, high in (
        *((index, "percent", None) for index in catalog_query.INDICES),
        (catalog_query.TOOL_SUCCESS, "a share from 0 to 1", 1),
    )
    for bound, word in (("min", "least"), ("max", "highest"))
)
_SORT = queries.choice("sort", "order; catalog order when not given", catalog_query.SORTS)

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
        query=(
            *_PAGING,
            queries.text("q", "words that all stand in the name, identifier or description"),
            _OUTPUTS,
            queries.names("input_modalities", "only models with all of these inputs"),
            queries.names("supported_parameters", "only models that take all of these"),
            queries.text("category", "only models that are used for this, such as programming"),
            queries.text("arch", "only models of this family, by tokenizer or instruction format"),
            queries.choice("distillable", "whether others may be trained on it", _YES_NO),
            queries.choice("region", "only models served in this region", catalog_query.REGIONS),
            queries.names("model_authors", "only models of one of these authors"),
            queries.names("providers", "only models that one of these providers serves, by slug"),
            queries.integer("context", "only models with at least this context length", low=0),
            queries.amount("min_price", "least price of prompts, USD per million tokens"),
            queries.amount("max_price", "highest price of prompts, USD per million tokens"),
            queries.amount("min_output_price", "least price of answers, USD per million tokens"),
            queries.amount("max_output_price", "highest price of answers, USD per million tokens"),
            queries.integer("min_age_days", "only models at least this old", low=0),
            queries.integer("max_age_days", "only models at most this old", low=0),
            queries.choice("zdr", "only models with an endpoint that keeps no data", ("true",)),
            *_INDICES,
            _SORT,
        ),
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
        query=(*_PAGING, _OUTPUTS, _SORT),
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
        answer=one(ModelCount),
        query=(_OUTPUTS,),
    ),
    Operation(
        method="GET",
        path="/model/{author}/{slug}",
        operation_id="getModel",
        summary="Get a model",
        tag="Models",
        access=Access.PUBLIC,
        handler=_get,
        answer=one(Model),
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
        answer=one(ModelEndpoints),
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
        answer=many(Endpoint),
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
        answer=many(Provider),
    ),
)
