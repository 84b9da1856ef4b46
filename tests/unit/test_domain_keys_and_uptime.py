"""States in a word: endpoints by uptime, keys by what they can still do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.catalog import verdict
from gwtui.domain.keys import key_state

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
MISSING = object()


def endpoint(newest: Any, half_hour: Any, day: Any, **changes: Any) -> Endpoint:
    body = {
        "uptime_last_5m": newest,
        "uptime_last_30m": half_hour,
        "uptime_last_1d": day,
        **changes,
    }
    return Endpoint.model_validate({name: v for name, v in body.items() if v is not MISSING})


@pytest.mark.parametrize(
    ("figures", "word", "tone"),
    [
        ((100, 99.9, 99.5), "healthy", "good"),
        ((95, 95, 90), "healthy", "good"),
        ((94.99, 99, 99), "degraded", "warn"),
        ((50, 99, 99), "degraded", "warn"),
        ((49.99, 99, 99), "down", "bad"),
        ((0, 0, 0), "down", "bad"),
        ((100, 60, 99), "degraded", "warn"),
        ((100, 100, 89), "degraded", "warn"),
        ((None, 99, 99), "healthy", "good"),
        ((None, 20, 99), "down", "bad"),
        ((100, None, None), "healthy", "good"),
        ((None, None, 99), "no traffic", "muted"),
        ((None, None, None), "no traffic", "muted"),
        ((MISSING, None, None), "no traffic", "muted"),
        ((MISSING, MISSING, MISSING), "unknown", "muted"),
        (("good", [], {}), "unknown", "muted"),
    ],
)
def test_uptime_metrics_decide_the_state(
    figures: tuple[Any, Any, Any], word: str, tone: str
) -> None:
    for changes in ({"status": 0}, {}):
        result = verdict(endpoint(*figures, **changes))
        assert (result.word, result.tone) == (word, tone)
        assert result.why


def test_the_reason_names_the_reported_metrics() -> None:
    assert verdict(endpoint(None, 96.5, 99.999)).why == "30 min 96.5%, 1 day >99.99%"
    assert verdict(endpoint(100, 60, None)).why == "recovering: 5 min 100%, 30 min 60%"


def test_an_unknown_status_is_shown_unchanged() -> None:
    result = verdict(endpoint(100, 100, 100, status=-2))
    assert (result.word, result.tone) == ("status -2", "warn")
    assert "does not explain" in result.why
    assert "5 min 100%" in result.why
    assert verdict(endpoint(None, None, None, status=-42)).word == "status -42"


def test_a_failing_endpoint_is_down_whatever_its_status() -> None:
    result = verdict(endpoint(3, 2, 1, status=-5))
    assert result.word == "down"
    assert "status -5" in result.why


def key(**changes: Any) -> ApiKey:
    body: dict[str, Any] = {
        "disabled": False,
        "limit": 50,
        "limit_remaining": 30,
        "usage": 20,
        "byok_usage": 0,
        "expires_at": None,
        "last_used_at": timestamp_text(NOW - timedelta(minutes=3)),
        **changes,
    }
    return ApiKey.model_validate({name: v for name, v in body.items() if v is not MISSING})


def expiring(**span: float) -> dict[str, str]:
    return {"expires_at": timestamp_text(NOW + timedelta(**span))}


@pytest.mark.parametrize(
    ("changes", "word", "tone"),
    [
        ({}, "active", "good"),
        ({"disabled": True, "limit_remaining": 0, **expiring(days=-1)}, "disabled", "muted"),
        ({"limit_remaining": 0, **expiring(days=-1)}, "expired", "muted"),
        (expiring(seconds=0), "expired", "muted"),
        ({"limit_remaining": 0}, "over limit", "bad"),
        ({"limit_remaining": -3}, "over limit", "bad"),
        ({"limit": 0, "limit_remaining": None}, "over limit", "bad"),
        ({"limit": MISSING, "limit_remaining": -1}, "over limit", "bad"),
        ({"limit_remaining": 1, **expiring(days=3)}, "expiring soon", "warn"),
        (expiring(days=7), "expiring soon", "warn"),
        (expiring(days=7, seconds=1), "active", "good"),
        ({"limit_remaining": 10}, "near limit", "warn"),
        ({"limit_remaining": 10.01}, "active", "good"),
        ({"limit": None, "limit_remaining": None}, "active", "good"),
        ({"limit": None, "limit_remaining": -1}, "active", "good"),
        ({"usage": 0, "last_used_at": None}, "never used", "muted"),
        ({"usage": 0, "last_used_at": MISSING}, "never used", "muted"),
        ({"usage": 0, "byok_usage": 1, "last_used_at": None}, "active", "good"),
        ({"usage": 0}, "active", "good"),
        ({"usage": MISSING, "last_used_at": MISSING}, "active", "good"),
        ({"disabled": MISSING}, "unknown", "muted"),
        ({"disabled": "maybe"}, "unknown", "muted"),
    ],
)
def test_a_key_shows_its_most_severe_state(changes: dict[str, Any], word: str, tone: str) -> None:
    result = key_state(key(**changes), NOW)
    assert (result.word, result.tone) == (word, tone)
    assert result.why


def test_the_reason_names_figures() -> None:
    assert key_state(key(limit_remaining=5), NOW).why == "90% of the limit used"
    assert key_state(key(**expiring(days=3)), NOW).why == "stops working in 3 days"
