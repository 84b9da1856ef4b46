"""``gwtui try compare`` against the embedded gateway: one prompt, one maximum for all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from gwtui.cli import exits
from login_kit import Commands, ServedGateway, served_gateway

MODEL = "northwind/atlas-large"
TAGS = ["northwind", "quasar"]
DOWN = "tidepool/eu"
"""An endpoint whose provider is made to fail."""
COMPARE = ("try", "compare", "--model", MODEL, "--prompt", "What is a lighthouse?")


@pytest.fixture(scope="module")
def served() -> Iterator[ServedGateway]:
    with served_gateway("simulated", before=failing, speed=20) as gateway:
        yield gateway


def failing(gateway: Any) -> Any:
    """The gateway, but for requests to one endpoint."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") != "/api/v1/chat/completions":
            await gateway(scope, receive, send)
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        if json.loads(raw)["provider"]["only"] == [DOWN]:
            body = json.dumps({"error": {"code": 502, "message": "it is down"}}).encode()
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 502, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        whole = iter([{"type": "http.request", "body": raw}])

        async def replayed() -> Any:
            return next(whole, None) or await receive()

        await gateway(scope, replayed, send)

    return application


def again(
    gwtui: Commands, monkeypatch: pytest.MonkeyPatch, served: ServedGateway, *words: str
) -> tuple[int, str, str]:
    """A command takes the key out of the environment."""
    monkeypatch.setenv("GWTUI_TRY_KEY", served.ordinary)
    return gwtui(*COMPARE, "--max-tokens", "20", *words)


@pytest.fixture
def gwtui(
    served: ServedGateway,
    private_home: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Commands:
    monkeypatch.setenv("GWTUI_BASE_URL", served.base_url)
    monkeypatch.setenv("GWTUI_TRY_KEY", served.ordinary)
    return Commands(monkeypatch, capsys)


def endpoints(tags: list[str]) -> list[str]:
    return [word for tag in tags for word in ("--endpoint", tag)]


def test_two_answers_stand_side_by_side(gwtui: Commands) -> None:
    code, out, err = gwtui(*COMPARE, *endpoints(TAGS), "--max-tokens", "20")
    assert code == exits.OK, err
    head, *rows = out.splitlines()
    assert head.split()[0] == "endpoint"
    assert [row.split()[0] for row in rows] == TAGS
    assert all(" ms" in row and "$" in row for row in rows)
    assert "total cost: $" in err


def test_json_has_everything_and_each_was_served_where_it_was_pinned(gwtui: Commands) -> None:
    words = (*endpoints(TAGS), "--max-tokens", "20", "--in-turn", "--output", "json")
    code, out, err = gwtui(*COMPARE, *words)
    assert code == exits.OK, err
    found = json.loads(out)["compared"]
    assert [one["endpoint"] for one in found] == TAGS
    assert len({one["provider"] for one in found}) == 2
    for one in found:
        assert one["text"]
        assert one["first_token_ms"] > 0
        assert Decimal(str(one["cost_usd"])) > 0 or one["usage"]["is_byok"]
        assert one["error"] is None


def test_one_that_is_refused_does_not_stop_the_others(
    gwtui: Commands, monkeypatch: pytest.MonkeyPatch, served: ServedGateway
) -> None:
    words = (*endpoints([TAGS[0], DOWN]), "--max-tokens", "20", "--output", "json")
    code, out, err = gwtui(*COMPARE, *words)
    assert code == exits.INCOMPLETE, err
    first, second = json.loads(out)["compared"]
    assert first["text"]
    assert second["error"]["kind"] == "provider failed"
    code, out, _ = again(gwtui, monkeypatch, served, *endpoints([TAGS[0], DOWN]))
    assert "provider failed: it is down" in out.splitlines()[2]


def test_the_maximum_holds_for_the_sum(gwtui: Commands) -> None:
    code, _, err = gwtui(*COMPARE, *endpoints(TAGS), "--max-tokens", "20", "--max-cost", "0.000001")
    assert code == exits.USAGE
    assert "not sent: it may cost up to" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--endpoint", "northwind"], "2 to 4 can be compared"),
        (["--endpoint", "northwind", "--endpoint", "northwind"], "each endpoint is compared once"),
        (["--endpoint", "northwind", "--endpoint", "nrthwind"], "has no endpoint nrthwind"),
    ],
)
def test_what_cannot_be_compared_is_not_sent(gwtui: Commands, words: list[str], said: str) -> None:
    code, out, err = gwtui(*COMPARE, *words)
    assert (code, out) == (exits.USAGE, "")
    assert said in err


def test_read_only_compares_nothing(gwtui: Commands) -> None:
    code, _, err = gwtui(*COMPARE, *endpoints(TAGS), "--read-only")
    assert code == exits.FAILED
    assert "read-only" in err
