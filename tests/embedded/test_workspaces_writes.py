"""Workspaces: what is created, changed and deleted, and what stands in the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from gateway_kit import Bench, bench

from gwtui.contract.dialects import OPENROUTER
from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import NoWorkspaceError

UNKNOWN = "00000000-0000-4000-8000-000000000000"
DEFAULT = "/workspaces/default"
CONFIRM = {"confirm_default_workspace_deletion": "true"}


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench() as opened:
        yield opened


@pytest.fixture
async def empty() -> AsyncIterator[Bench]:
    async with bench(content="empty") as opened:
        yield opened


async def make(gate: Bench, **fields: Any) -> dict[str, Any]:
    body = {"name": "Team A", "slug": "team-a", **fields}
    made = await gate.call("POST", "/workspaces", json=body, expect=201)
    data: dict[str, Any] = made.json()["data"]
    return data


async def test_a_new_workspace_has_plain_defaults(gate: Bench):
    data = await make(gate)
    made_by = (await gate.data("GET", "/key"))["creator_user_id"]
    UUID(data.pop("id"))
    UUID(data.pop("default_guardrail_id"))
    assert data == {
        "name": "Team A",
        "slug": "team-a",
        "description": None,
        "created_at": "2026-11-21T07:00:00Z",
        "created_by": made_by,
        "updated_at": None,
        "default_image_model": None,
        "default_text_model": None,
        "default_provider_sort": None,
        "io_logging_api_key_ids": None,
        "io_logging_sampling_rate": 1.0,
        "is_data_discount_logging_enabled": False,
        "is_observability_broadcast_enabled": False,
        "is_observability_io_logging_enabled": False,
        "disabled_server_tools": None,
        "include_byok_in_budgets": False,
    }


FULL = {
    "name": "  Équipe \u2603  ",
    "slug": "9-lives",
    "description": "x" * 500,
    "default_image_model": "ampersand/canvas-xl",
    "default_text_model": "nobody/knows-this-one",
    "default_provider_sort": "exacto",
    "io_logging_api_key_ids": [3, 10**18, 3],
    "io_logging_sampling_rate": 0.0001,
    "is_data_discount_logging_enabled": True,
    "is_observability_broadcast_enabled": True,
    "is_observability_io_logging_enabled": True,
    "disabled_server_tools": ["service:shell", "service:web_search"],
}


async def test_every_field_of_a_creation_is_kept(gate: Bench):
    data = await make(gate, **FULL, id=UNKNOWN, unheard_of={"nested": [1]})
    assert {name: data[name] for name in FULL} == FULL
    assert data["id"] != UNKNOWN
    assert "unheard_of" not in data
    for name in (data["id"], data["id"].upper(), data["slug"]):
        assert await gate.data("GET", f"/workspaces/{name}") == data
    assert (await gate.data("GET", "/workspaces"))[-1] == data


async def test_every_field_can_be_changed_and_cleared(gate: Bench):
    made = await make(gate)
    gate.clock.forward(minutes=5)
    changed = await gate.data("PATCH", "/workspaces/team-a", json=FULL)
    assert changed == {**made, **FULL, "updated_at": "2026-11-21T07:05:00Z"}
    await gate.refused(404, "GET", "/workspaces/team-a")
    gate.clock.forward(minutes=5)
    nullable = (
        "description",
        "default_image_model",
        "default_text_model",
        "default_provider_sort",
        "io_logging_api_key_ids",
        "disabled_server_tools",
    )
    cleared = await gate.data("PATCH", "/workspaces/9-lives", json=dict.fromkeys(nullable))
    expected = {**changed, **dict.fromkeys(nullable), "updated_at": "2026-11-21T07:10:00Z"}
    assert cleared == expected


async def test_a_change_to_what_already_is_changes_nothing(gate: Bench):
    made = await make(gate, **FULL)
    gate.clock.forward(minutes=5)
    assert await gate.data("PATCH", f"/workspaces/{made['id']}", json=FULL) == made


async def test_no_server_tool_disabled_is_none_at_all(gate: Bench):
    made = await make(gate, disabled_server_tools=[])
    assert made["disabled_server_tools"] is None
    changed = await gate.data(
        "PATCH", "/workspaces/team-a", json={"disabled_server_tools": ["service:bash"]}
    )
    assert changed["disabled_server_tools"] == ["service:bash"]
    cleared = await gate.data("PATCH", "/workspaces/team-a", json={"disabled_server_tools": []})
    assert cleared["disabled_server_tools"] is None


async def test_no_logged_key_differs_from_every_key(gate: Bench):
    made = await make(gate, io_logging_api_key_ids=[])
    assert made["io_logging_api_key_ids"] == []


@pytest.mark.parametrize("body", [{}, {"unknown": 1}, {"id": UNKNOWN}])
async def test_a_change_of_nothing_is_400(gate: Bench, body: dict[str, Any]):
    message = await gate.refused(400, "PATCH", DEFAULT, json=body)
    assert message == "No update fields provided"


BAD = [
    ({"name": ""}, "name: must have at least 1 character"),
    ({"name": None}, "name: must be text"),
    ({"name": "x" * 101}, "name: must have at most 100 characters"),
    ({"slug": "x" * 51}, "slug: must have at most 50 characters"),
    ({"slug": ""}, "slug: must have at least 1 character"),
    ({"slug": "Team"}, "slug: must be lower-case"),
    ({"slug": "team--a"}, "slug: must be lower-case"),
    ({"slug": "team\n"}, "slug: must be lower-case"),
    ({"slug": "production"}, "slug: another workspace has it already"),
    ({"description": "x" * 501}, "description: must have at most 500 characters"),
    ({"default_provider_sort": "speed"}, "default_provider_sort: must be one of price"),
    ({"default_text_model": ""}, "default_text_model: must have at least 1 character"),
    ({"io_logging_sampling_rate": 0}, "io_logging_sampling_rate: must be from 0.0001 to 1"),
    ({"io_logging_sampling_rate": 1.1}, "io_logging_sampling_rate: must be from 0.0001 to 1"),
    ({"io_logging_sampling_rate": None}, "io_logging_sampling_rate: must be a number"),
    ({"io_logging_api_key_ids": ["4"]}, "io_logging_api_key_ids.0: must be a whole number"),
    ({"io_logging_api_key_ids": 4}, "io_logging_api_key_ids: must be a list"),
    ({"is_observability_io_logging_enabled": 1}, "is_observability_io_logging_enabled: must be"),
    ({"disabled_server_tools": [1]}, "disabled_server_tools.0: must be"),
    ({"disabled_server_tools": ["service:bash", "bash"]}, "disabled_server_tools.1: is not a"),
    ({"disabled_server_tools": ["openrouter:bash"]}, "disabled_server_tools.0: is not a server"),
    ({"disabled_server_tools": "bash"}, "disabled_server_tools: must be a list"),
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


async def test_a_slug_is_free_again_after_a_change_and_a_deletion(gate: Bench):
    await make(gate)
    await gate.call("PATCH", "/workspaces/team-a", json={"slug": "team-b"}, expect=200)
    await make(gate)
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    again = await make(gate)
    assert await gate.data("GET", "/workspaces/team-a") == again


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


async def test_a_guardrail_of_a_deleted_workspace_lets_go_of_keys_elsewhere(gate: Bench):
    home = (await make(gate))["id"]
    guardrail = await gate.data("POST", "/guardrails", json={"name": "g", "workspace_id": home})
    key, token = await gate.create()
    path = f"/guardrails/{guardrail['id']}/assignments/keys"
    await gate.call("POST", path, json={"key_hashes": [key["hash"]]}, expect=200)
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    await gate.call("GET", "/key", token=token, expect=200)
    assert await gate.data("GET", f"/keys/{key['hash']}") == key


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


async def test_confirming_does_no_harm_elsewhere(gate: Bench):
    await make(gate)
    await gate.call("DELETE", "/workspaces/team-a", params=CONFIRM, expect=200)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/workspaces/nobody", {"name": "x"}),
        ("DELETE", "/workspaces/nobody", None),
        ("DELETE", f"/workspaces/{UNKNOWN}", None),
    ],
)
async def test_an_unknown_workspace_is_404(gate: Bench, method: str, path: str, body: Any):
    await gate.refused(404, method, path, json=body)


async def test_the_other_dialect_names_server_tools_its_way():
    async with bench(dialect=OPENROUTER) as gate:
        assert (await gate.data("GET", "/workspaces/production"))["disabled_server_tools"] == [
            "openrouter:bash",
            "openrouter:shell",
        ]
        made = await make(gate, disabled_server_tools=["openrouter:web_fetch"])
        assert made["disabled_server_tools"] == ["openrouter:web_fetch"]
        changed = await gate.data(
            "PATCH", "/workspaces/team-a", json={"disabled_server_tools": ["openrouter:fusion"]}
        )
        assert changed["disabled_server_tools"] == ["openrouter:fusion"]


async def test_no_ordinary_key_is_issued_where_there_is_no_default_workspace(tmp_path: Path):
    database = tmp_path / "gateway.sqlite3"
    async with bench(database, content="empty") as gate:
        await gate.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
        with pytest.raises(NoWorkspaceError, match="default workspace was deleted"):
            issue_key(database, management=False)
        token = issue_key(database, management=True)
        await gate.call("GET", "/key", token=token, expect=200)
