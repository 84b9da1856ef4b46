"""Invalid requests get a documented refusal, never a 500."""

from __future__ import annotations

import logging

import pytest
from gateway_kit import GatewayHarness

from gwtui.embedded.messages import MAX_BODY_BYTES
from gwtui.embedded.store import account, keys

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid JSON"),
        (b" \n", "not valid JSON"),
        (b"{", "not valid JSON: EOF while parsing an object at line 1 column 1"),
        (b"{'name': 'x'}", "not valid JSON"),
        (b'{"name": "x"} trailing', "not valid JSON"),
        (b'{"name": "\xff"}', "not valid JSON"),
        ('{"name": "x"}'.encode("utf-16"), "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b'{"name": "x", "limit": NaN}', "not valid JSON"),
        (b'{"name": "x", "limit": -Infinity}', "not valid JSON"),
        (b'{"name": "x", "limit": 1e999}', "limit: must be a finite number"),
        (b'{"name": "x", "limit": ' + b"9" * 400 + b"}", "limit: must be at most"),
        (b'{"name": "x", "limit": -' + b"9" * 400 + b"}", "limit: must not be negative"),
        (b'{"name": "x", "limit": 1e999999}', "limit: must be a finite number"),
        (b'{"name": ' + b"9" * 400 + b"}", "name: must be text"),
        (b'{"name": "x", "limit": ' + b"9" * 5001 + b"}", "number out of range"),
        (rb'{"name": "\ud800"}', "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'"name"', "must be a JSON object"),
        (b"7", "must be a JSON object"),
        (b"[" * 100_000, "recursion limit exceeded"),
        (b'{"name":' * 100_000, "recursion limit exceeded"),
        (b'{"name": "' + b"x" * MAX_BODY_BYTES + b'"}', f"larger than {MAX_BODY_BYTES} bytes"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
async def test_a_bad_body_is_400(gate: GatewayHarness, content: bytes, says: str):
    assert says in await gate.refused(400, "POST", "/keys", content=content, headers=JSON)
    assert await gate.data("GET", "/keys") == []


async def test_the_largest_body_is_read(gate: GatewayHarness):
    frame = b'{"name": ""}'
    content = frame[:-2] + b"x" * (MAX_BODY_BYTES - len(frame)) + frame[-2:]
    assert len(content) == MAX_BODY_BYTES
    await gate.call("POST", "/keys", content=content, headers=JSON, expect=201)


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
async def test_another_content_type_is_400(gate: GatewayHarness, content_type: str):
    headers = {"Content-Type": content_type}
    message = await gate.refused(400, "POST", "/keys", content=b'{"name":"x"}', headers=headers)
    assert message == "the Content-Type must be application/json"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
async def test_json_may_be_named_in_its_ways(gate: GatewayHarness, content_type: str):
    headers = {"Content-Type": content_type}
    await gate.call("POST", "/keys", content=b'{"name":"x"}', headers=headers, expect=201)


@pytest.mark.parametrize("path", ["/nope", "/", "/keys/", "/keys/a/b", "/models/a", "/../keys"])
async def test_an_unknown_path_is_404(gate: GatewayHarness, path: str):
    assert await gate.refused(404, "GET", path) == "Resource not found"


async def test_a_path_outside_the_prefix_is_404(gate: GatewayHarness):
    response = await gate.client.get("http://gateway.test/")
    gate.check("GET", "/nowhere", response)
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/keys", {"GET", "HEAD", "POST"}),
        ("POST", "/credits", {"GET", "HEAD"}),
        ("DELETE", "/models", {"GET", "HEAD"}),
        ("OPTIONS", "/keys/x", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("BREW", "/keys", {"GET", "HEAD", "POST"}),
    ],
)
async def test_an_unknown_method_is_405(
    gate: GatewayHarness, method: str, path: str, allowed: set[str]
):
    response = await gate.call(method, path, expect=405)
    assert set(response.headers["allow"].split(", ")) == allowed
    assert response.json()["error"] == {"code": 405, "message": "Method not allowed"}


async def test_head_answers_as_get_does(gate: GatewayHarness):
    headers = {"Authorization": f"Bearer {gate.token}"}
    assert (await gate.client.head("/keys", headers=headers)).status_code == 200
    assert (await gate.client.head("/keys")).status_code == 401


async def test_a_fault_of_the_gateway_is_a_documented_500_and_a_log_line(
    gate: GatewayHarness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(db: object) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(account, "get", broken)
    with caplog.at_level(logging.ERROR):
        message = await gate.refused(500, "GET", "/credits")
    assert message == "Internal Server Error"
    assert "GET /credits failed" in caplog.text
    assert "on fire" in caplog.text
    assert gate.token not in caplog.text
    monkeypatch.undo()
    await gate.call("GET", "/credits", expect=200)


async def test_a_handler_that_fails_half_way_leaves_nothing(
    gate: GatewayHarness, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise RuntimeError("after the insert")

    monkeypatch.setattr(keys, "records", broken)
    await gate.refused(500, "POST", "/keys", json={"name": "never"})
    monkeypatch.undo()
    assert await gate.data("GET", "/keys") == []


async def test_secrets_are_never_cached(gate: GatewayHarness):
    response = await gate.call("POST", "/keys", json={"name": "x"})
    assert response.headers["cache-control"] == "no-store"
