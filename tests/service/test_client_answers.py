"""Responses: typed errors for refusals, UnreadableAnswerError for invalid ones."""

from __future__ import annotations

import copy
import gzip
import json
import logging
import pickle
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from management_calls import ID, KEYS, PEOPLE, SECRET, USERS, Act
from pydantic import SecretStr
from service_kit import (
    TOKEN,
    Step,
    data,
    refusal,
    rig,
    text_of_error,
)

from gwtui.client import errors
from gwtui.client.answers import MAX_DEPTH, MAX_MESSAGE
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest

JSON = {"content-type": "application/json"}
KINDS = [
    (400, errors.BadRequestError, "none"),
    (401, errors.UnauthorizedError, "none"),
    (402, errors.PaymentRequiredError, "none"),
    (403, errors.ForbiddenError, "none"),
    (404, errors.NotFoundError, "none"),
    (409, errors.ConflictError, "none"),
    (413, errors.TooLargeError, "none"),
    (418, errors.StatusError, "none"),
    (422, errors.BadRequestError, "none"),
    (429, errors.RateLimitedError, "none"),
    (500, errors.ServerError, "unknown"),
    (599, errors.ServerError, "unknown"),
]


@pytest.mark.parametrize(("status", "kind", "effect"), KINDS)
async def test_each_status_has_its_error(
    status: int, kind: type[errors.StatusError], effect: str
) -> None:
    answer = refusal(status, "Not like this", headers={"X-Request-Id": "req-1"})
    with pytest.raises(errors.StatusError) as caught:
        await rig(answer).client.keys.delete("h")
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.message, error.request_id) == (status, "Not like this", "req-1")
    assert error.effect == effect


@pytest.mark.parametrize(
    ("headers", "metadata", "expected"),
    [
        ({"cf-ray": "8f00-FRA"}, None, "8f00-FRA"),
        ({"request-id": "r"}, {"request_id": "m"}, "r"),
        ({}, {"request_id": "m"}, "m"),
        ({"x-request-id": "x" * 500}, None, None),
        ({"x-request-id": "a\tb"}, None, None),
        ({}, {"request_id": 7}, None),
    ],
)
async def test_the_request_id_is_found_and_must_be_plain(
    headers: dict[str, str], metadata: Any, expected: str | None
) -> None:
    body = {"error": {"code": 400, "message": "no", "metadata": metadata}}
    with pytest.raises(errors.BadRequestError) as caught:
        await rig(httpx.Response(400, json=body, headers=headers)).client.credits.get()
    assert caught.value.request_id == expected
    assert caught.value.metadata == (metadata or {})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>gateway</html>", "404 Not Found, and not from the API: check the base URL"),
        (b"", "404 Not Found, and not from the API: check the base URL"),
        (b'{"error": {"code": 404}}', "404 Not Found"),
        (b'{"error": "plain"}', "404 Not Found, and not from the API: check the base URL"),
        (b'{"error": {"message": "   "}}', "404 Not Found"),
        (b'{"error": {"message": 5}}', "404 Not Found"),
        (b"[" * 100_000, "404 Not Found, and not from the API: check the base URL"),
    ],
)
async def test_a_refusal_without_a_message_still_says_something(body: bytes, message: str) -> None:
    with pytest.raises(errors.NotFoundError) as caught:
        await rig(httpx.Response(404, content=body, headers=JSON)).client.credits.get()
    assert caught.value.message == message


async def test_an_endless_message_is_cut() -> None:
    with pytest.raises(errors.BadRequestError) as caught:
        await rig(refusal(400, "x" * 5_000)).client.credits.get()
    assert len(caught.value.message) == MAX_MESSAGE
    assert caught.value.message.endswith("…")


@pytest.mark.parametrize(
    ("content", "content_type", "says"),
    [
        (b'{"data": {}}', "text/html", "base URL"),
        (b'{"data": {}}', "", "base URL"),
        (b'{"data": {', "application/json", "cut off"),
        (b"", "application/json", "cut off"),
        (b'{"data": "\xff"}', "application/json", "UTF-8"),
        (b'{"data":' + b"[" * 200_000, "application/json", "too deeply"),
        (b'{"data":' + b'{"a":' * 200_000, "application/json", "too deeply"),
        (
            b'{"data":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
            "application/json",
            "too deeply",
        ),
        (b'{"data": {}} trailing', "application/json", "malformed"),
        (b"[]", "application/json", "not a JSON object"),
        (b"null", "application/json", "not a JSON object"),
        (b'{"data": null}', "application/json", "not an object"),
        (b'{"data": []}', "application/json", "not an object"),
        (b'{"dat": {}}', "application/json", "not an object"),
    ],
)
async def test_answers_outside_the_contract_are_unreadable(
    content: bytes, content_type: str, says: str
) -> None:
    answer = httpx.Response(200, content=content, headers={"content-type": content_type})
    gateway = rig(answer, max_answer=10_000_000)
    with pytest.raises(errors.UnreadableAnswerError, match=says) as caught:
        await gateway.client.credits.get()
    assert caught.value.effect == "unknown"
    assert caught.value.__context__ is None
    assert len(gateway.script.requests) == 1


