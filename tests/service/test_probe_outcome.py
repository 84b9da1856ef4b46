"""One probe over HTTP: what was measured, and whose failure it was."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from inference_kit import USAGE, answer_in_pieces, chunk, event, models, streams
from service_kit import Play, http_answer, sends

from gwtui.contract.models import Endpoint
from gwtui.domain.probes import ProbeTarget
from gwtui.domain.route_order import pinned_to
from gwtui.watch.probes.outcome import ProbeOutcome, probe
from resource_samples import endpoint_body


def target() -> ProbeTarget:
    endpoint = Endpoint.model_validate(endpoint_body(provider_name="One"))
    pinned = pinned_to(endpoint, [endpoint])
    assert pinned is not None
    return ProbeTarget("author/slug one", "one", "author/slug", endpoint, pinned)


async def probed(play: Play, longest: float = 5.0) -> tuple[ProbeOutcome, int]:
    async with models(play) as (inference, server):
        outcome = await probe(inference, target(), longest)
        return outcome, server.connections


def refuses(status: str, message: str, **metadata: Any) -> Play:
    code = int(status.split(maxsplit=1)[0])
    body = {"error": {"code": code, "message": message, "metadata": metadata}}
    return sends(http_answer(json.dumps(body).encode(), status=status))


async def test_an_answer_is_timed_and_its_cost_is_exact() -> None:
    outcome, _ = await probed(streams(*answer_in_pieces("O", "K")))
    assert outcome.verdict == "answered"
    assert outcome.ttft is not None
    assert 0 <= outcome.ttft < 5000
    assert outcome.cost == Decimal("0.000123")


async def test_an_answer_from_elsewhere_says_nothing_of_the_endpoint() -> None:
    parts = [
        event(chunk("OK", provider="Two")),
        event(chunk("", finish_reason="stop", provider="Two")),
        event(chunk(choices=[], usage=USAGE, provider="Two")),
    ]
    outcome, _ = await probed(streams(*parts))
    assert outcome.verdict == "nothing"
    assert outcome.cost == Decimal("0.000123"), "it is paid all the same"


@pytest.mark.parametrize(
    ("status", "message", "metadata", "verdict"),
    [
        ("401 Unauthorized", "User not found", {}, "key"),
        ("402 Payment Required", "Insufficient credits", {}, "key"),
        ("403 Forbidden", "Key limit exceeded (total limit)", {}, "key"),
        ("429 Too Many Requests", "Rate limit exceeded", {}, "key"),
        ("429 Too Many Requests", "Provider busy", {"provider_name": "One"}, "failed"),
        ("502 Bad Gateway", "Provider returned error", {"provider_name": "One"}, "failed"),
        ("503 Service Unavailable", "No provider", {}, "failed"),
        ("408 Request Timeout", "Timed out", {}, "failed"),
        ("404 Not Found", "No endpoints found for author/slug", {}, "nothing"),
        ("400 Bad Request", "max_tokens is too small", {}, "nothing"),
        ("403 Forbidden", "Request blocked by guardrail", {}, "nothing"),
    ],
)
async def test_whose_failure_a_refusal_is(
    status: str, message: str, metadata: dict[str, Any], verdict: str
) -> None:
    outcome, connections = await probed(refuses(status, message, **metadata))
    assert outcome.verdict == verdict
    assert outcome.cost == 0
    assert outcome.tells is (verdict == "failed")
    assert connections == 1, "never retried"


async def test_a_stream_that_breaks_off_is_a_failure_whose_cost_is_not_known() -> None:
    outcome, connections = await probed(streams(event(chunk("O"))))
    assert (outcome.verdict, outcome.cost, outcome.ttft) == ("failed", None, None)
    assert connections == 1


async def test_silence_is_a_failure() -> None:
    outcome, _ = await probed(streams(stay=True), longest=0.1)
    assert (outcome.verdict, outcome.cost) == ("failed", None)


async def test_a_gateway_out_of_reach_says_nothing_of_the_endpoint() -> None:
    async with models(streams()) as (inference, server):
        object.__setattr__(inference.connection, "base_url", "http://127.0.0.1:1/api/v1")
        outcome = await probe(inference, target(), 5.0)
    assert (outcome.verdict, outcome.cost, server.connections) == ("unreached", 0, 0)
