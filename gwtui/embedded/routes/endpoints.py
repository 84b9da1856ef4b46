"""GET /models/{author}/{slug}/endpoints. Contract of that name; "Authentication", rule 4."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.models import ModelEndpoints
from gwtui.embedded.answers import one
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.refusals import not_found
from gwtui.embedded.simulator import endpoints_answer

_FOR_KEYS_ONLY = ("throughput_last_30m", "perf_last_30m_by_workload")


def _list(call: Call) -> JsonValue:
    model_id = f"{call.path['author']}/{call.path['slug']}"
    answer = endpoints_answer(call.site.catalog, model_id, call.now)
    if answer is None:
        raise not_found()
    if call.caller is None:
        hidden = dict.fromkeys(_FOR_KEYS_ONLY)
        answer = {**answer, "endpoints": [{**item, **hidden} for item in answer["endpoints"]]}
    return {"data": answer}


OPERATIONS = (
    Operation(
        method="GET",
        path="/models/{author}/{slug}/endpoints",
        operation_id="listEndpoints",
        summary="List the endpoints of a model",
        tag="Models",
        access=Access.PUBLIC,
        handler=_list,
        answer=one(ModelEndpoints),
        refusals=(403,),
    ),
)