async def test_half_a_character_becomes_a_visible_mark() -> None:
    row = rb'{"slug": "a\ud83d\ude00b\ud800c", "name": "\\ud800", "\udfff": ["\udc00\ud800"]}'
    answer = httpx.Response(200, content=b'{"data": [' + row + b"]}", headers=JSON)
    (provider,) = (await rig(answer).client.providers.list()).items
    assert provider.slug == "a\U0001f600b\ufffdc"
    assert provider.name == r"\ud800"
    assert provider.raw["\ufffd"] == ["\ufffd\ufffd"]


@pytest.mark.parametrize("body", [{}, {"data": None}, {"data": {}}, {"data": "x"}])
async def test_a_list_without_a_list_is_unreadable(body: Any) -> None:
    with pytest.raises(errors.UnreadableAnswerError, match="not a list"):
        await rig(httpx.Response(200, json=body)).client.providers.list()


@pytest.mark.parametrize(
    "number",
    [
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"1e99999999999999999999",
        b"1e400",
        b'"-1e999999"',
        b'"1e999999999"',
        b"1e-400",
        b"9" * 5_000,
        b"-" + b"9" * 5_000,
        b'"%b"' % (b"9" * 4_000),
        b"0." + b"1" * 5_000,
    ],
    ids=lambda number: number[:24],
)
async def test_an_invalid_number_is_a_gap_of_its_field(number: bytes) -> None:
    answer = httpx.Response(
        200, content=b'{"data": {"total_credits": %b, "total_usage": 2}}' % number, headers=JSON
    )
    credits = await rig(answer, max_answer=100_000).client.credits.get()
    assert (credits.total_credits, credits.total_usage) == (None, 2)
    assert list(credits.gaps) == ["total_credits"]


@pytest.mark.parametrize(
    "number", ["9" * 5_000, f'"{"9" * 4_000}"', "1e5000", "1e300", "1e999999999", str(2**63)]
)
async def test_an_absurd_integer_is_a_gap_of_its_field(number: str) -> None:
    content = b'{"data": [{"id": "a/b", "context_length": %b, "created": 3}]}' % number.encode()
    gateway = rig(httpx.Response(200, content=content, headers=JSON), max_answer=100_000)
    (model,) = (await gateway.client.catalog.models()).items
    assert (model.context_length, model.created) == (None, 3)
    assert "context_length" in model.gaps


DEEP = b"[" * (MAX_DEPTH - 2) + b"]" * (MAX_DEPTH - 2)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'\xef\xbb\xbf{"data": {"total_usage": 1e-7}}', "application/json; charset=utf-8"),
        (b'{"data": {"total_usage": 1e-7}}', "application/problem+json"),
        (b'{"data": {"total_usage": 1e-7, "odd": ' + DEEP + b"}}", "application/json"),
    ],
    ids=["mark", "problem", "deep"],
)
async def test_json_is_read_exactly_in_every_form(content: bytes, kind: str) -> None:
    answer = httpx.Response(200, content=content, headers={"content-type": kind})
    assert str((await rig(answer).client.credits.get()).total_usage) == "1E-7"


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (gzip.compress(b'{"data": {"pad": "' + b"x" * 100_000 + b'"}}'), "larger"),
        (b"not gzip at all", "compression"),
    ],
    ids=["large", "damaged"],
)
async def test_the_bound_counts_what_was_unpacked(packed: bytes, says: str) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    assert len(packed) < 1024
    with pytest.raises(errors.UnreadableAnswerError, match=says):
        await rig(
            lambda _: httpx.Response(200, headers=headers, stream=httpx.ByteStream(packed))
        ).client.credits.get()


async def test_an_answer_larger_than_the_bound_is_not_read() -> None:
    await rig(data({"total_usage": 1, "pad": "x" * 900})).client.credits.get()
    with pytest.raises(errors.UnreadableAnswerError, match="larger than 1 KiB"):
        await rig(data({"pad": "x" * 1100})).client.credits.get()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304, 399])
