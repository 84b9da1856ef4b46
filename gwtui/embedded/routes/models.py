"""The model catalog. Extended contract section 7."""

from __future__ import annotations

from urllib.parse import urlencode

from pydantic import JsonValue

from gwtui.contract.models import Model, ModelCount
from gwtui.contract.paging import MAX_MODELS_PAGE, MODELS_PAGE
from gwtui.embedded import catalog_query, queries
from gwtui.embedded.answers import one, page, record
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.policies import usable_models
from gwtui.embedded.refusals import not_found
from gwtui.embedded.simulator import CatalogModel
from gwtui.embedded.store import binding, keys

_PATH = "/api/v1/models"
_OUTPUTS = queries.names(
    "output_modalities", "only models with one of these outputs, or all", ("text",)
)


def _list(call: Call) -> JsonValue:
    return _page(call, _PATH, catalog_query.select(call.site.catalog, call.query, call.now))


def _list_of_user(call: Call) -> JsonValue:
    """The models that the guardrails on the asking key leave an endpoint of."""
    found = catalog_query.select(call.site.catalog, call.query, call.now)
    key = keys.find(call.db, call.known_caller.key_hash, call.now)
    if key is not None:
        left = usable_models(call.site, binding.of_key(call.db, key))
        found = [model for model in found if model.id in left]
    return _page(call, f"{_PATH}/user", found)


def _page(call: Call, path: str, found: list[CatalogModel]) -> JsonValue:
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


def _page_link(call: Call, path: str, offset: int, limit: int) -> str:
    """The next page, relative to the host: the gateway does not know by what name it is reached."""
    kept = [(name, value) for name, value in call.given_query if name not in {"offset", "limit"}]
    return f"{path}?{urlencode([*kept, ('offset', offset), ('limit', limit)])}"


def _count(call: Call) -> JsonValue:
    return {"data": {"count": len(catalog_query.select(call.site.catalog, call.query, call.now))}}


def _get(call: Call) -> JsonValue:
    model = call.site.catalog.model(f"{call.path['author']}/{call.path['slug']}")
    if model is None:
        raise not_found()
    return {"data": dict(model.wire)}


_MODELS = page(
    Model,
    {"links": record({"next": {"type": ["string", "null"], "format": "uri-reference"}})},
)
_PAGING = (
    queries.integer("offset", "models to skip", low=0),
    queries.integer("limit", "models in a page", low=1, high=MAX_MODELS_PAGE),
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
            queries.text("category", "accepted, has no effect"),
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
)
