"""The model catalog. Extended contract section 7."""

from __future__ import annotations

from urllib.parse import urlencode

from pydantic import JsonValue

from gwtui.contract.models import Model
from gwtui.contract.paging import MAX_MODELS_PAGE, MODELS_PAGE
from gwtui.embedded import catalog_query, queries
from gwtui.embedded.answers import one, page, plain, record
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.refusals import not_found

_PATH = "/api/v1/models"
_OUTPUTS = queries.names(
    "output_modalities", "only models with one of these outputs, or all", ("text",)
)


def _list(call: Call) -> JsonValue:
    found = catalog_query.select(call.site.catalog, call.query, call.now)
    offset, limit = call.query["offset"], call.query["limit"]
    if offset is None and limit is None:
        shown, following = found, None
    else:
        start, size = offset or 0, limit or MODELS_PAGE
        shown, end = found[start : start + size], start + size
        following = _page_link(call, end, size) if end < len(found) else None
    return {
        "data": [dict(model.wire) for model in shown],
        "total_count": len(found),
        "links": {"next": following},
    }


def _page_link(call: Call, offset: int, limit: int) -> str:
    """The next page, relative to the host: the gateway does not know by what name it is reached."""
    kept = [(name, value) for name, value in call.given_query if name not in {"offset", "limit"}]
    return f"{_PATH}?{urlencode([*kept, ('offset', offset), ('limit', limit)])}"


def _count(call: Call) -> JsonValue:
    return {"data": {"count": len(catalog_query.select(call.site.catalog, call.query, call.now))}}


def _get(call: Call) -> JsonValue:
    model = call.site.catalog.model(f"{call.path['author']}/{call.path['slug']}")
    if model is None:
        raise not_found()
    return {"data": dict(model.wire)}


OPERATIONS = (
    Operation(
        method="GET",
        path="/models",
        operation_id="listModels",
        summary="List models; everything when neither offset nor limit is given",
        tag="Models",
        access=Access.PUBLIC,
        handler=_list,
        answer=page(
            Model,
            {"links": record({"next": {"type": ["string", "null"], "format": "uri-reference"}})},
        ),
        query=(
            queries.integer("offset", "models to skip", low=0),
            queries.integer("limit", "models in a page", low=1, high=MAX_MODELS_PAGE),
            queries.text("q", "words that all stand in the name, identifier or description"),
            _OUTPUTS,
            queries.names("input_modalities", "only models with all of these inputs"),
            queries.names("supported_parameters", "only models that take all of these"),
            queries.text("category", "accepted, has no effect"),
            queries.choice("sort", "order; catalog order when not given", catalog_query.SORTS),
        ),
        refusals=(403,),
    ),
    Operation(
        method="GET",
        path="/models/count",
        operation_id="countModels",
        summary="Count models",
        tag="Models",
        access=Access.PUBLIC,
        handler=_count,
        answer=plain("Count", {"data": record({"count": {"type": "integer"}})}),
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