async def test_a_redirect_is_refused_and_not_followed(status: int) -> None:
    answer = httpx.Response(status, headers={"location": "https://elsewhere.test/steal"})
    gateway = rig(answer)
    with pytest.raises(errors.UnreadableAnswerError, match="redirect") as caught:
        await gateway.client.keys.delete("h")
    assert caught.value.effect == "unknown"
    assert [request.url.host for request in gateway.script.requests] == ["gateway.test"]


# Management operations ----------------------------------------------------------------------------


@pytest.mark.parametrize("body", [{}, {"deleted": False}, {"deleted": "true"}, []])
@pytest.mark.parametrize(
    "act",
    [
        lambda g: g.keys.delete(ID),
        lambda g: g.workspaces.delete(ID),
        lambda g: g.workspaces.delete_budget(ID, "daily"),
        lambda g: g.guardrails.delete(ID),
        lambda g: g.byok.delete(ID),
        lambda g: g.workspaces.add_members(ID, USERS),
        lambda g: g.workspaces.remove_members(ID, USERS),
        lambda g: g.guardrails.assign_keys(ID, KEYS),
        lambda g: g.guardrails.unassign_members(ID, PEOPLE),
        lambda g: g.guardrails.create(CreateGuardrailRequest(name="x")),
        lambda g: g.keys.create(CreateKeyRequest(name="x")),
    ],
)
async def test_a_write_that_is_not_confirmed_is_unknown(act: Act, body: Any) -> None:
    with pytest.raises(errors.UnreadableAnswerError) as caught:
        await act(rig(httpx.Response(200, json=body)).client)
    assert caught.value.effect == "unknown"


@pytest.mark.parametrize("count", [-1, True, "2", None, 1.5])
async def test_an_invalid_count_does_not_confirm(count: Any) -> None:
    gateway = rig(httpx.Response(200, json={"assigned_count": count}))
    with pytest.raises(errors.UnreadableAnswerError, match="assigned_count"):
        await gateway.client.guardrails.assign_keys(ID, KEYS)


async def test_the_counts_of_bulk_writes() -> None:
    member = {
        "id": ID,
        "workspace_id": ID,
        "user_id": "u",
        "role": "owner",
        "created_at": "2026-11-01T00:00:00Z",
    }
    gateway = rig(
        httpx.Response(200, json={"added_count": 1, "data": [member]}),
        httpx.Response(200, json={"removed_count": 0}),
        httpx.Response(200, json={"assigned_count": 3}),
    )
    added = await gateway.client.workspaces.add_members(ID, USERS)
    assert added.added_count == 1
    assert [item.role for item in added.data or ()] == ["owner"]
    removed = await gateway.client.workspaces.remove_members(ID, USERS)
    assert removed.removed_count == 0
    assert await gateway.client.guardrails.assign_members(ID, PEOPLE) == 3


async def test_budgets_that_are_not_found_are_none_in_a_workspace_that_exists() -> None:
    gateway = rig(refusal(404), data({"id": ID}))
    budgets = await gateway.client.workspaces.budgets(ID)
    assert (budgets.items, budgets.complete) == ((), True)
    assert [request.url.path for request in gateway.script.requests] == [
        f"/api/v1/workspaces/{ID}/budgets",
        f"/api/v1/workspaces/{ID}",
    ]
    with pytest.raises(errors.NotFoundError):
        await rig(refusal(404)).client.workspaces.budgets(ID)


# Tolerant reading ---------------------------------------------------------------------------------


async def test_equal_rows_of_activity_are_all_counted() -> None:
    row = {"date": "2026-11-20", "model": "acme/m", "requests": 3, "usage": 0.1}
    listing = await rig(data([row, row, {**row, "requests": 4}])).client.activity.list()
    assert [item.requests for item in listing.items] == [3, 3, 4]
    assert listing.items[0].usage == Decimal("0.1")


async def test_endpoints_without_an_identifier_stay_apart() -> None:
    offer = {"name": "Acme | acme/m", "tag": "acme"}
    listing = await rig(data([offer, offer])).client.catalog.zdr_endpoints()
    assert len(listing.items) == 2


# Secrets ------------------------------------------------------------------------------------------


