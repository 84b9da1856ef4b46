"""The organization and the members of workspaces: who is listed, added and may not be removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from gateway_kit import Bench

from gwtui.embedded.store import account

MOMENT = "2026-11-21T07:00:00Z"


@dataclass
class Home:
    """A workspace that nobody is in yet, and the identifiers of the organization's people."""

    gate: Bench
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
        return [one["user_id"] for one in await self.gate.data("GET", self.path)]


@pytest.fixture
async def home(gate: Bench) -> Home:
    made = await gate.data("POST", "/workspaces", json={"name": "Home", "slug": "home"})
    people = await gate.data("GET", "/organization/members")
    return Home(gate, made["id"], [one["id"] for one in people])


async def test_members_are_added_once_with_the_role_that_they_have(home: Home):
    first, second, *_ = home.people
    before = (await home.change("add", first))["data"]
    home.gate.clock.forward(minutes=1)
    again = await home.change("add", second, first, second)
    assert again["added_count"] == 2
    assert [one["user_id"] for one in again["data"]] == [second, first]
    assert again["data"][1] == before[0]
    assert (before[0]["workspace_id"], before[0]["created_at"]) == (home.id, MOMENT)
    whole = await home.change("add", *home.people)
    roles = {"org:admin": "admin", "org:member": "member"}
    organization = await home.gate.data("GET", "/organization/members")
    assert [one["role"] for one in whole["data"]] == [roles[one["role"]] for one in organization]
    assert await home.gate.data("GET", home.path) == whole["data"]


async def test_strangers_are_named_within_reason_and_nobody_is_added(home: Home):
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


async def test_everybody_is_in_the_default_workspace_and_nobody_leaves_it(home: Home):
    default = Home(home.gate, home.id, home.people, "/workspaces/default/members")
    whole = (await home.gate.call("GET", default.path)).json()
    assert [one["user_id"] for one in whole["data"]] == home.people
    assert len({one["id"] for one in whole["data"]}) == whole["total_count"] == len(home.people)
    added = await default.change("add", home.people[0])
    assert added == {"added_count": 1, "data": whole["data"][:1]}
    assert "nobody can be removed" in await default.refused("remove", home.people[0])
    assert "user_nobody" in await default.refused("add", "user_nobody")
    assert (await home.gate.call("GET", default.path)).json() == whole


# The organization ---------------------------------------------------------------------------------


PEOPLE = "/organization/members"
SETTINGS = "/organization/settings"
FILTERED = "is_filtered_model_catalog_enabled"


async def test_settings_are_read_and_changed(gate: Bench):
    before = await gate.data("GET", SETTINGS)
    assert before[FILTERED] is False
    assert before["id"] == (await gate.data("GET", "/key"))["organization_id"]
    for wanted in (True, True, False):
        body = {FILTERED: wanted, "id": "org_other", "unheard_of": {}}
        changed = await gate.data("PATCH", SETTINGS, json=body)
        assert changed == {"id": before["id"], FILTERED: wanted}
        assert await gate.data("GET", SETTINGS) == changed


async def test_an_account_without_an_organization_is_404(gate: Bench):
    """Such accounts exist at other gateways; this one founds none."""
    with gate.gateway._database.write() as db:
        account.change(db, organization_id=None)
    for method, path, body in (
        ("GET", PEOPLE, None),
        ("GET", SETTINGS, None),
        ("PATCH", SETTINGS, {FILTERED: True}),
    ):
        await gate.refused(404, method, path, json=body)
