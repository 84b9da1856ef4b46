"""The guardrails and credentials of a simulated account, new or of an earlier version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import START, Bench, bench

from gwtui.contract.byok import CreateByokRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, guardrail_problems
from gwtui.embedded.simulator.build import build_world
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.world import World


@cache
def world() -> World:
    return build_world(1, START)


@cache
def providers() -> set[str]:
    return {str(provider["slug"]) for provider in build_catalog(1).providers}


async def of_every_workspace(gate: Bench, path: str) -> list[dict[str, Any]]:
    spaces = await gate.data("GET", "/workspaces")
    return [
        item
        for space in spaces
        for item in await gate.data("GET", f"{path}?workspace_id={space['id']}")
    ]


async def everything(gate: Bench) -> list[Any]:
    return [
        await of_every_workspace(gate, "/guardrails"),
        await of_every_workspace(gate, "/byok"),
        await gate.data("GET", "/guardrails/assignments/keys?limit=100"),
        await gate.data("GET", "/guardrails/assignments/members?limit=100"),
    ]


def test_the_seeds_keep_the_contract_in_either_dialect():
    for seed in world().guardrails:
        given = {name: list(v) if isinstance(v, tuple) else v for name, v in seed.settings.items()}
        body = {"name": seed.name, "workspace_id": seed.workspace_id, **given}
        request = CreateGuardrailRequest.model_validate(body, extra="ignore")
        for dialect in (GENERIC, OPENROUTER):
            assert guardrail_problems(request, dialect) == []
    for credential in world().credentials:
        terms = credential.terms.items()
        given = {name: list(v) if isinstance(v, tuple) else v for name, v in terms}
        CreateByokRequest.model_validate({"provider": credential.provider, "key": "x", **given})
        assert credential.provider in providers()


def test_every_reference_leads_somewhere():
    hashes = {key.hash for key in world().keys}
    users = {user.id for user in world().users}
    bound = [key_hash for seed in world().guardrails for key_hash in seed.key_hashes]
    people = [user for seed in world().guardrails for user in seed.user_ids]
    assert set(bound) <= hashes
    assert set(people) <= users
    assert len(bound) == len(set(bound)) >= 12, "one guardrail each"
    assert len(people) == len(set(people)) >= 3
    for credential in world().credentials:
        assert set(credential.terms["allowed_api_key_hashes"] or ()) <= hashes
        assert set(credential.terms["allowed_user_ids"] or ()) <= users


def test_nothing_was_made_before_its_workspace_or_after_today():
    born = {space.id: space.created_at for space in world().workspaces}
    for item in (*world().guardrails, *world().credentials):
        assert born[item.workspace_id] < item.created_at < START
    for guardrail in world().guardrails:
        for moment in (guardrail.updated_at, guardrail.assigned_at):
            assert moment is None or guardrail.created_at < moment < START


def test_every_kind_is_there():
    kinds = {name for seed in world().guardrails for name in seed.settings}
    assert kinds >= {
        "allowed_models",
        "ignored_models",
        "allowed_providers",
        "ignored_providers",
        "limit_usd",
        "enforce_zdr",
        "enforce_zdr_other",
        "content_filters",
        "content_filter_builtins",
    }
    assert any(not seed.settings for seed in world().guardrails)
    assert any(not seed.key_hashes and not seed.user_ids for seed in world().guardrails)
    terms = [seed.terms for seed in world().credentials]
    for wanted in (
        {"is_fallback": True},
        {"disabled": True},
        {"is_required": True},
        {"is_byok_only": True},
        {"allowed_user_ids": ()},
        {"name": None},
        {"declared_region": "europe"},
    ):
        assert any(wanted.items() <= each.items() for each in terms), wanted


@pytest.mark.parametrize("dialect", [GENERIC, OPENROUTER], ids=["generic", "openrouter"])
async def test_the_gateway_answers_with_them(dialect: Any):
    async with bench(dialect=dialect) as gate:
        rails, credentials, by_key, by_member = await everything(gate)
        assert {rail["id"] for rail in rails} == {seed.id for seed in world().guardrails}
        assert {one["id"] for one in credentials} == {seed.id for seed in world().credentials}
        assert len(by_key) == sum(len(seed.key_hashes) for seed in world().guardrails)
        assert len(by_member) == sum(len(seed.user_ids) for seed in world().guardrails)
        canonical = {
            model["canonical_slug"]
            for model in await gate.data("GET", "/models?output_modalities=all")
        }
        named = {model for rail in rails for model in rail["allowed_models"] or ()}
        assert named <= canonical
        production = await gate.data("GET", "/workspaces/production")
        default = await gate.data("GET", f"/guardrails/{production['default_guardrail_id']}")
        assert default["name"] == f"Workspace {production['id']} Default"
        for credential in credentials:
            path = f"/byok/{credential['id']}"
            rotated = await gate.data("PATCH", path, json={"key": "a-key-that-does-exist-0042"})
            assert rotated["label"] == "a-k...0042"


async def test_an_empty_account_has_none():
    async with bench(content="empty") as gate:
        assert await everything(gate) == [[], [], [], []]


async def test_a_database_of_an_earlier_version_gains_them_once(tmp_path: Path):
    database = tmp_path / "gateway.sqlite3"
    async with bench(database) as gate:
        expected = await everything(gate)
    with closing(sqlite3.connect(database)) as db, db:
        for table in ("guardrail_keys", "guardrail_members", "guardrails", "byok_credentials"):
            db.execute(f"DELETE FROM {table}")  # noqa: S608 - names stand above
        db.execute("DELETE FROM settings WHERE name IN (?, ?)", FURNISHED)
        (lost,) = db.execute("SELECT hash FROM api_keys WHERE name = 'red-team'").fetchone()
        db.execute("DELETE FROM api_keys WHERE hash = ?", (lost,))
    async with bench(database) as gate:
        rails, credentials, by_key, by_member = await everything(gate)
        assert rails == expected[0]
        assert credentials == expected[1]
        kept = [plain(item) for item in expected[2] if item["key_hash"] != lost]
        assert [plain(item) for item in by_key] == kept, "but for the key that is no more"
        assert [plain(item) for item in by_member] == [plain(item) for item in expected[3]]
        for rail in rails:
            await gate.call("DELETE", f"/guardrails/{rail['id']}", expect=200)
        for one in credentials:
            await gate.call("DELETE", f"/byok/{one['id']}", expect=200)
    async with bench(database) as gate:
        assert await everything(gate) == [[], [], [], []], "what was deleted stays away"


FURNISHED = ("furnished guardrails", "furnished credentials")


def plain(assignment: dict[str, Any]) -> dict[str, Any]:
    """An assignment without its own id, which is drawn by lot."""
    assert datetime.fromisoformat(assignment["created_at"]) < START
    return {name: value for name, value in assignment.items() if name != "id"}
