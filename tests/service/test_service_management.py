"""Workspaces, members, budgets, guardrails, credentials, activity: what goes out, what comes in."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from service_kit import data, everything_said, refusal, rig

from gwtui.client import errors
from gwtui.client.gateway import GatewayClient
from gwtui.contract.activity import FeedbackRequest
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.contract.members import ChangeMembersRequest
from gwtui.contract.organization import UpdateOrganizationSettingsRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest

ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
HASH = "ab" * 32
SECRET = "sk-SENTINEL-provider-key"
USERS = ChangeMembersRequest(user_ids=["user_1", "user_2"])
KEYS = AssignKeysRequest(key_hashes=[HASH])
PEOPLE = AssignMembersRequest(member_user_ids=["user_1"])

Act = Callable[[GatewayClient], Awaitable[Any]]

READS: list[tuple[str, Act, str]] = [
    (
        "budget",
        lambda g: g.workspaces.budget("team-a", "daily"),
        "/workspaces/team-a/budgets/daily",
    ),
    ("settings", lambda g: g.organization.settings(), "/organization/settings"),
    ("guardrail", lambda g: g.guardrails.get(ID), f"/guardrails/{ID}"),
    ("credential", lambda g: g.byok.get(ID), f"/byok/{ID}"),
    ("generation", lambda g: g.generations.get("gen-1 &"), "/generation?id=gen-1+%26"),
    (
        "what it said",
        lambda g: g.generations.content("gen-1 &"),
        "/generation/content?id=gen-1+%26",
    ),
    ("model", lambda g: g.catalog.model("a/b:free"), "/model/a/b:free"),
]
LISTS: list[tuple[str, Act, str]] = [
    ("members", lambda g: g.workspaces.members("a b"), "/workspaces/a%20b/members?PAGE"),
    ("budgets", lambda g: g.workspaces.budgets(ID), f"/workspaces/{ID}/budgets"),
    ("organization", lambda g: g.organization.members(), "/organization/members?PAGE"),
    ("guardrails", lambda g: g.guardrails.list(), "/guardrails?PAGE"),
    (
        "of one workspace",
        lambda g: g.guardrails.list(workspace_id=ID),
        f"/guardrails?workspace_id={ID}&PAGE",
    ),
    ("keys", lambda g: g.guardrails.key_assignments(ID), f"/guardrails/{ID}/assignments/keys?PAGE"),
    ("all keys", lambda g: g.guardrails.key_assignments(None), "/guardrails/assignments/keys?PAGE"),
    (
        "users",
        lambda g: g.guardrails.member_assignments(ID),
        f"/guardrails/{ID}/assignments/members?PAGE",
    ),
    (
        "all users",
        lambda g: g.guardrails.member_assignments(None),
        "/guardrails/assignments/members?PAGE",
    ),
    ("credentials", lambda g: g.byok.list(), "/byok?PAGE"),
    (
        "one provider's",
        lambda g: g.byok.list(workspace_id=ID, provider="openai"),
        f"/byok?workspace_id={ID}&provider=openai&PAGE",
    ),
    ("activity", lambda g: g.activity.list(), "/activity"),
    (
        "activity of one",
        lambda g: g.activity.list(
            date="2026-11-20",
            api_key_hash=HASH,
            user_id="u",
            workspace_id=ID,
            by_workspace=True,
        ),
        f"/activity?date=2026-11-20&api_key_hash={HASH}&user_id=u&workspace_id={ID}"
        "&group_by=workspace",
    ),
    ("zdr", lambda g: g.catalog.zdr_endpoints(), "/endpoints/zdr"),
    (
        "own models",
        lambda g: g.catalog.user_models(),
        "/models/user?output_modalities=all&offset=0&limit=500",
    ),
]
WRITES: list[tuple[str, Act, str, str, Any, dict[str, Any]]] = [
    (
        "create workspace",
        lambda g: g.workspaces.create(
            CreateWorkspaceRequest(
                name="Team A", slug="team-a", io_logging_sampling_rate=Decimal("0.0001")
            )
        ),
        "POST",
        "/workspaces",
        {"name": "Team A", "slug": "team-a", "io_logging_sampling_rate": 0.0001},
        {"data": {"id": ID}},
    ),
    (
        "change workspace",
        lambda g: g.workspaces.update("team-a", UpdateWorkspaceRequest(description=None)),
        "PATCH",
        "/workspaces/team-a",
        {"description": None},
        {"data": {"id": ID}},
    ),
    (
        "delete workspace",
        lambda g: g.workspaces.delete(ID),
        "DELETE",
        f"/workspaces/{ID}",
        None,
        {"deleted": True},
    ),
    (
        "delete default workspace",
        lambda g: g.workspaces.delete(ID, confirm_default=True),
        "DELETE",
        f"/workspaces/{ID}?confirm_default_workspace_deletion=true",
        None,
        {"deleted": True},
    ),
    (
        "add members",
        lambda g: g.workspaces.add_members(ID, USERS),
        "POST",
        f"/workspaces/{ID}/members/add",
        {"user_ids": ["user_1", "user_2"]},
        {"added_count": 2, "data": []},
    ),
    (
        "remove members",
        lambda g: g.workspaces.remove_members(ID, USERS),
        "POST",
        f"/workspaces/{ID}/members/remove",
        {"user_ids": ["user_1", "user_2"]},
        {"removed_count": 2},
    ),
    (
        "put budget",
        lambda g: g.workspaces.put_budget(
            ID, "lifetime", PutBudgetRequest(limit_usd=Decimal("99.5"))
        ),
        "PUT",
        f"/workspaces/{ID}/budgets/lifetime",
        {"limit_usd": 99.5},
        {"data": {"id": ID}, "include_byok_in_budgets": False},
    ),
    (
        "delete budget",
        lambda g: g.workspaces.delete_budget(ID, "weekly"),
        "DELETE",
        f"/workspaces/{ID}/budgets/weekly",
        None,
        {"deleted": True},
    ),
    (
        "change settings",
        lambda g: g.organization.update_settings(
            UpdateOrganizationSettingsRequest(is_filtered_model_catalog_enabled=True)
        ),
        "PATCH",
        "/organization/settings",
        {"is_filtered_model_catalog_enabled": True},
        {"data": {"id": "org_1", "is_filtered_model_catalog_enabled": True}},
    ),
    (
        "create guardrail",
        lambda g: g.guardrails.create(
            CreateGuardrailRequest(
                name="PII",
                workspace_id=ID,
                enforce_zdr_vendor_a=True,
                content_filter_builtins=[BuiltinFilterRequest(slug="email", action="redact")],
                content_filters=[CustomFilterRequest(pattern="gw-[0-9]+", action="flag")],
            )
        ),
        "POST",
        "/guardrails",
        {
            "name": "PII",
            "workspace_id": ID,
            "enforce_zdr_vendor_a": True,
            "content_filter_builtins": [{"slug": "email", "action": "redact"}],
            "content_filters": [{"pattern": "gw-[0-9]+", "action": "flag"}],
        },
        {"data": {"id": ID}},
    ),
    (
        "change guardrail",
        lambda g: g.guardrails.update(ID, UpdateGuardrailRequest(allowed_models=None, limit_usd=1)),
        "PATCH",
        f"/guardrails/{ID}",
        {"allowed_models": None, "limit_usd": 1.0},
        {"data": {"id": ID}},
    ),
    (
        "delete guardrail",
        lambda g: g.guardrails.delete(ID),
        "DELETE",
        f"/guardrails/{ID}",
        None,
        {"deleted": True},
    ),
    *(
        (
            f"{act} {kind}",
            lambda g, act=act, kind=kind, body=body: getattr(g.guardrails, f"{act}_{kind}")(
                ID, body
            ),
            "POST",
            f"/guardrails/{ID}/assignments/{kind}{end}",
            body.body(),
            {f"{act}ed_count": 1},
        )
        for act, end in (("assign", ""), ("unassign", "/remove"))
        for kind, body in (("keys", KEYS), ("members", PEOPLE))
    ),
    (
        "store credential",
        lambda g: g.byok.create(
            CreateByokRequest(provider="openai", key=SecretStr(SECRET), allowed_models=[])
        ),
        "POST",
        "/byok",
        {"provider": "openai", "key": SECRET, "allowed_models": []},
        {"data": {"id": ID}},
    ),
    (
        "rotate credential",
        lambda g: g.byok.update(ID, UpdateByokRequest(key=SecretStr(SECRET))),
        "PATCH",
        f"/byok/{ID}",
        {"key": SECRET},
        {"data": {"id": ID}},
    ),
    (
        "delete credential",
        lambda g: g.byok.delete(ID),
        "DELETE",
        f"/byok/{ID}",
        None,
        {"deleted": True},
    ),
    (
        "feedback",
        lambda g: g.generations.give_feedback(
            FeedbackRequest(generation_id="gen-1", category="latency", comment="slow")
        ),
        "POST",
        "/generation/feedback",
        {"generation_id": "gen-1", "category": "latency", "comment": "slow"},
        {"data": {"success": True}},
    ),
]


def _named(table: list[Any]) -> list[Any]:
    return [pytest.param(*row[1:], id=row[0]) for row in table]


def _asked(request: httpx.Request) -> str:
    target = request.url.raw_path.decode().removeprefix("/api/v1")
    return target.replace("offset=0&limit=100", "PAGE")


@pytest.mark.parametrize(("act", "target"), _named(READS))
async def test_each_reading_asks_for_its_own_path(act: Act, target: str) -> None:
    it = rig(data({}))
    await act(it.client)
    (request,) = it.script.requests
    assert (request.method, _asked(request), request.content) == ("GET", target, b"")


@pytest.mark.parametrize(("act", "target"), _named(LISTS))
async def test_each_list_asks_for_its_own_path(act: Act, target: str) -> None:
    it = rig(data([]))
    listing = await act(it.client)
    (request,) = it.script.requests
    assert (request.method, _asked(request), request.content) == ("GET", target, b"")
    assert (listing.items, listing.complete) == ((), True)


@pytest.mark.parametrize(("act", "method", "target", "body", "answer"), _named(WRITES))
async def test_each_write_is_one_request(
    act: Act, method: str, target: str, body: Any, answer: dict[str, Any]
) -> None:
    it = rig(httpx.Response(200, json=answer))
    await act(it.client)
    (request,) = it.script.requests
    assert (request.method, _asked(request)) == (method, target)
    assert (json.loads(request.content) if request.content else None) == body
    assert ("content-type" in request.headers) == (body is not None)


@pytest.mark.parametrize("act", [pytest.param(row[1], id=row[0]) for row in WRITES])
async def test_a_write_is_never_repeated_and_never_sent_read_only(act: Act) -> None:
    it = rig(refusal(503))
    with pytest.raises(errors.ServerError) as caught:
        await act(it.client)
    assert caught.value.effect == "unknown"
    assert len(it.script.requests) == 1
    quiet = rig(data({}), read_only=True)
    with pytest.raises(errors.ReadOnlyError):
        await act(quiet.client)
    assert quiet.script.requests == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequestError),
        (401, errors.UnauthorizedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
    ],
)
@pytest.mark.parametrize(
    "act",
    [
        lambda g: g.workspaces.update(ID, UpdateWorkspaceRequest(name="x")),
        lambda g: g.workspaces.members(ID),
        lambda g: g.organization.settings(),
        lambda g: g.guardrails.get(ID),
        lambda g: g.byok.update(ID, UpdateByokRequest(key=SecretStr(SECRET))),
        lambda g: g.activity.list(),
        lambda g: g.generations.get("gen-1"),
    ],
)
async def test_a_refusal_says_why_and_changed_nothing(
    act: Act, status: int, kind: type[errors.StatusError]
) -> None:
    with pytest.raises(kind, match="because of the moon") as caught:
        await act(rig(refusal(status, "because of the moon")).client)
    assert caught.value.effect == "none"


@pytest.mark.parametrize("body", [{}, {"deleted": False}, []])
@pytest.mark.parametrize(
    "act",
    [
        lambda g: g.workspaces.delete(ID),
        lambda g: g.workspaces.delete_budget(ID, "daily"),
        lambda g: g.guardrails.delete(ID),
        lambda g: g.byok.delete(ID),
        lambda g: g.workspaces.add_members(ID, USERS),
        lambda g: g.workspaces.remove_members(ID, USERS),
        lambda g: g.guardrails.assign_keys(ID, KEYS),
        lambda g: g.guardrails.unassign_members(ID, PEOPLE),
        lambda g: g.guardrails.create(CreateGuardrailRequest(name="x")),
    ],
)
async def test_a_write_that_is_not_confirmed_is_unknown(act: Act, body: Any) -> None:
    with pytest.raises(errors.UnreadableAnswerError) as caught:
        await act(rig(httpx.Response(200, json=body)).client)
    assert caught.value.effect == "unknown"


@pytest.mark.parametrize("count", [-1, True, "2", None, 1.5])
async def test_a_count_that_is_none_confirms_nothing(count: Any) -> None:
    it = rig(httpx.Response(200, json={"assigned_count": count}))
    with pytest.raises(errors.UnreadableAnswerError, match="assigned_count"):
        await it.client.guardrails.assign_keys(ID, KEYS)


async def test_the_counts_of_bulk_writes() -> None:
    member = {
        "id": ID,
        "workspace_id": ID,
        "user_id": "u",
        "role": "owner",
        "created_at": "2026-11-01T00:00:00Z",
    }
    it = rig(
        httpx.Response(200, json={"added_count": 1, "data": [member]}),
        httpx.Response(200, json={"removed_count": 0}),
        httpx.Response(200, json={"assigned_count": 3}),
    )
    added = await it.client.workspaces.add_members(ID, USERS)
    assert added.added_count == 1
    assert [one.role for one in added.data or ()] == ["owner"]
    removed = await it.client.workspaces.remove_members(ID, USERS)
    assert removed.removed_count == 0
    assert await it.client.guardrails.assign_members(ID, PEOPLE) == 3


@pytest.mark.parametrize("interval", ["hourly", "", "daily/..", "Daily"])
async def test_an_interval_that_does_not_exist_is_refused_unsent(interval: str) -> None:
    it = rig(data({}))
    for act in (
        it.client.workspaces.budget(ID, interval),
        it.client.workspaces.put_budget(ID, interval, PutBudgetRequest(limit_usd=Decimal(1))),
        it.client.workspaces.delete_budget(ID, interval),
    ):
        with pytest.raises(errors.InvalidRequestError, match="daily, weekly, monthly, lifetime"):
            await act
    assert it.script.requests == []


# Guardrails and dialects ------------------------------------------------------------------------


async def test_what_the_dialect_refuses_is_not_sent() -> None:
    flagged = CreateGuardrailRequest(
        name="x", content_filter_builtins=[BuiltinFilterRequest(slug="email", action="flag")]
    )
    half_a_cap = CreateGuardrailRequest(name="x", limit_usd=Decimal(5))
    generic, live = rig(data({"id": ID})), rig(data({"id": ID}), dialect=OPENROUTER)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await generic.client.guardrails.create(flagged)
    assert [p.field for p in caught.value.problems] == ["content_filter_builtins.0.action"]
    with pytest.raises(errors.InvalidRequestError, match="together"):
        await live.client.guardrails.create(half_a_cap)
    assert generic.script.requests == live.script.requests == []
    await live.client.guardrails.create(flagged)
    await generic.client.guardrails.create(half_a_cap)
    assert len(generic.script.requests) == len(live.script.requests) == 1


async def test_filters_that_only_the_service_knows_go_back_to_it_unchanged() -> None:
    theirs = [
        BuiltinFilterRequest.model_construct(slug="iban", action="encrypt"),
        BuiltinFilterRequest.model_construct(slug="email", action="mask"),
        BuiltinFilterRequest(slug="email", action="block"),
    ]
    it = rig(data({"id": ID}))
    request = UpdateGuardrailRequest(content_filter_builtins=theirs)
    await it.client.guardrails.update(ID, request)
    assert json.loads(it.script.requests[0].content)["content_filter_builtins"] == [
        {"slug": "iban", "action": "encrypt"},
        {"slug": "email", "action": "mask"},
        {"slug": "email", "action": "block"},
    ]


async def test_a_field_that_the_service_does_not_have_is_not_sent() -> None:
    request = UpdateGuardrailRequest(enforce_zdr_xai=True, name="x")
    generic, live = rig(data({"id": ID})), rig(data({"id": ID}), dialect=OPENROUTER)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await generic.client.guardrails.update(ID, request)
    assert [p.field for p in caught.value.problems] == ["enforce_zdr_xai"]
    assert generic.script.requests == []
    await live.client.guardrails.update(ID, request)
    assert json.loads(live.script.requests[0].content) == {"enforce_zdr_xai": True, "name": "x"}


@pytest.mark.parametrize("value", [True, False, None])
async def test_the_deprecated_switch_is_never_sent(value: bool | None) -> None:
    it = rig(data({"id": ID}))
    for act in (
        it.client.guardrails.create(CreateGuardrailRequest(name="x", enforce_zdr=value)),
        it.client.guardrails.update(ID, UpdateGuardrailRequest(enforce_zdr=value)),
    ):
        with pytest.raises(errors.InvalidRequestError, match="deprecated"):
            await act
    assert it.script.requests == []


async def test_openrouter_names_go_out_and_come_back_as_the_reference_s() -> None:
    answer = {"id": ID, "name": "x", "enforce_zdr_anthropic": True, "enforce_zdr_google": None}
    it = rig(data(answer), dialect=OPENROUTER)
    request = UpdateGuardrailRequest(enforce_zdr_vendor_b=False, enforce_zdr_vendor_c=None)
    guardrail = await it.client.guardrails.update(ID, request)
    assert json.loads(it.script.requests[0].content) == {
        "enforce_zdr_openai": False,
        "enforce_zdr_google": None,
    }
    assert guardrail.enforce_zdr_vendor_a is True
    assert guardrail.enforce_zdr_vendor_c is None
    tools = rig(data({"id": ID, "disabled_server_tools": ["openrouter:bash"]}), dialect=OPENROUTER)
    space = await tools.client.workspaces.update(
        ID, UpdateWorkspaceRequest(disabled_server_tools=["service:bash", "service:fusion"])
    )
    assert json.loads(tools.script.requests[0].content) == {
        "disabled_server_tools": ["openrouter:bash", "openrouter:fusion"]
    }
    assert space.disabled_server_tools == ["service:bash"]


# Tolerant reading -------------------------------------------------------------------------------


async def test_what_is_garbled_marks_its_field_and_never_the_list() -> None:
    rows = [
        {
            "id": "1",
            "name": 7,
            "allowed_models": ["a/b", None],
            "content_filters": [{"action": "x"}],
        },
        "no row",
        {"id": "2", "name": "two", "invented": {"deep": [1]}, "limit_usd": "12.50"},
    ]
    listing = await rig(data(rows, total_count=3)).client.guardrails.list()
    first, second = listing.items
    assert listing.unreadable == 1
    assert {"name", "allowed_models[1]"} <= set(first.gaps)
    assert first.allowed_models == ["a/b"]
    assert second.unknown_fields == ("invented",)
    assert second.limit_usd == Decimal("12.50")


async def test_equal_rows_of_activity_are_all_counted() -> None:
    row = {"date": "2026-11-20", "model": "acme/m", "requests": 3, "usage": 0.1}
    listing = await rig(data([row, row, {**row, "requests": 4}])).client.activity.list()
    assert [one.requests for one in listing.items] == [3, 3, 4]
    assert listing.items[0].usage == Decimal("0.1")


async def test_endpoints_without_an_identifier_stay_apart() -> None:
    offer = {"name": "Acme | acme/m", "tag": "acme"}
    listing = await rig(data([offer, offer])).client.catalog.zdr_endpoints()
    assert len(listing.items) == 2


async def test_members_are_read_page_by_page_and_once() -> None:
    people = [{"id": f"m{n}", "user_id": f"u{n}"} for n in range(230)]

    def page(request: httpx.Request) -> httpx.Response:
        start, size = (int(request.url.params[name]) for name in ("offset", "limit"))
        return data(people[start : start + size], total_count=len(people))

    it = rig(page, max_answer=100_000)
    listing = await it.client.workspaces.members("team-a")
    assert [one.user_id for one in listing.items] == [f"u{n}" for n in range(230)]
    assert (listing.total, listing.complete) == (230, True)
    assert {r.url.path for r in it.script.requests} == {"/api/v1/workspaces/team-a/members"}


# Secrets ----------------------------------------------------------------------------------------


REPEATING = (
    httpx.Response(
        400,
        json={"error": {"code": 400, "message": f"bad {SECRET}", "metadata": {SECRET: [SECRET]}}},
        headers={"x-request-id": SECRET},
    ),
    httpx.Response(500, text=SECRET),
    httpx.Response(200, json=[SECRET]),
    httpx.ConnectError(SECRET),
)
"""Answers that repeat what was sent."""


@pytest.mark.parametrize("number", range(len(REPEATING)))
async def test_a_provider_key_is_in_no_error(number: int) -> None:
    request = CreateByokRequest(provider="openai", key=SecretStr(SECRET))
    with pytest.raises(errors.GatewayError) as caught:
        await rig(REPEATING[number]).client.byok.create(request)
    assert SECRET not in everything_said(caught.value)


async def test_a_refusal_is_told_without_the_key_that_it_repeats() -> None:
    request = UpdateByokRequest(key=SecretStr(SECRET))
    with pytest.raises(errors.BadRequestError) as caught:
        await rig(REPEATING[0]).client.byok.update(ID, request)
    assert caught.value.message == "bad [redacted]"
    assert caught.value.metadata == {"[redacted]": ["[redacted]"]}
    assert caught.value.request_id == "[redacted]"


async def test_the_catalog_is_counted() -> None:
    it = rig(data({"count": 42}))
    assert await it.client.catalog.count() == 42
    (request,) = it.script.requests
    assert _asked(request) == "/models/count?output_modalities=all"
    with pytest.raises(errors.UnreadableAnswerError):
        await rig(data({"count": "many"})).client.catalog.count()


@pytest.mark.parametrize("wrong", ["", "atlas-large", "northwind/", "/atlas", "northwind/.."])
async def test_what_is_no_model_identifier_is_not_asked_for(wrong: str) -> None:
    it = rig(data({}))
    with pytest.raises(errors.InvalidRequestError):
        await it.client.catalog.model(wrong)
    assert it.script.requests == []
