"""The first day: deterministic by seed, every state of a key, a balance one can believe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from gateway_facts import FoundedKey, World, stopped_at
from gateway_facts import world as world_of
from gwtui.contract.keys import is_expired, limit_used_share
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.usage import accrual, accrued

DAY = timedelta(days=1)
MOMENTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2026, 11, 2, 0, 0, 5, 123_456, tzinfo=UTC),  # first minute of a Monday
    datetime(2027, 3, 1, 0, 0, tzinfo=UTC),  # a Monday and the first of a month at once
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)


@pytest.fixture(scope="module", params=[(seed, at) for seed in (1, 7) for at in MOMENTS])
def world(request: pytest.FixtureRequest) -> World:
    return world_of(*request.param)


def share(key: FoundedKey) -> Decimal | None:
    return limit_used_share(key.limit, key.remaining)


def works(key: FoundedKey, now: datetime) -> bool:
    return not key.disabled and not is_expired(key.expires_at, now)


def test_another_seed_gives_another_world() -> None:
    one, other = world_of(1, MOMENTS[0]), world_of(2, MOMENTS[0])
    assert not {key.hash for key in one.keys} & {key.hash for key in other.keys}
    assert not {item.id for item in one.workspaces} & {item.id for item in other.workspaces}
    assert one.account.total_usage != other.account.total_usage


def test_workspaces(world: World) -> None:
    assert len(world.workspaces) >= 3
    (default,) = [item for item in world.workspaces if item.id == world.default_workspace_id]
    assert default.slug == "default"
    models = {model.id for model in build_catalog(world.seed).models}
    for item in world.workspaces:
        assert item.gaps == {}
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item.slug)
        assert Decimal("0.0001") <= item.io_logging_sampling_rate <= 1
        assert {item.default_text_model, item.default_image_model} - {None} <= models
    per_workspace = Counter(key.workspace_id for key in world.keys)
    assert sum(count >= 8 for count in per_workspace.values()) >= 3
    assert any(item.id not in per_workspace for item in world.workspaces), "an empty one"


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
def test_every_state_is_there_whenever_the_world_begins(world: World, state: str) -> None:
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


def test_a_key_at_its_limit_without_reset_stands_still(world: World) -> None:
    exhausted = [key for key in world.keys if key.limit_reset is None and (share(key) or 0) > 1]
    assert exhausted
    for key in exhausted:
        assert key.last_used_at < world.moment - timedelta(hours=4)
        assert accrual(key.profile, world.moment, world.moment + 7 * DAY)


def test_the_sums_are_what_the_clients_asked_for(world: World) -> None:
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


def test_the_balance_falls_visibly_at_any_hour(world: World) -> None:
    for hour in range(0, 72, 3):
        start = world.moment + timedelta(hours=hour)
        end = start + timedelta(minutes=10)
        burnt = sum(
            accrued(key.profile, start, end).usd
            for key in world.keys
            if key.profile and stopped_at(key, world.moment) == world.moment
        )
        assert Decimal("0.05") < burnt < Decimal(2), f"{start}: {burnt} USD in ten minutes"
