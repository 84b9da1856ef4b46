"""Guardrails: what is created, read, changed and deleted, and which rules hold in which dialect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from gateway_kit import Bench, bench

from gwtui.contract.content_filters import BUILTIN_LABELS, BUILTIN_SLUGS
from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.contract.guardrails import legal_actions

UNKNOWN = "00000000-0000-4000-8000-000000000000"
MODEL, CANONICAL = "northwind/atlas-large", "northwind/atlas-large-"


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench(content="empty") as opened:
        yield opened


@pytest.fixture
async def live() -> AsyncIterator[Bench]:
    async with bench(content="empty", dialect=OPENROUTER) as opened:
        yield opened


async def made(gate: Bench, **fields: Any) -> dict[str, Any]:
    body = {"name": "test", **fields}
    response = await gate.call("POST", "/guardrails", json=body, expect=201)
    data: dict[str, Any] = response.json()["data"]
    return data


async def refusal(gate: Bench, **fields: Any) -> str:
    before = await gate.data("GET", "/guardrails")
    message = await gate.refused(400, "POST", "/guardrails", json={"name": "test", **fields})
    assert await gate.data("GET", "/guardrails") == before
    return message


async def canonical(gate: Bench, model: str) -> str:
    return str((await gate.data("GET", f"/model/{model}"))["canonical_slug"])


async def test_a_bare_guardrail_restricts_nothing(gate: Bench):
    data = await made(gate, name="  Küche 厨房 ")
    workspace = await gate.data("GET", "/workspaces/default")
    assert data["name"] == "  Küche 厨房 "
    assert data["workspace_id"] == workspace["id"]
    assert data["created_at"] == "2026-11-21T07:00:00Z"
    assert data["include_byok_in_budgets"] is False
    others = set(data) - {"id", "name", "workspace_id", "created_at", "include_byok_in_budgets"}
    assert {data[name] for name in others} == {None}
    assert await gate.data("GET", f"/guardrails/{data['id']}") == data
    assert await gate.data("GET", f"/guardrails/{data['id'].upper()}") == data
    assert await gate.data("GET", "/guardrails") == [data]


async def test_every_field_of_a_creation_is_kept(gate: Bench):
    sent = {
        "name": "strict",
        "description": "d" * 1000,
        "allowed_models": ["tessera/unheard-of"],
        "allowed_providers": ["northwind", "nobody"],
        "ignored_models": ["x/y"],
        "ignored_providers": ["quasar"],
        "limit_usd": 12.5,
        "reset_interval": "weekly",
        "include_byok_in_budgets": True,
        "enforce_zdr_vendor_a": True,
        "enforce_zdr_vendor_b": False,
        "enforce_zdr_vendor_c": None,
        "enforce_zdr_other": True,
        "content_filters": [{"pattern": r"\bACME-\d{4}\b", "action": "redact", "label": "[ID]"}],
        "content_filter_builtins": [
            {"slug": "email", "action": "redact", "label": "[EMAIL]"},
            {
                "slug": "regex-prompt-injection",
                "action": "flag",
                "scan_scope": "user_only",
            },
        ],
    }
    data = await made(gate, **sent, surprise=1)
    assert {name: data[name] for name in sent} == sent
    assert "surprise" not in data


async def test_models_come_back_as_canonical_slugs(gate: Bench):
    lasting = await canonical(gate, MODEL)
    assert lasting.startswith(CANONICAL)
    data = await made(
        gate, allowed_models=[MODEL, "no/such-model", lasting], ignored_models=[MODEL]
    )
    assert data["allowed_models"] == [lasting, "no/such-model"], "one model is one entry"
    assert data["ignored_models"] == [lasting]
    changed = await gate.data(
        "PATCH", f"/guardrails/{data['id']}", json={"ignored_models": ["tessera/vector-3"]}
    )
    assert changed["ignored_models"] == [await canonical(gate, "tessera/vector-3")]
    assert changed["allowed_models"] == data["allowed_models"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": ""}, "name: must have at least 1 character"),
        ({"name": "x" * 201}, "name: must have at most 200 characters"),
        ({"description": "x" * 1001}, "description: must have at most 1000 characters"),
        ({"allowed_models": []}, "allowed_models: must have at least 1 entry"),
        ({"ignored_models": []}, "ignored_models: must have at least 1 entry"),
        ({"allowed_providers": []}, "allowed_providers: must have at least 1 entry"),
        ({"ignored_providers": []}, "ignored_providers: must have at least 1 entry"),
        ({"allowed_models": [""]}, "allowed_models.0: must have at least 1 character"),
        ({"allowed_models": "x"}, "allowed_models: must be a list"),
        ({"limit_usd": -1}, "limit_usd: must not be negative"),
        ({"reset_interval": "hourly"}, "reset_interval: must be one of"),
        ({"enforce_zdr": "yes"}, "enforce_zdr: must be true or false"),
        ({"workspace_id": "default"}, "workspace_id: must be a UUID"),
        ({"workspace_id": UNKNOWN}, "workspace_id: there is no such workspace"),
        (
            {"content_filter_builtins": [{"slug": "iban", "action": "block"}]},
            "content_filter_builtins.0.slug: must be one of",
        ),
        (
            {"content_filter_builtins": [{"slug": "email", "action": "shout"}]},
            "content_filter_builtins.0.action: must be one of",
        ),
        (
            {"content_filters": [{"pattern": "", "action": "block"}]},
            "content_filters.0.pattern: must have at least 1 character",
        ),
        (
            {"content_filters": [{"pattern": "a", "action": "block", "label": "x" * 101}]},
            "content_filters.0.label: must have at most 100 characters",
        ),
        ({"content_filters": [{"action": "block"}]}, "content_filters.0.pattern: is required"),
    ],
)
async def test_a_bad_field_is_400_and_named(gate: Bench, fields: dict[str, Any], named: str):
    assert (await refusal(gate, **fields)).startswith(named)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(unclosed", "is not a valid regular expression"),
        ("(a+)+$", "must not repeat a repetition"),
        ("(?=x)y", "must not look ahead or behind"),
        (r"(a)\1", "must not refer back to a group"),
    ],
)
async def test_a_dangerous_pattern_is_refused_by_its_name(gate: Bench, pattern: str, why: str):
    filters = [{"pattern": "fine", "action": "block"}, {"pattern": pattern, "action": "block"}]
    data = await made(gate)
    for method, path in (("POST", "/guardrails"), ("PATCH", f"/guardrails/{data['id']}")):
        response = await gate.call(
            method, path, json={"name": "x", "content_filters": filters}, expect=400
        )
        error = response.json()["error"]
        assert error["message"].startswith(f"content_filters.1.pattern: {why}")
        assert error["metadata"] == {"error_type": "invalid_regex_pattern"}
    assert await gate.data("GET", "/guardrails") == [data]


@pytest.mark.parametrize("dialect", [GENERIC, OPENROUTER], ids=["generic", "openrouter"])
async def test_which_actions_are_legal_is_the_dialects_rule(dialect: Dialect):
    async with bench(content="empty", dialect=dialect) as gate:
        for slug in (*BUILTIN_SLUGS, None):
            field = "content_filter_builtins" if slug else "content_filters"
            which = {"slug": slug} if slug else {"pattern": "a"}
            for action in ("block", "redact", "flag"):
                body = {"name": "x", field: [{**which, "action": action}]}
                legal = action in legal_actions(slug, dialect)
                response = await gate.call(
                    "POST", "/guardrails", json=body, expect=201 if legal else 400
                )
                if not legal:
                    message = response.json()["error"]["message"]
                    assert message.startswith(f"{field}.0.action: ")
                    assert action == "flag"
                    assert dialect is GENERIC


async def test_labels_of_personal_data_are_the_gateways_own(gate: Bench):
    asked = [{"slug": slug, "action": "redact", "label": "mine"} for slug in BUILTIN_SLUGS]
    asked = [item for item in asked if item["slug"] != "regex-prompt-injection"]
    data = await made(gate, content_filter_builtins=asked)
    labels = {item["slug"]: item.get("label") for item in data["content_filter_builtins"]}
    assert labels == {**BUILTIN_LABELS, "secrets": None}
    assert labels["credit-card"] == "[CREDIT_CARD]"


async def test_the_scan_scope_belongs_to_prompt_injection(gate: Bench):
    asked = [
        {"slug": "regex-prompt-injection", "action": "block"},
        {"slug": "email", "action": "block", "scan_scope": "user_only"},
    ]
    injection, email = (await made(gate, content_filter_builtins=asked))["content_filter_builtins"]
    assert injection["scan_scope"] == "all_messages"
    assert "scan_scope" not in email


async def test_the_deprecated_switch_is_copied_where_nothing_was_said(gate: Bench):
    data = await made(gate, enforce_zdr=True, enforce_zdr_vendor_b=False, enforce_zdr_vendor_c=None)
    assert zdr(data) == {"vendor_a": True, "vendor_b": False, "vendor_c": None, "other": True}
    assert data["enforce_zdr"] is True
    path = f"/guardrails/{data['id']}"
    changed = await gate.data("PATCH", path, json={"enforce_zdr": False, "enforce_zdr_other": True})
    assert zdr(changed) == {"vendor_a": False, "vendor_b": False, "vendor_c": False, "other": True}
    cleared = await gate.data("PATCH", path, json={"enforce_zdr": None})
    assert cleared["enforce_zdr"] is None
    assert zdr(cleared) == zdr(changed), "null says nothing about the vendors"


async def test_the_live_services_vendors_are_named_and_one_more(live: Bench):
    data = await made(live, enforce_zdr=True, enforce_zdr_openai=False)
    assert zdr(data) == {
        "anthropic": True,
        "openai": False,
        "google": True,
        "xai": True,
        "other": True,
    }
    data = await made(live, enforce_zdr=True, enforce_zdr_xai=False)
    assert zdr(data)["xai"] is False


async def test_fields_of_the_other_service_are_ignored_by_the_reference(gate: Bench, live: Bench):
    newer = {
        "enforce_zdr_xai": True,
        "enable_free_model_publication": True,
        "enable_free_model_training": False,
        "enable_paid_model_training": True,
        "allow_safety_retention_google": False,
        "allow_safety_retention_other": True,
        "allowed_data_regions": ["europe"],
    }
    assert not set(newer) & set(await made(gate, **newer))
    data = await made(live, **newer)
    assert {name: data[name] for name in newer} == newer
    schemas = gate.document["components"]["schemas"]
    for name in ("Guardrail", "CreateGuardrailRequest", "UpdateGuardrailRequest"):
        assert not set(newer) & set(schemas[name]["properties"])
        assert set(newer) <= set(live.document["components"]["schemas"][name]["properties"])


async def test_limit_and_interval_belong_together_in_the_live_service(gate: Bench, live: Bench):
    assert (await made(gate, limit_usd=5))["reset_interval"] is None
    for fields, lacking in (
        ({"limit_usd": 5}, "reset_interval"),
        ({"reset_interval": "daily"}, "limit_usd"),
    ):
        assert (await refusal(live, **fields)).startswith(f"{lacking}: ")
    data = await made(live, limit_usd=5, reset_interval="daily")
    changed = await live.data("PATCH", f"/guardrails/{data['id']}", json={"limit_usd": 7})
    assert (changed["limit_usd"], changed["reset_interval"]) == (7, "daily")


async def test_a_change_touches_what_it_names_and_null_clears(gate: Bench):
    data = await made(gate, description="old", allowed_models=[MODEL], limit_usd=5)
    path = f"/guardrails/{data['id']}"
    gate.clock.forward(minutes=1)
    same = await gate.data("PATCH", path, json={"description": "old", "limit_usd": 5.0})
    assert same == data, "nothing differs, so nothing was updated"
    assert await gate.data("PATCH", path, json={}) == data
    changed = await gate.data("PATCH", path, json={"description": None, "allowed_models": None})
    expected = {"description": None, "allowed_models": None, "updated_at": "2026-11-21T07:01:00Z"}
    assert changed == {**data, **expected}
    await gate.refused(400, "PATCH", path, json={"name": ""})
    assert await gate.data("GET", path) == changed


async def test_a_deleted_guardrail_is_gone(gate: Bench):
    data = await made(gate)
    path = f"/guardrails/{data['id']}"
    response = await gate.call("DELETE", path, expect=200)
    assert response.json() == {"deleted": True}
    for method in ("GET", "DELETE"):
        await gate.refused(404, method, path)
    await gate.refused(404, "PATCH", path, json={"name": "x"})
    await gate.refused(404, "GET", "/guardrails/not-a-uuid")
    assert await gate.data("GET", "/guardrails") == []


async def test_pages_are_of_one_workspace(gate: Bench):
    names = [f"g{number}" for number in range(7)]
    for name in names:
        await made(gate, name=name)
    first = await gate.call("GET", "/guardrails?limit=5", expect=200)
    rest = await gate.call("GET", "/guardrails?limit=5&offset=5", expect=200)
    assert [item["name"] for item in first.json()["data"] + rest.json()["data"]] == names
    assert first.json()["total_count"] == rest.json()["total_count"] == 7
    for query in ("limit=0", "limit=101", "offset=-1", "workspace_id=x", f"workspace_id={UNKNOWN}"):
        await gate.refused(400, "GET", f"/guardrails?{query}")


async def test_each_workspace_has_its_own(gate: Bench):
    async with bench() as full:
        _, other, *_ = await full.data("GET", "/workspaces")
        data = await made(full, workspace_id=other["id"].upper())
        assert data["workspace_id"] == other["id"]
        own = await full.data("GET", f"/guardrails?workspace_id={other['id']}")
        assert data in own
        assert data not in await full.data("GET", "/guardrails")
        await full.call("DELETE", f"/guardrails/{data['id']}", expect=200)


async def test_a_default_guardrail_comes_to_exist_with_its_first_change(gate: Bench):
    workspace = await gate.data("GET", "/workspaces/default")
    path = f"/guardrails/{workspace['default_guardrail_id']}"
    name = f"Workspace {workspace['id']} Default"
    await gate.refused(404, "GET", path)
    await gate.refused(404, "DELETE", path)
    await gate.refused(404, "GET", f"{path}/assignments/keys")
    message = await gate.refused(400, "PATCH", path, json={"name": "mine", "limit_usd": 5})
    assert message == "name: the default guardrail's name cannot be changed"
    await gate.refused(404, "GET", path)
    data = await gate.data("PATCH", path, json={"name": name, "ignored_models": [MODEL]})
    assert (data["name"], data["workspace_id"]) == (name, workspace["id"])
    assert data["ignored_models"] == [await canonical(gate, MODEL)]
    assert (data["created_at"], data["updated_at"]) == ("2026-11-21T07:00:00Z", None)
    assert await gate.data("GET", "/guardrails") == [data]
    gate.clock.forward(hours=1)
    changed = await gate.data("PATCH", path, json={"limit_usd": 5})
    assert changed == {**data, "limit_usd": 5, "updated_at": "2026-11-21T08:00:00Z"}
    await gate.refused(400, "PATCH", path, json={"name": "mine"})
    await gate.call("DELETE", path, expect=200)
    await gate.refused(404, "GET", path)
    again = await gate.data("PATCH", path, json={})
    assert again["limit_usd"] is None, "what was deleted does not come back"


async def test_two_writers_never_mix(gate: Bench):
    """Each change sets two fields; whatever the order, both are of the same writer."""
    data = await made(gate)
    path = f"/guardrails/{data['id']}"

    async def write(number: int) -> None:
        body = {"name": f"n{number}", "description": f"n{number}", "limit_usd": number}
        await gate.call("PATCH", path, json=body, expect=200)

    async def look() -> None:
        for _ in range(20):
            seen = await gate.data("GET", path)
            assert (seen["name"], seen["limit_usd"]) == (
                seen["description"] or "test",
                None if seen["name"] == "test" else int(seen["name"][1:]),
            )
            await asyncio.sleep(0)

    await asyncio.gather(look(), *(write(number) for number in range(20)), look())


def zdr(data: dict[str, Any]) -> dict[str, Any]:
    prefix = "enforce_zdr_"
    return {name.removeprefix(prefix): data[name] for name in data if name.startswith(prefix)}
