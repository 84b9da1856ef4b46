"""Generations: metadata, content, feedback. Extended contract section 8."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.activity import FeedbackRequest, Generation, GenerationContent
from gwtui.embedded import queries
from gwtui.embedded.answers import one, plain, record
from gwtui.embedded.generation_data import generation_content, generation_data
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.refusals import not_found
from gwtui.embedded.store import generations, keys, workspaces
from gwtui.embedded.store.generations import Feedback, GenerationRecord

_ID = queries.needed_text("id", "identifier of the generation")


def _get(call: Call) -> JsonValue:
    found = _found(call, call.query["id"])
    key = keys.find(call.db, found.actor.key_hash, call.now)
    external_user = None if key is None else key.external_user
    return {"data": generation_data(call.site.catalog, found, external_user=external_user)}


def _get_content(call: Call) -> JsonValue:
    """Kept only where the workspace logs inputs and outputs."""
    found = _found(call, call.query["id"])
    workspace = workspaces.get(call.db, found.actor.workspace_id)
    if workspace is None or not workspace.is_observability_io_logging_enabled:
        raise not_found()
    return {"data": generation_content(call.site.catalog, found)}


def _give_feedback(call: Call) -> JsonValue:
    request = call.body_as(FeedbackRequest)
    found = _found(call, request.generation_id)
    generations.add_feedback(
        call.db,
        Feedback(
            generation_id=found.request.id,
            category=request.category,
            comment=request.comment,
            given_by=call.known_caller.user_id,
            given_at=call.now,
        ),
    )
    return {"data": {"success": True}}


def _found(call: Call, generation_id: str) -> GenerationRecord:
    found = generations.find(call.db, call.site.profiles, generation_id, call.now)
    if found is None:
        raise not_found()
    return found


OPERATIONS = (
    Operation(
        method="GET",
        path="/generation",
        operation_id="getGeneration",
        summary="Get request and usage metadata for a generation",
        tag="Generations",
        access=Access.ANY_KEY,
        handler=_get,
        answer=one(Generation),
        query=(_ID,),
        refusals=(402, 403, 404, 429, 502, 524, 529),
    ),
    Operation(
        method="GET",
        path="/generation/content",
        operation_id="getGenerationContent",
        summary="Get what a generation read and wrote, where the workspace logs it",
        tag="Generations",
        access=Access.MANAGEMENT,
        handler=_get_content,
        answer=one(GenerationContent),
        query=(_ID,),
        refusals=(404,),
    ),
    Operation(
        method="POST",
        path="/generation/feedback",
        operation_id="giveFeedback",
        summary="Say what was wrong with a generation",
        tag="Generations",
        access=Access.MANAGEMENT,
        handler=_give_feedback,
        answer=plain("Taken", {"data": record({"success": {"const": True}})}),
        body=FeedbackRequest,
        refusals=(404,),
    ),
)
