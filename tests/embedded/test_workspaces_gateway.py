"""Workspaces and their members, and the organization that they belong to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import GatewayHarness, gateway_harness

from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import NoWorkspaceError
from gwtui.embedded.store import account

DEFAULT = "/workspaces/default"
CONFIRM = {"confirm_default_workspace_deletion": "true"}


CONTENT = "simulated"


@pytest.fixture
async def empty() -> AsyncIterator[GatewayHarness]:
    async with gateway_harness(content="empty") as opened:
        yield opened


async def make(gate: GatewayHarness, **fields: Any) -> dict[str, Any]:
    body = {"name": "Team A", "slug": "team-a", **fields}
    return dict(await gate.data("POST", "/workspaces", json=body))


async def test_no_server_tool_disabled_is_none_at_all(gate: GatewayHarness):
    created = await make(gate, disabled_server_tools=[])
    assert created["disabled_server_tools"] is None
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


@pytest.mark.parametrize(("fields", "message_start"), BAD)
async def test_a_bad_field_is_400_named_and_changes_nothing(
    gate: GatewayHarness, fields: dict[str, Any], message_start: str
):
    before = await gate.data("GET", "/workspaces")
    good = {"name": "good", "slug": "good", "description": "good"}
    for method, path in (("POST", "/workspaces"), ("PATCH", "/workspaces/research")):
        message = await gate.refused(400, method, path, json={**good, **fields})
        assert message.startswith(message_start)
    assert await gate.data("GET", "/workspaces") == before


async def test_a_slug_may_not_read_like_the_id_of_another_workspace(gate: GatewayHarness):
    """In paths it would name that workspace, so a deletion would hit the wrong one."""
    created = await make(gate)
    body = {"name": "b", "slug": created["id"]}
    assert "slug: " in await gate.refused(400, "POST", "/workspaces", json=body)
    renamed = await gate.data("PATCH", f"/workspaces/{created['id']}", json={"slug": created["id"]})
    assert renamed["slug"] == renamed["id"]


async def test_concurrent_creations_of_a_slug_give_one_workspace(gate: GatewayHarness):
    body = {"name": "x", "slug": "race"}
    answers = await asyncio.gather(*(gate.call("POST", "/workspaces", json=body) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7
    slugs = [workspace["slug"] for workspace in await gate.data("GET", "/workspaces")]
    assert slugs.count("race") == 1


async def test_a_workspace_with_active_keys_stays(gate: GatewayHarness):
    created = await make(gate)
    lasting, _ = await gate.create(workspace_id=created["id"])
    expiring, _ = await gate.create(workspace_id=created["id"], expires_at="2026-11-21T08:00:00Z")
    message = await gate.refused(400, "DELETE", "/workspaces/team-a")
    assert "2 active API keys" in message
    gate.clock.forward(hours=1)
    assert "1 active API key:" in await gate.refused(400, "DELETE", "/workspaces/team-a")
    await gate.call("PATCH", f"/keys/{lasting['hash']}", json={"disabled": True}, expect=200)
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    await gate.refused(404, "GET", f"/keys/{expiring['hash']}")


async def test_usage_of_deleted_keys_stays(gate: GatewayHarness):
    research = await gate.data("GET", "/workspaces/research")
    query = {"workspace_id": research["id"], "include_disabled": "true"}
    used = 0.0
    for key in await gate.data("GET", "/keys", params=query):
        used += key["usage"]
        await gate.call("PATCH", f"/keys/{key['hash']}", json={"disabled": True}, expect=200)
    before = await gate.data("GET", "/credits")
    await gate.call("DELETE", "/workspaces/research", expect=200)
    assert await gate.data("GET", "/credits") == before
    assert before["total_usage"] > used > 0


async def test_a_deleted_workspace_takes_everything_inside_along(gate: GatewayHarness):
    people = [member["id"] for member in await gate.data("GET", "/organization/members")]
    created = await make(gate)
    home = {"workspace_id": created["id"]}
    key, _ = await gate.create(**home)
    default = f"/guardrails/{created['default_guardrail_id']}"
    guardrail = f"/guardrails/{await gate.guard(keys=[key['hash']], **home)}"
    provider_key = {"provider": "northwind", "key": "sk-1", **home}
    credential = await gate.data("POST", "/byok", json=provider_key)
    for method, path, body in (
        ("POST", "/workspaces/team-a/members/add", {"user_ids": people}),
        ("PUT", "/workspaces/team-a/budgets/daily", {"limit_usd": 5}),
        ("PATCH", default, {"description": "all"}),
        ("PATCH", f"/keys/{key['hash']}", {"disabled": True}),
    ):
        await gate.call(method, path, json=body, expect=200)
    await gate.call("DELETE", "/workspaces/team-a", expect=200)
    for path in (
        *(f"/workspaces/team-a/{inside}" for inside in ("members", "budgets", "budgets/daily")),
        *(guardrail, default),
        *(f"/byok/{credential['id']}", f"/keys/{key['hash']}"),
    ):
        await gate.refused(404, "GET", path)
    everywhere = await gate.data("GET", "/guardrails/assignments/keys?limit=100")
    assert key["hash"] not in {row["key_hash"] for row in everywhere}
    await gate.refused(404, "PATCH", default, json={"name": "x"})
    await make(gate)
    assert await gate.data("GET", "/workspaces/team-a/members") == []
    assert await gate.data("GET", "/workspaces/team-a/budgets") == []
    assert len(await gate.data("GET", "/organization/members")) == len(people)


async def test_the_default_workspace_goes_only_when_that_is_confirmed(empty: GatewayHarness):
    for query in ({}, {"confirm_default_workspace_deletion": "false"}):
        message = await empty.refused(400, "DELETE", DEFAULT, params=query)
        assert message.startswith("confirm_default_workspace_deletion: ")
    await empty.refused(400, "DELETE", f"{DEFAULT}?confirm_default_workspace_deletion=yes")
    data, _ = await empty.create()
    assert "1 active API key" in await empty.refused(400, "DELETE", DEFAULT, params=CONFIRM)
    await empty.call("DELETE", f"/keys/{data['hash']}", expect=200)
    await empty.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
    assert await empty.data("GET", "/workspaces") == []


async def test_without_a_default_workspace_it_is_required(empty: GatewayHarness):
    await empty.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
    for method, path, body in (("GET", "/keys", None), ("POST", "/keys", {"name": "x"})):
        message = await empty.refused(400, method, path, json=body)
        assert message.startswith("workspace_id: is required")
    created = await make(empty, slug="default")
    message = await empty.refused(400, "POST", "/keys", json={"name": "x"})
    assert message.startswith("workspace_id: "), "a slug does not make a default workspace"
    data, key = await empty.create(workspace_id=created["id"])
    assert data["workspace_id"] == created["id"]
    await empty.call("GET", "/key", token=key, expect=200)


async def test_no_ordinary_key_is_issued_where_there_is_no_default_workspace(tmp_path: Path):
    database = tmp_path / "gateway.sqlite3"
    async with gateway_harness(database, content="empty") as gate:
        await gate.call("DELETE", DEFAULT, params=CONFIRM, expect=200)
        with pytest.raises(NoWorkspaceError, match="default workspace was deleted"):
            issue_key(database, management=False)
        token = issue_key(database, management=True)
        await gate.call("GET", "/key", token=token, expect=200)


# Members ------------------------------------------------------------------------------------------


MOMENT = "2026-11-21T07:00:00Z"


@dataclass
class Home:
    """A workspace without members, and the user ids of the organization."""

    gate: GatewayHarness
    id: str
    people: list[str]
    path: str = "/workspaces/home/members"

    async def change(self, action: str, *users: str) -> Any:
        body = {"user_ids": list(users), "unheard_of": 1}
        return (await self.gate.call("POST", f"{self.path}/{action}", json=body, expect=200)).json()

    async def refused(self, action: str, *users: str) -> str:
        body = {"user_ids": list(users)}
        return await self.gate.refused(400, "POST", f"{self.path}/{action}", json=body)

    async def members(self) -> list[str]:
        return [row["user_id"] for row in await self.gate.data("GET", self.path)]


@pytest.fixture
async def home(gate: GatewayHarness) -> Home:
    created = await gate.data("POST", "/workspaces", json={"name": "Home", "slug": "home"})
    people = await gate.data("GET", "/organization/members")
    return Home(gate, created["id"], [person["id"] for person in people])


async def test_members_are_added_once_with_the_role_that_they_have(home: Home):
    first, second, *_ = home.people
    before = (await home.change("add", first))["data"]
    home.gate.clock.forward(minutes=1)
    again = await home.change("add", second, first, second)
    assert again["added_count"] == 2
    assert [row["user_id"] for row in again["data"]] == [second, first]
    assert again["data"][1] == before[0]
    assert (before[0]["workspace_id"], before[0]["created_at"]) == (home.id, MOMENT)
    full_list = await home.change("add", *home.people)
    roles = {"org:admin": "admin", "org:member": "member"}
    organization = await home.gate.data("GET", "/organization/members")
    assert [row["role"] for row in full_list["data"]] == [
        roles[row["role"]] for row in organization
    ]
    assert await home.gate.data("GET", home.path) == full_list["data"]


async def test_unknown_members_are_named_and_nobody_is_added(home: Home):
    message = await home.refused("add", "user_nobody", home.people[0], "a\x1b[31m", "user_nobody")
    assert message == "user_ids: not members of the organization: user_nobody, a\x1b[31m"
    message = await home.refused("add", *(f"{number}{'x' * 5000}" for number in range(100)))
    assert message.endswith(" and 90 more")
    assert len(message) < 1200
    assert await home.members() == []


async def test_members_are_removed_and_counted(home: Home):
    first, second, third, *_ = home.people
    await home.change("add", first, second)
    for count in (1, 0):
        removed = await home.change("remove", second, third, "user_nobody", second)
        assert removed == {"removed_count": count}
        assert await home.members() == [first]


async def test_nobody_is_removed_while_one_has_an_active_key(home: Home):
    first, second, third, *_ = home.people
    await home.change("add", first, second)
    soon = "2026-11-21T07:30:00Z"
    await home.gate.create(creator_user_id=second, workspace_id=home.id, expires_at=soon)
    await home.gate.create(creator_user_id=third, workspace_id=home.id)
    await home.gate.create(creator_user_id=second)
    home.gate.clock.forward(minutes=30)
    key, _ = await home.gate.create(creator_user_id=first, workspace_id=home.id)
    message = await home.refused("remove", second, first, third)
    assert message == f"user_ids: still have active API keys in the workspace: {first}"
    assert await home.members() == [first, second]
    await home.gate.call("PATCH", f"/keys/{key['hash']}", json={"disabled": True}, expect=200)
    assert await home.change("remove", second, first, third) == {"removed_count": 2}


async def test_the_default_workspace_contains_everybody(home: Home):
    default = Home(home.gate, home.id, home.people, "/workspaces/default/members")
    full_list = (await home.gate.call("GET", default.path)).json()
    assert [row["user_id"] for row in full_list["data"]] == home.people
    assert (
        len({row["id"] for row in full_list["data"]})
        == full_list["total_count"]
        == len(home.people)
    )
    added = await default.change("add", home.people[0])
    assert added == {"added_count": 1, "data": full_list["data"][:1]}
    assert "nobody can be removed" in await default.refused("remove", home.people[0])
    assert "user_nobody" in await default.refused("add", "user_nobody")
    assert (await home.gate.call("GET", default.path)).json() == full_list


# The organization ---------------------------------------------------------------------------------


PEOPLE = "/organization/members"
SETTINGS = "/organization/settings"
FILTERED = "is_filtered_model_catalog_enabled"


async def test_settings_are_read_and_changed(gate: GatewayHarness):
    before = await gate.data("GET", SETTINGS)
    assert before[FILTERED] is False
    assert before["id"] == (await gate.data("GET", "/key"))["organization_id"]
    for item in (True, True, False):
        body = {FILTERED: item, "id": "org_other", "unheard_of": {}}
        changed = await gate.data("PATCH", SETTINGS, json=body)
        assert changed == {"id": before["id"], FILTERED: item}
        assert await gate.data("GET", SETTINGS) == changed


async def test_an_account_without_an_organization_is_404(gate: GatewayHarness):
    """Such accounts exist at other gateways; this one founds none."""
    with gate.gateway.database.write() as db:
        account.change(db, organization_id=None)
    for method, path, body in (
        ("GET", PEOPLE, None),
        ("GET", SETTINGS, None),
        ("PATCH", SETTINGS, {FILTERED: True}),
    ):
        await gate.refused(404, method, path, json=body)
