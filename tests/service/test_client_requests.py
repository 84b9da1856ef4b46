"""Requests: addresses, paths, queries, bodies and headers, and those that are not sent."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from management_calls import ID, LISTS, READS, WRITES, Act, target_of, with_ids
from pydantic import SecretStr
from service_kit import TOKEN, data, refusal, rig

from gwtui.client import errors
from gwtui.client.connection import Connection, InvalidConnectionError
from gwtui.client.errors import InvalidRequestError, ReadOnlyError
from gwtui.contract.content_filters import BuiltinFilterRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, UpdateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.workspaces import PutBudgetRequest, UpdateWorkspaceRequest
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import all_operations

HASH = "ab" * 32
CREATE = CreateKeyRequest(name="ci", limit=Decimal("12.5"), limit_reset="monthly")


async def test_requests_send_token_and_user_agent() -> None:
    gateway = rig(data({}))
    await gateway.client.credits.get()
    (request,) = gateway.script.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["user-agent"].startswith("gwtui/")


async def test_cookies_are_neither_stored_nor_sent() -> None:
    with_cookie = httpx.Response(200, json={"data": {}}, headers={"Set-Cookie": "sticky=1; Path=/"})
    gateway = rig(with_cookie, data({}))
    await gateway.client.credits.get()
    await gateway.client.credits.get()
    assert "cookie" not in gateway.script.requests[1].headers


async def test_clock_skew_is_read_from_every_response() -> None:
    late = {"date": "Sat, 21 Nov 2026 06:00:00 GMT"}
    gateway = rig(httpx.Response(200, json={"data": {}}, headers=late))
    await gateway.client.credits.get()
    assert gateway.client.skew.seconds == pytest.approx(-3600, abs=1)


async def test_a_creation_sends_only_what_was_given_and_reads_the_key_once() -> None:
    gateway = rig(data({"hash": HASH, "name": "ci"}, 201, key="gw-v1-new-secret"))
    created = await gateway.client.keys.create(CREATE)
    (request,) = gateway.script.requests
    assert json.loads(request.content) == {"name": "ci", "limit": 12.5, "limit_reset": "monthly"}
    assert request.headers["content-type"] == "application/json"
    assert created.key.get_secret_value() == "gw-v1-new-secret"
    assert "new-secret" not in repr(created) + str(created.raw)


async def test_a_creation_without_the_description_still_delivers_the_key() -> None:
    created = await rig(httpx.Response(201, json={"key": "gw-v1-new"})).client.keys.create(CREATE)
    assert created.key is not None
    assert created.data is None


INTERVALS = "daily, weekly, monthly, lifetime"
BUDGET = PutBudgetRequest(limit_usd=Decimal(1))
INVALID: list[tuple[Act, str]] = [
    *(
        (lambda g, request=request: g.keys.create(request), says)
        for request, says in (
            (
                CreateKeyRequest.model_construct(_fields_set={"name"}, name=""),
                "name: must not be empty",
            ),
            (CREATE.model_copy(update={"limit": Decimal(-1)}), "limit: must not be negative"),
            (UpdateKeyRequest(name="x"), "must be a CreateKeyRequest"),
            ({"name": "x"}, "must be a CreateKeyRequest"),
        )
    ),
    # Identifiers that lead elsewhere.
    *((lambda g, key=key: g.keys.delete(key), "hash") for key in ("", ".", "..", "\ud800")),
    (lambda g: g.keys.list(workspace_id="\ud800"), "workspace_id"),
    *(
        (lambda g, model=model: g.catalog.model(model), "author/slug|cannot be sent")
        for model in ("", "no-author", "atlas-large", "northwind/", "/atlas", "northwind/..")
    ),
    *(
        invalid
        for interval in ("hourly", "", "daily/..", "Daily")
        for invalid in (
            (lambda g, value=interval: g.workspaces.budget(ID, value), INTERVALS),
            (lambda g, value=interval: g.workspaces.put_budget(ID, value, BUDGET), INTERVALS),
            (lambda g, value=interval: g.workspaces.delete_budget(ID, value), INTERVALS),
        )
    ),
    *(
        invalid
        for request in ({"enforce_zdr": True}, {"enforce_zdr": False}, {"enforce_zdr": None})
        for invalid in (
            (
                lambda g, value=request: g.guardrails.create(
                    CreateGuardrailRequest(name="x", **value)
                ),
                "deprecated",
            ),
            (
                lambda g, value=request: g.guardrails.update(ID, UpdateGuardrailRequest(**value)),
                "deprecated",
            ),
        )
    ),
]


@pytest.mark.parametrize(
    ("act", "says"), INVALID, ids=lambda value: value if isinstance(value, str) else ""
)
async def test_an_invalid_request_is_refused_unsent(act: Act, says: str) -> None:
    gateway = rig(data({"id": ID}))
    with pytest.raises(InvalidRequestError, match=says):
        await act(gateway.client)
    assert gateway.script.requests == []


# Every management operation -----------------------------------------------------------------------


def test_every_management_operation_of_the_gateway_is_called() -> None:
    called = [("GET", target) for _, _, target in (*READS, *LISTS)]
    called += [(method, target) for _, _, method, target, *_ in WRITES]
    places = [f"{method} {target.partition('?')[0]}" for method, target in called]
    uncalled = {
        operation.operation_id
        for operation in all_operations()
        if not any(re.fullmatch(pattern_of(operation), place) for place in places)
    }
    assert uncalled == {"getDescription", "createChatCompletion", "createEmbeddings"}


def pattern_of(operation: Operation) -> str:
    return f"{operation.method} {re.sub('{[^}]+}', '[^/]+', operation.path)}"


@pytest.mark.parametrize(("act", "target"), with_ids(READS))
async def test_each_reading_asks_for_its_own_path(act: Act, target: str) -> None:
    gateway = rig(refusal(503), data({"count": 3}))
    await act(gateway.client)
    requests = [
        (request.method, target_of(request), request.content) for request in gateway.script.requests
    ]
    assert requests == [("GET", target, b"")] * 2, "a read is repeated"


@pytest.mark.parametrize(("act", "target"), with_ids(LISTS))
async def test_each_list_asks_for_its_own_path(act: Act, target: str) -> None:
    gateway = rig(refusal(503), data([]))
    listing = await act(gateway.client)
    requests = [
        (request.method, target_of(request), request.content) for request in gateway.script.requests
    ]
    assert requests == [("GET", target, b"")] * 2, "a read is repeated"
    assert (listing.items, listing.complete) == ((), True)


@pytest.mark.parametrize(("act", "method", "target", "body", "answer"), with_ids(WRITES))
async def test_each_write_is_one_request(
    act: Act, method: str, target: str, body: Any, answer: dict[str, Any]
) -> None:
    gateway = rig(httpx.Response(200, json=answer))
    await act(gateway.client)
    (request,) = gateway.script.requests
    assert (request.method, target_of(request)) == (method, target)
    assert (json.loads(request.content) if request.content else None) == body
    assert ("content-type" in request.headers) == (body is not None)


@pytest.mark.parametrize("act", [pytest.param(row[1], id=row[0]) for row in WRITES])
async def test_a_write_is_never_repeated_and_never_sent_read_only(act: Act) -> None:
    gateway = rig(refusal(503))
    with pytest.raises(errors.ServerError) as caught:
        await act(gateway.client)
    assert caught.value.effect == "unknown"
    assert len(gateway.script.requests) == 1
    quiet = rig(data({}), read_only=True)
    with pytest.raises(errors.ReadOnlyError):
        await act(quiet.client)
    assert quiet.script.requests == []


# Dialects -----------------------------------------------------------------------------------------


async def test_requests_refused_by_the_dialect_are_not_sent() -> None:
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
    gateway = rig(data({"id": ID}))
    request = UpdateGuardrailRequest(content_filter_builtins=theirs)
    await gateway.client.guardrails.update(ID, request)
    assert json.loads(gateway.script.requests[0].content)["content_filter_builtins"] == [
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


async def test_openrouter_names_go_out_and_come_back_as_the_reference_s() -> None:
    answer = {"id": ID, "name": "x", "enforce_zdr_anthropic": True, "enforce_zdr_google": None}
    gateway = rig(data(answer), dialect=OPENROUTER)
    request = UpdateGuardrailRequest(enforce_zdr_vendor_b=False, enforce_zdr_vendor_c=None)
    guardrail = await gateway.client.guardrails.update(ID, request)
    assert json.loads(gateway.script.requests[0].content) == {
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


# The write gate -----------------------------------------------------------------------------------


async def test_a_closed_gate_blocks_only_writes() -> None:
    gateway = rig(data({"deleted": True}))
    assert gateway.client.gate.closed is None
    gateway.client.gate.close("this key is not a management key")
    with pytest.raises(ReadOnlyError, match="not a management key") as caught:
        await gateway.client.keys.delete("ab" * 32)
    assert caught.value.effect == "none"
    assert gateway.script.requests == []
    await gateway.client.credits.get()
    assert [request.method for request in gateway.script.requests] == ["GET"]


def test_the_first_reason_stays() -> None:
    gateway = rig(data({}), read_only=True)
    gateway.client.gate.close("another reason")
    assert gateway.client.gate.closed == "this session is read-only"


# Addresses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://gw.test/api/v1", "https://gw.test/api/v1"),
        ("https://gw.test/api/v1/", "https://gw.test/api/v1"),
        (" https://gw.test ", "https://gw.test/api/v1"),
        ("https://gw.test/", "https://gw.test/api/v1"),
        ("https://gw.test:8443/proxy/api/v1//", "https://gw.test:8443/proxy/api/v1"),
        ("HTTPS://gw.test", "https://gw.test/api/v1"),
    ],
)
def test_base_urls_are_normalized(url: str, expected: str) -> None:
    assert Connection(url).base_url == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gw.test",
        "ftp://gw.test",
        "file:///etc/passwd",
        "https://",
        "https:///api/v1",
        "https://gw.test:99999/api/v1",
        "https://gw.test:0/api/v1",
        "https://[::1/api/v1",
        "https://gw .test/api/v1",
        "https://gw.test/a\x00b",
        "https://gw.test/api/v1?x=1",
        "https://gw.test/api/v1#x",
        "https://me@gw.test/api/v1",
    ],
)
def test_an_unusable_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidConnectionError):
        Connection(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/api/v1",
        "http://127.9.9.9/api/v1",
        "http://[::1]:1/api/v1",
        "http://localhost/api/v1",
        "http://gw.localhost/api/v1",
    ],
)
def test_plain_http_reaches_this_machine(url: str) -> None:
    assert Connection(url).is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://gw.test/api/v1",
        "http://10.0.0.1/api/v1",
        "http://0.0.0.0/api/v1",
        "http://localhost.gw.test/api/v1",
        "http://127.0.0.1.gw.test/api/v1",
        "http://notlocalhost/api/v1",
    ],
)
def test_plain_http_to_elsewhere_needs_permission(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConnectionError, match="plain http"):
        Connection(url)
    assert Connection(url, allow_plain_http=True).is_plain
    assert Connection(url, socket_path=tmp_path / "s").is_plain


@pytest.mark.parametrize("token", ["", " ", "a b", "a\n", "a\r\nX: y", "tökén", "a\x7f"])
def test_a_token_that_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(InvalidConnectionError, match="the key is not usable"):
        Connection("https://gw.test", token=SecretStr(token))
