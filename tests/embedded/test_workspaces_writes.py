"""Workspaces: what is created, changed and deleted, and what stands in the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import Bench, bench

from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import NoWorkspaceError

UNKNOWN = "00000000-0000-4000-8000-000000000000"
DEFAULT = "/workspaces/default"
CONFIRM = {"confirm_default_workspace_deletion": "true"}


CONTENT = "simulated"


@pytest.fixture
async def empty() -> AsyncIterator[Bench]:
    async with bench(content="empty") as opened:
        yield opened


async def make(gate: Bench, **fields: Any) -> dict[str, Any]:
    body = {"name": "Team A", "slug": "team-a", **fields}
    made = await gate.call("POST", "/workspaces", json=body, expect=201)
    data: dict[str, Any] = made.json()["data"]
    return data


async def test_no_server_tool_disabled_is_none_at_all(gate: Bench):
    made = await make(gate, disabled_server_tools=[])
    assert made["disabled_server_tools"] is None
    changed = await gate.data(
        "PATCH", "/workspaces/team-a", json={"disabled_server_tools": ["service:bash"]}
    )
    assert changed["disabled_server_tools"] == ["service:bash"]
    cleared = await gate.data("PATCH", "/workspaces/team-a", json={"disabled_server_tools": []})
    assert cleared["disabled_server_tools"] is None


BAD = [
    ({"slug": "production"}, "slug: another workspace has it already"),
    ({"disabled_server_tools": ["service:bash", "bash"]}, "disabled_server_tools.1: is not a"),
    ({"disabled_server_tools": ["openrouter:bash"]}, "disabled_server_tools.0: is not a server"),
]


@pytest.mark.parametrize(("fields", "named"), BAD)
async def test_a_bad_field_is_400_named_and_changes_nothing(
    gate: Bench, fields: dict[str, Any], named: str
):
    before = await gate.data("GET", "/workspaces")
    good = {"name": "good", "slug": "good", "description": "good"}
    for method, path in (("POST", "/workspaces"), ("PATCH", "/workspaces/research")):
        message = await gate.refused(400, method, path, json={**good, **fields})
        assert message.startswith(named)
    assert await gate.data("GET", "/workspaces") == before


async def test_a_slug_may_not_read_like_the_id_of_another_workspace(gate: Bench):
    """It would name that one in paths, so that a deletion would hit the wrong workspace."""
    made = await make(gate)
    taken = {"name": "b", "slug": made["id"]}
    assert "slug: " in await gate.refused(400, "POST", "/workspaces", json=taken)
    own = await gate.data("PATCH", f"/workspaces/{made['id']}", json={"slug": made["id"]})
    assert own["slug"] == own["id"]


async def test_of_writers_for_one_slug_one_wins(gate: Bench):
    body = {"name": "x", "slug": "race"}
    answers = await asyncio.gather(*(gate.call("POST", "/workspaces", json=body) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7
    slugs = [one["slug"] for one in await gate.data("GET", "/workspaces")]
    assert slugs.count("race") == 1


async def test_a_workspace_with_active_keys_stays(gate: Bench):
    made = await make(gate)
    kept, _ = await gate.create(workspace_id=made["id"])
    expiring, _ = await gate.create(workspace_id=made["id"], expires_at="2026-11-21T08:00:00Z")
    message = await gate.refused(400, "DELETE", "/workspaces/team-a")
    assert "2 active API keys" in message
    gate.clock.forward(hours=1)
    assert "1 active API key:" in await gate.refused(400, "DELETE", "/workspaces/team-a")
    await gate.call("PATCH", f"/keys/{kept['hash']}", json={"disabled": True}, expect=200)
    answer = await gate.call("DELETE", "/workspaces/team-a", expect=200)
    assert answer.json() == {"deleted": True}
    for key in (kept, expiring):
        await gate.refused(404, "GET", f"/keys/{key['hash']}")
    for method in ("GET", "DELETE"):
        await gate.refused(404, method, f"/workspaces/{made['id']}")
    await gate.refused(404, "PATCH", "/workspaces/team-a", json={"name": "x"})


async def test_what_deleted_keys_used_stays_used(gate: Bench):
    research = await gate.data("GET", "/workspaces/research")
    everything = {"workspace_id": research["id"], "include_disabled": "true"}
    used = 0.0
    for key in await gate.data("GET", "/keys", params=everything):
        used += key["usage"]
        await gate.call("PATCH", f"/keys/{key['hash']}", json={"disabled": True}, expect=200)
    before = await gate.data("GET", "/credits")
    await gate.call("DELETE", "/workspaces/research", expect=200)
    assert await gate.data("GET", "/credits") == before
    assert before["total_usage"] > used > 0


async def test_a_deleted_workspace_takes_members_and_budgets_along(gate: Bench):
    people = [one["id"] for one in await gate.data("GET", "/organization/members")]
    await make(gate)
    await gate.call("POST", "/workspaces/team-a/members/add", json={"user_ids": people})
    await gate.call("PUT", "/workspaces/team-a/budgets/daily", json={"limit_usd": 5})
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    for inside in ("members", "budgets", "budgets/daily"):
        await gate.refused(404, "GET", f"/workspaces/team-a/{inside}")
    await make(gate)
    assert await gate.data("GET", "/workspaces/team-a/members") == []
    assert await gate.data("GET", "/workspaces/team-a/budgets") == []
    assert len(await gate.data("GET", "/organization/members")) == len(people)


async def test_a_deleted_workspace_takes_guardrails_and_credentials_along(gate: Bench):
    home = (await make(gate))["id"]
    key, _ = await gate.create(workspace_id=home)
    default_guardrail = (await gate.data("GET", "/workspaces/team-a"))["default_guardrail_id"]
    guardrail = await gate.data("POST", "/guardrails", json={"name": "g", "workspace_id": home})
    await gate.data("PATCH", f"/guardrails/{default_guardrail}", json={"description": "all"})
    assigned = {"key_hashes": [key["hash"]]}
    await gate.call(
        "POST", f"/guardrails/{guardrail['id']}/assignments/keys", json=assigned, expect=200
    )
    credential = await gate.data(
        "POST", "/byok", json={"provider": "northwind", "key": "sk-1", "workspace_id": home}
    )
    await gate.call("PATCH", f"/keys/{key['hash']}", json={"disabled": True}, expect=200)
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    for path in (
        f"/guardrails/{guardrail['id']}",
        f"/guardrails/{default_guardrail}",
        f"/byok/{credential['id']}",
        f"/keys/{key['hash']}",
    ):
        await gate.refused(404, "GET", path)
    everywhere = await gate.data("GET", "/guardrails/assignments/keys?limit=100")
    assert key["hash"] not in {one["key_hash"] for one in everywhere}
    await gate.refused(404, "PATCH", f"/guardrails/{default_guardrail}", json={"name": "x"})


async def test_the_default_workspace_goes_only_when_that_is_confirmed(empty: Bench):
    for query in ({}, {"confirm_default_workspace_deletion": "false"}):
        message = await empty.refused(400, "DELETE", DEFAULT, params=query)
        assert message.startswith("confirm_default_workspace_deletion: ")
    await empty.refused(400, "DELETE", f"{DEFAULT}?confirm_default_workspace_deletion=yes")
    data, _ = await empty.create()
    assert "1 active API key" in await empty.refused(400, "DELETE", DEFAULT, params=CONFIRM)
    await empty.call("DELETE", f"/keys/{data['hash']}", expect=200)
    await empty.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
    assert await empty.data("GET", "/workspaces") == []


async def test_without_a_default_workspace_one_must_be_named(empty: Bench):
    await empty.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
    for method, path, body in (("GET", "/keys", None), ("POST", "/keys", {"name": "x"})):
        message = await empty.refused(400, method, path, json=body)
        assert message.startswith("workspace_id: is required")
    made = await make(empty, slug="default")
    message = await empty.refused(400, "POST", "/keys", json={"name": "x"})
    assert message.startswith("workspace_id: "), "a slug does not make a default workspace"
    data, key = await empty.create(workspace_id=made["id"])
    assert data["workspace_id"] == made["id"]
    await empty.call("GET", "/key", token=key, expect=200)


async def test_no_ordinary_key_is_issued_where_there_is_no_default_workspace(tmp_path: Path):
    database = tmp_path / "gateway.sqlite3"
    async with bench(database, content="empty") as gate:
        await gate.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
        with pytest.raises(NoWorkspaceError, match="default workspace was deleted"):
            issue_key(database, management=False)
        token = issue_key(database, management=True)
        await gate.call("GET", "/key", token=token, expect=200)
