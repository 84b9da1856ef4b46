"""The simulated world: usage over any period, every state on its first day, live metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
from gateway_kit import START
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_facts import FoundedKey, World, stopped_at
from gateway_facts import world as world_of
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.keys import is_expired, limit_used_share
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator.catalog import (
    STEP,
    CatalogEndpoint,
    build_catalog,
    live_figures,
)
from gwtui.embedded.simulator.usage import (
    UsageProfile,
    UsageSlice,
    accrual,
    accrued,
    accrued_by_day,
)
from seeded_gateways import no_chance

# Usage --------------------------------------------------------------------------------------------


NOW = datetime(2026, 11, 21, 9, 0, 3, 250_000, tzinfo=UTC)
WEEK = timedelta(days=7)


@cache
def busy() -> list[UsageProfile]:
    """Keys in use."""
    return [key.profile for key in world_of(1, NOW).keys if key.profile]


def in_use() -> list[UsageProfile]:
    """Keys that were not abandoned."""
    return [profile for profile in busy() if not profile.abandoned_at]


profiles = st.deferred(lambda: st.sampled_from(busy()))

offsets = st.integers(min_value=-40 * 86_400_000_000, max_value=40 * 86_400_000_000)


def moment(offset: int) -> datetime:
    return NOW + timedelta(microseconds=offset)


def sums(slices: list[UsageSlice]) -> tuple[Decimal, Decimal, int, int, int]:
    return (
        sum((piece.usd for piece in slices), Decimal(0)),
        sum((piece.byok_usd for piece in slices), Decimal(0)),
        sum(piece.requests for piece in slices),
        sum(piece.prompt_tokens for piece in slices),
        sum(piece.completion_tokens for piece in slices),
    )


def requests(profile: UsageProfile, since: datetime, until: datetime) -> int:
    return sum(piece.requests for piece in accrued_by_day(profile, since, until))


@settings(deadline=None)
@given(
    profile=profiles,
    cuts=st.lists(offsets, min_size=3, max_size=3).map(sorted),
)
def test_adjoining_intervals_add_up_exactly(profile: UsageProfile, cuts: list[int]) -> None:
    first, middle, last = map(moment, cuts)
    parts = accrual(profile, first, middle) + accrual(profile, middle, last)
    assert sums(parts) == sums(accrual(profile, first, last))


@settings(deadline=None)
@given(profile=profiles, cuts=st.lists(offsets, min_size=2, max_size=2).map(sorted))
def test_totals_are_the_sums_of_the_slices(profile: UsageProfile, cuts: list[int]) -> None:
    first, last = map(moment, cuts)
    slices = accrual(profile, first, last)
    assert accrued(profile, first, last) == sums(slices)[:2]
    assert sums(accrued_by_day(profile, first, last)) == sums(slices)


@settings(deadline=None)
@given(profile=profiles, cuts=st.lists(offsets, min_size=2, max_size=2).map(sorted))
def test_requests_are_made_within_the_interval_and_in_order(
    profile: UsageProfile, cuts: list[int]
) -> None:
    first, last = map(moment, cuts)
    slices = accrual(profile, first, last)
    moments = [piece.moment for piece in slices]
    assert moments == sorted(moments)
    assert all(first <= item < last for item in moments)
    assert all(piece.requests > 0 for piece in slices)


def test_the_moment_of_a_slice_is_its_last_request() -> None:
    second = timedelta(seconds=1)
    for profile in busy():
        since = profile.active_from
        total = requests(profile, since, since + WEEK)
        last = max(piece.moment for piece in accrued_by_day(profile, since, since + WEEK))
        assert requests(profile, since, last - second) < total
        assert requests(profile, since, last + second) == total


def test_an_empty_or_reversed_interval_is_empty() -> None:
    for profile in busy():
        assert accrual(profile, NOW, NOW) == []
        assert accrual(profile, NOW, NOW - WEEK) == []
        assert accrued(profile, NOW, NOW - WEEK) == (0, 0)


def test_no_usage_before_creation_or_after_abandonment() -> None:
    abandoned = [profile for profile in busy() if profile.abandoned_at]
    assert abandoned
    for profile in busy():
        assert accrual(profile, profile.active_from - WEEK, profile.active_from) == []
    for profile in abandoned:
        assert profile.abandoned_at is not None
        assert accrual(profile, profile.abandoned_at, profile.abandoned_at + WEEK) == []


def test_byok_requests_cost_no_credits() -> None:
    slices = [piece for item in in_use() for piece in accrual(item, NOW, NOW + WEEK)]
    assert any(piece.byok_usd for piece in slices)
    assert not any(piece.usd and piece.byok_usd for piece in slices)


def test_a_rare_stream_keeps_its_average() -> None:
    rare = replace(in_use()[0].streams[0], requests_per_day=0.4)
    profile = replace(in_use()[0], rhythm="nightly", active_from=NOW, streams=(rare,))
    days = 1000
    assert 0.3 * days < requests(profile, NOW, NOW + timedelta(days=days)) < 0.5 * days


# The first day ------------------------------------------------------------------------------------


DAY = timedelta(days=1)
STARTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2026, 11, 2, 0, 0, 5, 123_456, tzinfo=UTC),  # first minute of a Monday
    datetime(2027, 3, 1, 0, 0, tzinfo=UTC),  # a Monday and the first of a month at once
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)


@pytest.fixture(scope="module", params=[(seed, start) for seed in (1, 7) for start in STARTS])
def world(request: pytest.FixtureRequest) -> World:
    return world_of(*request.param)


def share(key: FoundedKey) -> Decimal | None:
    return limit_used_share(key.limit, key.remaining)


def works(key: FoundedKey, now: datetime) -> bool:
    return not key.disabled and not is_expired(key.expires_at, now)


STATES: dict[str, Callable[[FoundedKey, datetime], bool]] = {
    "near limit": lambda key, now: works(key, now) and Decimal("0.85") <= (share(key) or 0) < 1,
    "over limit": lambda key, now: works(key, now) and (share(key) or 0) > 1,
    "expired": lambda key, now: is_expired(key.expires_at, now),
    "expiring within a day": lambda key, now: (
        works(key, now) and key.expires_at is not None and key.expires_at - now < DAY
    ),
    "expiring within a week": lambda key, now: (
        works(key, now) and key.expires_at is not None and DAY < key.expires_at - now < 7 * DAY
    ),
    "expiring far off": lambda key, now: (
        key.expires_at is not None and key.expires_at - now > 60 * DAY
    ),
    "disabled": lambda key, now: key.disabled,
    "never used": lambda key, now: key.last_used_at is None,
    "never used but old": lambda key, now: (
        key.last_used_at is None and now - key.created_at > 60 * DAY
    ),
    "unused for long": lambda key, now: (
        works(key, now) and key.last_used_at is not None and now - key.last_used_at > 90 * DAY
    ),
    "no limit": lambda key, now: key.limit is None,
    "limit without reset": lambda key, now: key.limit is not None and key.limit_reset is None,
    "daily": lambda key, now: key.limit_reset == "daily",
    "weekly": lambda key, now: key.limit_reset == "weekly",
    "monthly": lambda key, now: key.limit_reset == "monthly",
    "BYOK counted": lambda key, now: key.include_byok_in_limit and key.used["byok_usage"] > 0,
    "BYOK not counted": lambda key, now: (
        not key.include_byok_in_limit and key.used["byok_usage"] > 0
    ),
    "never changed": lambda key, now: key.updated_at is None,
    "changed": lambda key, now: key.updated_at is not None,
    "unknown creator": lambda key, now: key.creator_user_id is None,
    "external user": lambda key, now: key.external_user is not None,
    "new": lambda key, now: now - key.created_at < DAY,
}


@pytest.mark.parametrize("state", STATES)
def test_every_start_time_has_every_state(world: World, state: str) -> None:
    assert any(STATES[state](key, world.moment) for key in world.keys)


def test_keys_are_well_formed(world: World) -> None:
    assert len(world.keys) >= 40
    assert len({key.hash for key in world.keys}) == len(world.keys)
    homes = {item.id: item for item in world.workspaces}
    users = {user.id for user in world.users}
    for key in world.keys:
        assert re.fullmatch(r"[0-9a-f]{64}", key.hash)
        assert re.fullmatch(r"gw-v1-[0-9a-f]{3}\.\.\.[0-9a-f]{3}", key.label)
        assert key.creator_user_id is None or key.creator_user_id in users
        assert homes[key.workspace_id].created_at <= key.created_at < world.moment
        for later in (key.updated_at, key.last_used_at):
            assert later is None or key.created_at <= later <= world.moment
        assert key.expires_at is None or key.expires_at > key.created_at


def test_a_key_at_its_limit_has_no_further_usage(world: World) -> None:
    exhausted = [key for key in world.keys if key.limit_reset is None and (share(key) or 0) > 1]
    assert exhausted
    for key in exhausted:
        assert key.last_used_at < world.moment - timedelta(hours=4)
        assert accrual(key.profile, world.moment, world.moment + 7 * DAY)


def test_simulated_sums_equal_the_requests(world: World) -> None:
    now = world.moment
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for key in world.keys:
        used, until = key.used, stopped_at(key, now)
        if key.profile is not None:
            assert used["usage"] == accrued(key.profile, key.created_at, until).usd
            assert used["usage_daily"] == accrued(key.profile, today, until).usd
        assert used["usage_daily"] <= used["usage_weekly"] <= used["usage"]
        assert used["usage_daily"] <= used["usage_monthly"] <= used["usage"]


def test_the_account_is_plausible(world: World) -> None:
    account = world.account
    assert 300 < account.total_credits - account.total_usage < 1000
    assert 3000 < account.total_credits < 20_000
    assert account.total_usage >= sum(key.used["usage"] for key in world.keys)
    assert all(moment < world.moment for moment, _ in account.purchases)


def test_the_catalog_has_every_kind_of_model():
    settings = [
        {name for name, value in guardrail.raw.items() if value not in (None, False)}
        for guardrail in world_of(1, START).guardrails
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
    binding = {assignment.guardrail_id for assignment in world_of(1, START).key_assignments}
    binding |= {assignment.guardrail_id for assignment in world_of(1, START).member_assignments}
    assert any(guardrail.id not in binding for guardrail in world_of(1, START).guardrails)
    terms = [credential.raw for credential in world_of(1, START).credentials]
    for item in (
        {"is_fallback": True},
        {"disabled": True},
        {"is_required": True},
        {"is_byok_only": True},
        {"allowed_user_ids": []},
        {"name": None},
        {"declared_region": "europe"},
    ):
        assert any(item.items() <= term.items() for term in terms), item


# The catalog --------------------------------------------------------------------------------------


def offers() -> list[dict[str, Any]]:
    items = [endpoint for model in CATALOG.models for endpoint in model.endpoints]
    return [{**item.wire, **live_figures(CATALOG, item.key, MOMENT)} for item in items]


def test_endpoints_vary() -> None:
    result = offers()
    assert {offer["service_tier"] for offer in result} >= {None, "flex", "priority"}
    assert sum(offer["status"] < 0 for offer in result) == 1
    assert any(model.id.endswith(":free") for model in CATALOG.models)
    assert any(not model.wire["description"].isascii() for model in CATALOG.models)
    assert any(len(model.wire["name"]) > 60 for model in CATALOG.models)
    for flag in ("diarization", "image_reference", "voice_cloning", "multiple_audio_references"):
        assert any(offer[f"supports_{flag}"] for offer in result), flag


# Live figures -------------------------------------------------------------------------------------


MOMENT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PERCENTILES = ("p50", "p75", "p90", "p99")
CATALOG = build_catalog(1)
MINUTES = [MOMENT + timedelta(minutes=minute) for minute in range(0, 720, 5)]


def endpoints(condition: str | None = None) -> list[CatalogEndpoint]:
    return [
        endpoint
        for model in CATALOG.models
        for endpoint in model.endpoints
        if condition in {None, endpoint.condition}
    ]


def series(key: str, field: str) -> list[Any]:
    return [live_figures(CATALOG, key, moment)[field] for moment in MINUTES]


@given(
    endpoint=st.sampled_from(endpoints()),
    moment=st.datetimes(datetime(2025, 1, 1), datetime(2031, 1, 1)),  # noqa: DTZ001
)
def test_ranges_and_order_at_any_moment(endpoint: CatalogEndpoint, moment: datetime) -> None:
    figures = live_figures(CATALOG, endpoint.key, moment.replace(tzinfo=UTC))
    for window in ("5m", "30m", "1d"):
        uptime = figures[f"uptime_last_{window}"]
        assert uptime is None or 0 <= uptime <= 100
    for workload, performance in figures["perf_last_30m_by_workload"].items():
        latency = [performance["latency"][name] for name in PERCENTILES]
        assert latency == sorted(latency)
        assert latency[0] > 0
        assert performance["request_count"] >= 0
        if workload == "text_generation":
            speed = [performance["throughput"][name] for name in PERCENTILES]
            assert speed == sorted(speed, reverse=True)
            assert speed[-1] > 0
        else:
            assert performance["throughput"] is None


def test_metrics_change_between_steps_only() -> None:
    key = "northwind/atlas-large|northwind"
    start = live_figures(CATALOG, key, MOMENT)
    assert live_figures(CATALOG, key, MOMENT + timedelta(seconds=STEP - 1)) == start
    assert live_figures(CATALOG, key, MOMENT + timedelta(minutes=2)) != start


def test_no_traffic_is_null_everywhere() -> None:
    idle = endpoints("idle")
    assert len(idle) >= 2
    for endpoint in idle:
        figures = live_figures(CATALOG, endpoint.key, MOMENT)
        assert figures.pop("perf_last_30m_by_workload") == {}
        assert set(figures.values()) == {None}


def test_sparse_traffic_has_no_minutes_to_count() -> None:
    for endpoint in endpoints("sparse"):
        figures = live_figures(CATALOG, endpoint.key, MOMENT)
        assert figures["uptime_last_5m"] is None
        assert figures["uptime_last_1d"] is None
        assert figures["uptime_last_30m"] is not None


def test_one_endpoint_is_down() -> None:
    (down,) = endpoints("down")
    assert down.wire["status"] < 0
    assert max(series(down.key, "uptime_last_30m")) < 10
    assert set(series(down.key, "uptime_last_1d")) == {0.0}


# Digests: they change only where somebody means to change the world -------------------------------


MOMENTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)

CATALOG_DIGEST = "08ade8bc7373c9d3b66cad203eb5e80d2e8e18d8cb87318cec7f2a06cc0d5337"
FIGURES_DIGEST = "ab8b6532666252a63ab009c2b1c5b731711549b3a79c1934aa8d3749a266b3bb"
DATABASE_DIGEST = "24ec9a6ec8b8e9c1939bf24a212e60ec73a24ce29214a4b300562c45624e4239"


TABLES = re.compile(
    'INSERT INTO "?(budgets|byok|generations|guardrail_keys|guardrail_members|guardrails|keys'
    "|organization_members|settings|usage|workspace_members|workspaces)\\b"
)


def digest(values: Iterator[Any]) -> str:
    lines = (json.dumps(value, default=str, ensure_ascii=False) for value in values)
    return sha256("\n".join(lines).encode()).hexdigest()


def test_the_catalog() -> None:
    def values() -> Iterator[Any]:
        catalog = build_catalog(1)
        yield catalog.providers
        for model in catalog.models:
            figures = ("intelligence", "coding", "agentic", "tool_success", "arena")
            yield model.wire
            yield {
                "categories": sorted(model.entry.get("categories", ())),
                **{name: model.entry.get("rank", {}).get(name) for name in figures},
            }
            yield [model.popularity, model.is_distillable]
            for endpoint in model.endpoints:
                traits = ("workloads", "latency_ms", "throughput", "requests", "condition")
                values_of_endpoint = {name: getattr(endpoint, name) for name in traits}
                values_of_endpoint["latency_ms"] = endpoint.offer["latency"]
                yield [endpoint.id, endpoint.key, endpoint.wire, values_of_endpoint]
                yield [sorted(endpoint.regions), endpoint.is_zero_retention]

    assert digest(values()) == CATALOG_DIGEST


def test_the_figures_of_each_endpoint() -> None:
    def values() -> Iterator[Any]:
        for seed, moment in zip((1, 7), MOMENTS, strict=True):
            catalog = build_catalog(seed)
            for model in catalog.models:
                for endpoint in model.endpoints:
                    yield live_figures(catalog, endpoint.key, moment)

    assert digest(values()) == FIGURES_DIGEST


def test_the_database_of_a_first_day() -> None:
    with no_chance():
        gateway = EmbeddedGateway(None, clock=Clock(now=lambda: MOMENTS[0]), dialect=OPENROUTER)
    try:
        with gateway.database.read() as db:
            assert digest(filter(TABLES.match, db.iterdump())) == DATABASE_DIGEST
    finally:
        gateway.close()
