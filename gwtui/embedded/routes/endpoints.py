"""GET /models/{author}/{slug}/endpoints. Contract of that name; "Authentication", rule 4."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from gwtui.contract.models import ModelEndpoints
from gwtui.embedded.operations import Access, Operation, OperationRequest, Principal
from gwtui.embedded.responses import not_found, one
from gwtui.embedded.simulator import endpoints_answer

_NULL_WITHOUT_KEY = "throughput_last_30m"
_ABSENT_WITHOUT_KEY = "perf_last_30m_by_workload"


def as_seen_by(caller: Principal | None, endpoints: list[dict[str, Any]]) -> list[JsonValue]:
    """Endpoints as this caller may see them: some figures are for those with a key."""
    return [dict(endpoint) if caller else _without_key(endpoint) for endpoint in endpoints]


def _without_key(endpoint: dict[str, Any]) -> dict[str, JsonValue]:
    shown = {name: value for name, value in endpoint.items() if name != _ABSENT_WITHOUT_KEY}
    return {**shown, _NULL_WITHOUT_KEY: None}


def _list(call: OperationRequest) -> JsonValue:
    model_id = f"{call.path['author']}/{call.path['slug']}"
    answer = endpoints_answer(call.site.catalog, model_id, call.now)
    if answer is None:
        raise not_found()
    return {"data": {**answer, "endpoints": as_seen_by(call.caller, answer["endpoints"])}}


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
