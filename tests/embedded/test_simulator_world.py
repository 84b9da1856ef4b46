"""The first day: deterministic by seed, every state of a key, a balance one can believe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from gateway_facts import used_of_limit
from gwtui.contract.keys import is_expired, limit_used_share
from gwtui.contract.workspaces import Workspace
from gwtui.embedded.simulator.build import build_world
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.usage import accrued
from gwtui.embedded.simulator.world import SeedKey, World

DAY = timedelta(days=1)
MOMENTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2026, 11, 2, 0, 0, 5, 123_456, tzinfo=UTC),  # first minute of a Monday
    datetime(2027, 3, 1, 0, 0, tzinfo=UTC),  # a Monday and the first of a month at once
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)


@pytest.fixture(scope="module", params=[(seed, at) for seed in (1, 7) for at in MOMENTS])
def world(request: pytest.FixtureRequest) -> World:
    return build_world(*request.param)


def share(key: SeedKey) -> Decimal | None:
    return limit_used_share(
        key.limit, None if key.limit is None else key.limit - used_of_limit(key)
    )


def works(key: SeedKey, now: datetime) -> bool:
    return not key.disabled and not is_expired(key.expires_at, now)


def test_the_same_arguments_give_the_same_world() -> None:
    assert build_world(3, MOMENTS[0]) == build_world(3, MOMENTS[0])


def test_another_seed_gives_another_world() -> None:
    one, other = build_world(1, MOMENTS[0]), build_world(2, MOMENTS[0])
    assert not {key.hash for key in one.keys} & {key.hash for key in other.keys}
    assert not {item.id for item in one.workspaces} & {item.id for item in other.workspaces}
    assert one.total_usage != other.total_usage


def test_identities_do_not_depend_on_the_moment() -> None:
    one, other = build_world(1, MOMENTS[0]), build_world(1, MOMENTS[1])
    assert {key.hash for key in one.keys} == {key.hash for key in other.keys}


def test_workspaces(world: World) -> None:
    assert len(world.workspaces) >= 3
    assert [item.is_default for item in world.workspaces].count(True) == 1
    assert world.default_workspace.slug == "default"
    names = set(Workspace.model_fields)
    models = {model.id for model in build_catalog(world.seed).models}
    for item in world.workspaces:
        assert names <= {name for name in dir(item) if not name.startswith("_")}
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item.slug)
        assert Decimal("0.0001") <= item.io_logging_sampling_rate <= 1
        assert {item.default_text_model, item.default_image_model} - {None} <= models
    per_workspace = Counter(key.workspace_id for key in world.keys)
    assert sum(count >= 8 for count in per_workspace.values()) >= 3
    assert any(item.id not in per_workspace for item in world.workspaces), "an empty one"


STATES: dict[str, Callable[[SeedKey, datetime], bool]] = {
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
    "BYOK counted": lambda key, now: key.include_byok_in_limit and key.usage.all_time.byok_usd > 0,
    "BYOK not counted": lambda key, now: (
        not key.include_byok_in_limit and key.usage.all_time.byok_usd > 0
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


def test_a_never_used_key_has_no_usage(world: World) -> None:
    for key in world.keys:
        assert (key.last_used_at is None) == (key.usage.all_time.requests == 0)
        assert key.profile.quiet == (key.last_used_at is None)


def test_a_key_at_its_limit_without_reset_stands_still(world: World) -> None:
    exhausted = [key for key in world.keys if key.limit_reset is None and (share(key) or 0) > 1]
    assert exhausted
    for key in exhausted:
        assert not accrued(key.profile, world.moment, world.moment + DAY).requests
        assert accrued(key.profile.without_end(), world.moment, world.moment + 7 * DAY).requests


def test_counters_agree_with_each_other_and_with_the_profile(world: World) -> None:
    now = world.moment
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for key in world.keys:
        assert key.usage.all_time == accrued(key.profile, key.created_at, now)
        assert key.usage.daily == accrued(key.profile, today, now)
        assert key.usage.daily.usd <= key.usage.weekly.usd <= key.usage.all_time.usd
        assert key.usage.daily.usd <= key.usage.monthly.usd <= key.usage.all_time.usd


def test_the_account_is_plausible(world: World) -> None:
    balance = world.total_credits - world.total_usage
    assert 300 < balance < 1000
    assert 3000 < world.total_credits < 20_000
    assert world.retired_usage >= 0
    assert all(purchase.moment < world.moment for purchase in world.purchases)


def test_the_balance_falls_visibly_at_any_hour(world: World) -> None:
    for hour in range(0, 72, 3):
        start = world.moment + timedelta(hours=hour)
        end = start + timedelta(minutes=10)
        burnt = sum(accrued(key.profile, start, end).usd for key in world.keys)
        assert Decimal("0.05") < burnt < Decimal(2), f"{start}: {burnt} USD in ten minutes"
