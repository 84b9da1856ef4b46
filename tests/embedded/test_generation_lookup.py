"""Generations: what was served or kept can be looked up, and nothing else can."""

from __future__ import annotations

from pathlib import Path

import pytest
from gateway_kit import START, Bench, HandClock, bench

from gateway_facts import MadeRequest, feedback_on, requests_made, world
from gwtui.embedded.errors import DatabaseMissingError
from gwtui.embedded.store.generations import recent_generations

NOBODY = f"gen-{int(START.timestamp()) - 60}-{'0' * 20}"


CONTENT = "simulated"


@pytest.fixture
def recent(gate: Bench) -> list[MadeRequest]:
    return requests_made(gate.gateway, START)


async def test_the_newest_requests_of_every_key_are_found(gate: Bench, recent: list[MadeRequest]):
    requests = recent
    assert len({request.key_hash for request in requests}) > 20
    seen = set()
    for request in requests:
        data = await gate.data("GET", "/generation", params={"id": request.id})
        assert data["id"] == request.id
        assert data["total_cost"] == data["usage"]
        if data["is_byok"]:
            assert data["usage"] == 0 < data["upstream_inference_cost"]
        else:
            assert data["upstream_inference_cost"] is None
        assert data["provider_responses"][0]["provider_name"] == data["provider_name"]
        seen.add((data["is_byok"], data["usage"] > 0))
    assert {(True, False), (False, True)} <= seen


async def test_the_last_request_of_a_key_is_when_it_was_last_used(
    gate: Bench, recent: list[MadeRequest]
):
    newest = recent[0]
    shown = await gate.data("GET", f"/keys/{newest.key_hash}")
    data = await gate.data("GET", "/generation", params={"id": newest.id})
    assert data["created_at"] == shown["last_used_at"]
    assert data["workspace_id"] == shown["workspace_id"]


async def test_the_same_generation_reads_the_same_for_ever(gate: Bench, recent: list[MadeRequest]):
    params = {"id": recent[0].id}
    before = await gate.data("GET", "/generation", params=params)
    gate.clock.forward(days=9)
    assert await gate.data("GET", "/generation", params=params) == before
    gate.clock.forward(days=30)
    await gate.refused(404, "GET", "/generation", params=params)


@pytest.mark.parametrize("unknown", [NOBODY, "gen-1", "nothing", "gen-99999999999-0", "\x00"])
async def test_an_unknown_identifier_is_not_found(gate: Bench, unknown: str):
    await gate.refused(404, "GET", "/generation", params={"id": unknown})
    await gate.refused(404, "GET", "/generation/content", params={"id": unknown})
    body = {"generation_id": unknown, "category": "other"}
    await gate.refused(404, "POST", "/generation/feedback", json=body)


async def test_what_was_refused_is_no_generation(gate: Bench, recent: list[MadeRequest]):
    """A key that is switched off makes no more requests, though its clients go on asking."""
    busy = recent[0]
    await gate.call("PATCH", f"/keys/{busy.key_hash}", json={"disabled": True}, expect=200)
    gate.clock.forward(days=2)
    await gate.call("GET", "/generation", params={"id": busy.id}, expect=200)
    after = {request.key_hash for request in requests_made(gate.gateway, gate.clock.now(), days=1)}
    assert after
    assert busy.key_hash not in after


async def test_content_is_kept_where_the_workspace_logs_it(gate: Bench, recent: list[MadeRequest]):
    logging = {
        one["id"]: one["is_observability_io_logging_enabled"]
        for one in await gate.data("GET", "/workspaces")
    }
    seen = set()
    for request in recent:
        params = {"id": request.id}
        data = await gate.data("GET", "/generation", params=params)
        logged = logging[data["workspace_id"]]
        response = await gate.call("GET", "/generation/content", params=params)
        assert response.status_code == (200 if logged else 404)
        if logged:
            assert set(response.json()["data"]) == {"input", "output", "error"}
        seen.add(logged)
    assert seen == {True, False}


async def test_feedback_is_taken(gate: Bench, recent: list[MadeRequest]):
    body = {"generation_id": recent[0].id, "category": "latency", "comment": "slow"}
    response = await gate.call("POST", "/generation/feedback", json=body, expect=200)
    assert response.json() == {"data": {"success": True}}
    with gate.gateway._database.read() as db:
        assert feedback_on(db, body["generation_id"]) == [("latency", "slow")]
    for wrong in ({**body, "category": "taste"}, {"category": "other"}, {**body, "comment": 5}):
        await gate.refused(400, "POST", "/generation/feedback", json=wrong)


async def test_a_person_finds_identifiers_beside_the_running_gateway(tmp_path: Path):
    database, clock = tmp_path / "gateway.sqlite3", HandClock()
    with pytest.raises(DatabaseMissingError):
        recent_generations(database, clock=clock.clock)
    async with bench(database, clock=clock) as gate:
        clock.forward(minutes=5)
        await gate.data("GET", "/credits")
        found = recent_generations(database, clock=clock.clock)
        assert [one.made_at for one in found] == sorted(
            (one.made_at for one in found), reverse=True
        )
        names = {key.name for key in world(1, START).keys}
        assert len(found) > 40
        for one in found[:20]:
            data = await gate.data("GET", "/generation", params={"id": one.id})
            assert data["model"] == one.model
            assert one.key_name in names
