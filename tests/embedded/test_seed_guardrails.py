"""The guardrails and credentials of a simulated account on its first day."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from gateway_kit import START, Bench, bench

from gateway_facts import world
from gwtui.contract.byok import CreateByokRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, guardrail_problems
from gwtui.embedded.simulator.catalog import build_catalog


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
    for guardrail in world(1, START).guardrails:
        body = {name: value for name, value in guardrail.raw.items() if value is not None}
        request = CreateGuardrailRequest.model_validate(body, extra="ignore")
        for dialect in (GENERIC, OPENROUTER):
            assert guardrail_problems(request, dialect) == []
    for credential in world(1, START).credentials:
        CreateByokRequest.model_validate({**credential.raw, "key": "x"}, extra="ignore")
        assert credential.provider in providers()


def test_every_kind_is_there():
    settings = [
        {name for name, value in one.raw.items() if value not in (None, False)}
        for one in world(1, START).guardrails
    ]
    kinds = set().union(*settings)
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
    plain_fields = {"id", "name", "workspace_id", "created_at", "updated_at"}
    assert any(names <= plain_fields for names in settings)
    binding = {one.guardrail_id for one in world(1, START).key_assignments}
    binding |= {one.guardrail_id for one in world(1, START).member_assignments}
    assert any(one.id not in binding for one in world(1, START).guardrails)
    terms = [one.raw for one in world(1, START).credentials]
    for wanted in (
        {"is_fallback": True},
        {"disabled": True},
        {"is_required": True},
        {"is_byok_only": True},
        {"allowed_user_ids": []},
        {"name": None},
        {"declared_region": "europe"},
    ):
        assert any(wanted.items() <= each.items() for each in terms), wanted


@pytest.mark.parametrize("dialect", [GENERIC, OPENROUTER], ids=["generic", "openrouter"])
async def test_the_gateway_answers_with_them(dialect: Any):
    async with bench(dialect=dialect) as gate:
        rails, credentials, by_key, by_member = await everything(gate)
        assert {rail["id"] for rail in rails} == {seed.id for seed in world(1, START).guardrails}
        assert {one["id"] for one in credentials} == {
            seed.id for seed in world(1, START).credentials
        }
        assert len(by_key) == len(world(1, START).key_assignments)
        assert len(by_member) == len(world(1, START).member_assignments)
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
