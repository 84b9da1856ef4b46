"""The plans of writes to keys: what they say and what they send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.crud.action import LIST
from gwtui.crud.plan import Change, Plan
from gwtui.resources import actions as registry
from gwtui.ui.actions.handlers import handler
from plan_kit import key_plans

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
SPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
OTHER = "1b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
NAMES = {SPACE: "Research", OTHER: "Support"}


def api_key(**changes: Any) -> ApiKey:
    given = {
        "hash": "abc123",
        "name": "ci",
        "label": "gw-v1-abc...123",
        "disabled": False,
        "limit": 100,
        "limit_remaining": 60,
        "limit_reset": "monthly",
        "include_byok_in_limit": False,
        "usage_daily": 1.25,
        "usage_weekly": 9,
        "usage_monthly": 40,
        "workspace_id": SPACE,
        "expires_at": None,
        **changes,
    }
    return ApiKey.model_validate({k: v for k, v in given.items() if v is not ...})


class Recorder:
    """Stands for the client; notes what a plan sends."""

    def __init__(self) -> None:
        self.keys = self
        self.sent: list[tuple[Any, ...]] = []

    async def create(self, request: CreateKeyRequest) -> CreatedKey:
        self.sent.append(("create", request.body()))
        return CreatedKey.model_validate({"data": {"hash": "new"}, "key": "gw-v1-secret"})

    async def update(self, identity: str, request: UpdateKeyRequest) -> ApiKey:
        self.sent.append(("update", identity, request.body()))
        return api_key()

    async def delete(self, identity: str) -> None:
        self.sent.append(("delete", identity))


async def sent(plan: Plan[Any]) -> list[tuple[Any, ...]]:
    recorder = Recorder()
    await plan.send(cast("GatewayClient", recorder))
    return recorder.sent


def changes(plan: Plan[Any]) -> dict[str, tuple[str | None, str | None]]:
    return {change.field: (change.before, change.after) for change in plan.changes}


def test_every_action_has_a_handler_and_a_key_of_its_own() -> None:
    assert all(handler(action) for action in registry.for_scope("keys"))
    assert set(registry.for_scope("keys")) <= set(registry.all_actions())
    offered = [a for a in registry.all_actions() if a.scope in {"keys", "app", LIST}]
    used = [key for action in offered for key in action.keys]
    assert len(used) == len(set(used))
    reading = {a.id for a in registry.for_scope("keys") if not (a.mutates or a.bills)}
    assert reading <= {"keys.guardrail", "keys.activity"}


async def test_creation() -> None:
    request = CreateKeyRequest(
        name="ci",
        limit=Decimal("1000.5"),
        limit_reset="monthly",
        expires_at=datetime(2026, 12, 21, 7, tzinfo=UTC),
        workspace_id=SPACE,
    )
    plan = key_plans.plan_create(request, NOW, NAMES)
    assert changes(plan) == {
        "Name": (None, "ci"),
        "Spending limit": (None, "$1,000.50"),
        "Limit resets": (None, "monthly, next Tuesday 2026-12-01 00:00 UTC, in 10 days"),
        "Expires": (None, "2026-12-21 07:00 UTC, in 30 days"),
        "Workspace": (None, "Research"),
    }
    assert plan.identity is None
    assert await sent(plan) == [("create", request.body())]
    assert plan.summary == request.body()
    assert plan.identify is not None
    created = CreatedKey.model_validate({"data": {"hash": "new"}, "key": "gw-v1-secret"})
    assert plan.identify(created) == "new"
    assert plan.identify(CreatedKey.model_validate({"key": "gw-v1-secret"})) is None


def test_creation_with_nothing_but_a_name_says_what_that_means() -> None:
    plan = key_plans.plan_create(CreateKeyRequest(name="ci"), NOW)
    assert changes(plan)["Spending limit"] == (None, "no limit")
    assert changes(plan)["Limit resets"] == (None, "never")
    assert changes(plan)["Workspace"] == (None, "the default workspace")
    assert plan.warnings == ("The key can spend without a limit.",)


def test_what_may_be_a_mistake_about_a_new_key_is_warned_of() -> None:
    sound = CreateKeyRequest(name="ci", limit=Decimal("9999.99"), expires_at=NOW + timedelta(1))
    assert key_plans.plan_create(sound, NOW).warnings == ()
    past = CreateKeyRequest(
        name="ci", limit=Decimal(99_999_999_999), expires_at=NOW - timedelta(days=3)
    )
    plan = key_plans.plan_create(past, NOW)
    assert plan.warnings == (
        "It expired 3 days ago: the key never works.",
        "Spending limit is very high: $99,999,999,999.00.",
    )
    assert plan.effects == ("Its value is shown this once only.",), "it does not work at once"


@pytest.mark.parametrize(
    ("before", "after", "warned"),
    [
        (25, 2540, "Spending limit grows tenfold or more, from $25.00 to $2,540.00."),
        (25, 250, "Spending limit grows tenfold or more, from $25.00 to $250.00."),
        (0, 5, "Spending limit grows tenfold or more, from $0.00 to $5.00."),
        (25, None, "Spending limit is taken away; it was $25.00."),
        (9000, 10000, "Spending limit is very high: $10,000.00."),
        (None, 20000, "Spending limit is very high: $20,000.00."),
        (..., 20000, "Spending limit is very high: $20,000.00."),
        (25, 249, ""),
        (20000, 30000, ""),
        (..., 300, ""),
        (None, 300, ""),
        (..., None, ""),
    ],
)
def test_a_limit_that_grows_tenfold_is_warned_of(before: Any, after: Any, warned: str) -> None:
    request = UpdateKeyRequest(limit=None if after is None else Decimal(after))
    plan = key_plans.plan_update(api_key(limit=before), request, NOW)
    assert plan.warnings == ((warned,) if warned else ())


async def test_an_update_says_and_sends_only_what_changes() -> None:
    request = UpdateKeyRequest(limit=Decimal(200), workspace_id=OTHER)
    plan = key_plans.plan_update(api_key(), request, NOW, NAMES)
    assert plan.changes == (
        Change("Spending limit", "$100.00", "$200.00"),
        Change("Workspace", "Research", "Support"),
    )
    assert await sent(plan) == [("update", "abc123", {"limit": 200, "workspace_id": OTHER})]
    assert plan.summary == {"limit": 200, "workspace_id": OTHER}
    assert plan.effects == (
        "$40.00 is used already, $160.00 will be left.",
        "Guardrail assignments of the key move along.",
    )


@pytest.mark.parametrize(
    ("request_", "effects"),
    [
        (
            UpdateKeyRequest(limit=Decimal(40)),
            ("$40.00 is used already: requests with this key are refused at once.",),
        ),
        (UpdateKeyRequest(limit=None), ("The key can spend without a limit.",)),
        (UpdateKeyRequest(limit=Decimal(10), limit_reset="daily"), ()),
        (
            UpdateKeyRequest(limit_reset=None),
            ("The limit no longer starts over: it counts all usage.",),
        ),
        (UpdateKeyRequest(name="x"), ()),
    ],
)
def test_what_an_update_brings_about(request_: UpdateKeyRequest, effects: tuple[str, ...]) -> None:
    assert key_plans.plan_update(api_key(), request_, NOW, NAMES).effects == effects


def test_what_is_not_known_is_a_dash() -> None:
    plan = key_plans.plan_update(
        api_key(limit=..., limit_reset=3), UpdateKeyRequest(limit=None, limit_reset="daily"), NOW
    )
    assert [change.before for change in plan.changes] == ["—", "—"]
    nothing_known = api_key(limit_remaining=None)
    plan = key_plans.plan_update(nothing_known, UpdateKeyRequest(limit=Decimal(1)), NOW)
    assert plan.effects == ()


def test_disabling_says_what_is_cut_off() -> None:
    plan = key_plans.plan_set_disabled(api_key(last_used_at="2026-11-21T06:57:00Z"), True, NOW)
    assert plan.effects == (
        "Requests with this key are refused at once.",
        "Last request 3 min ago; $40.00 in credits this month. "
        "Source: the key's own figures (UTC).",
    )


def test_what_is_refused_already_is_not_said_to_be_refused_at_once() -> None:
    expired = api_key(expires_at="2026-11-18T07:00:00Z")
    plan = key_plans.plan_set_disabled(expired, True, NOW)
    assert plan.effects[0] == "Requests with this key are refused already: it expired 3 days ago."
    plan = key_plans.plan_delete(api_key(disabled=True), NOW)
    assert plan.effects[0] == "Requests with this key are refused already: it is disabled."


def test_enabling_a_key_over_its_limit_says_that_it_stays_refused() -> None:
    plan = key_plans.plan_set_disabled(api_key(disabled=True, limit_remaining=0), False, NOW)
    assert plan.effects == ("Its limit is used up: it stays refused.",)


def test_enabling_an_expired_key_says_that_it_stays_refused() -> None:
    expired = api_key(disabled=True, expires_at="2026-11-18T07:00:00Z")
    plan = key_plans.plan_set_disabled(expired, False, NOW)
    assert plan.effects == ("It expired 3 days ago: it stays refused.",)


async def test_deletion() -> None:
    plan = key_plans.plan_delete(api_key(usage_daily=0, usage_weekly=0, usage_monthly=0), NOW)
    assert plan.danger == "high"
    assert plan.effects == (
        "Requests with this key are refused at once.",
        "This cannot be undone; disabling can.",
        "Not used this month. Source: the key's own figures (UTC).",
        "Its value looks like gw-v1-abc...123.",
    )
    assert await sent(plan) == [("delete", "abc123")]
    assert plan.summary == {"name": "ci", "label": "gw-v1-abc...123"}


def test_unknown_usage_is_not_called_unused() -> None:
    plan = key_plans.plan_delete(
        api_key(usage_daily=None, usage_weekly=None, usage_monthly=None, label=None), NOW
    )
    (said,) = plan.effects[2:]
    assert said.startswith("It is not known whether it is used.")
    partly = key_plans.plan_delete(api_key(usage_daily=0, usage_weekly=..., usage_monthly=...), NOW)
    assert "Not used" not in " ".join(partly.effects)