async def test_a_refusal_is_told_without_the_secrets_that_it_repeats() -> None:
    answer = httpx.Response(
        400,
        json={
            "error": {"code": 400, "message": f"{SECRET} of {TOKEN}", "metadata": {SECRET: [TOKEN]}}
        },
        headers={"x-request-id": SECRET},
    )
    request = UpdateByokRequest(key=SecretStr(SECRET))
    with pytest.raises(errors.BadRequestError) as caught:
        await rig(answer).client.byok.update(ID, request)
    assert caught.value.message == "[redacted] of [redacted]"
    assert caught.value.metadata == {"[redacted]": ["[redacted]"]}
    assert caught.value.request_id == "[redacted]"
    assert SECRET not in text_of_error(caught.value)


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_an_answer_is_read_without_the_key_that_it_repeats(ascii_only: bool) -> None:
    """However the gateway encodes non-ASCII characters."""
    secret = "sk-Schlüssel-für-Zürich-9e2b61c07d41"
    body = {"data": {"id": ID, "provider": "openai", "name": f"with {secret}"}}
    content = json.dumps(body, ensure_ascii=ascii_only).encode()
    answer = httpx.Response(201, content=content, headers={"content-type": "application/json"})
    request = CreateByokRequest(provider="openai", key=SecretStr(secret))
    created = await rig(answer).client.byok.create(request)
    assert created.name == "with [redacted]"


async def test_the_catalog_is_counted() -> None:
    assert await rig(data({"count": 42})).client.catalog.count() == 42
    with pytest.raises(errors.UnreadableAnswerError):
        await rig(data({"count": "many"})).client.catalog.count()


# Secrets ------------------------------------------------------------------------------------------


NEW_KEY = "gw-v1-NEW-SENTINEL-fedcba9876543210"


def raising(kind: type[httpx.RequestError]) -> Step:
    """An error that carries the request with its headers, as the real ones do."""

    def step(request: httpx.Request) -> httpx.Response:
        raise kind(f"while sending {request.headers['authorization']}", request=request)

    return step


def broken(_: httpx.Request) -> httpx.Response:
    raise OSError(5, TOKEN)


FAULTS: dict[str, Step] = {
    kind.__name__: raising(kind)
    for kind in (
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.ReadError,
        httpx.ReadTimeout,
        httpx.WriteError,
        httpx.PoolTimeout,
        httpx.ProxyError,
        httpx.RemoteProtocolError,
        httpx.LocalProtocolError,
        httpx.UnsupportedProtocol,
        httpx.DecodingError,
    )
}
FAULTS |= {
    f"status {status}": refusal(status, f"{TOKEN} is bad", headers={"x-request-id": TOKEN})
    for status in (400, 401, 403, 404, 409, 429, 500, 503)
}
FAULTS |= {
    "os error": broken,
    "redirect": httpx.Response(302, headers={"location": f"https://x.test/?t={TOKEN}"}),
    "cut off": httpx.Response(200, content=f'{{"data": "{TOKEN}'.encode(), headers=JSON),
    "not json": httpx.Response(200, text=f"<p>{TOKEN}</p>"),
    "too large": httpx.Response(200, content=TOKEN.encode() * 100, headers=JSON),
    "no data": httpx.Response(200, json={"data": TOKEN}),
    "not utf-8": httpx.Response(200, content=TOKEN.encode() + b"\xff", headers=JSON),
}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("writes", [False, True], ids=["read", "write"])
async def test_failures_never_contain_the_token(
    fault: Step, writes: bool, log: pytest.LogCaptureFixture
) -> None:
    gateway = rig(fault)
    with pytest.raises(errors.GatewayError) as caught:
        await (gateway.client.keys.delete("h") if writes else gateway.client.credits.get())
    assert gateway.script.requests[0].headers["authorization"].endswith(TOKEN)
    assert TOKEN not in text_of_error(caught.value)
    assert TOKEN not in log.text + repr(gateway.notices)
    assert caught.value.__context__ is None


async def test_success_is_logged_without_identifiers(log: pytest.LogCaptureFixture) -> None:
    gateway = rig(data({"hash": "HASH-1"}, key=NEW_KEY), max_answer=10_000)
    await gateway.client.keys.create(CreateKeyRequest(name="n"))
    await gateway.client.keys.get("HASH-1")
    mine = [record.getMessage() for record in log.records if record.name == "gwtui.client"]
    assert mine == ["POST /keys -> ok in 0 ms", "GET /keys/{hash} -> ok in 0 ms"]
    assert TOKEN not in log.text
    assert NEW_KEY not in log.text


def test_errors_survive_copying_with_their_meaning() -> None:
    error = errors.RateLimitedError("slow down", request_id="r", retry_after=3)
    assert copy.copy(error).message == "slow down"
    assert pickle.loads(pickle.dumps(error)).retry_after == 3  # noqa: S301 - our own bytes
