"""Workspaces: their rows, their forms and the requests of these."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form_kit import FACTS
from gwtui.contract.workspaces import (
    BUDGET_INTERVALS,
    SLUG,
    Budget,
    Workspace,
    budget_conflict,
    slug_of,
)
from gwtui.domain.keys import KeyCount, spent_by_interval
from gwtui.resources.budgets import (
    BYOK,
    WorkspaceBudgets,
    budgets_form,
    conflicts,
)
from gwtui.resources.workspaces import WRITES
from gwtui.ui.forms.form_state import FormState
from gwtui.watch.feeds.workspaces import keys_created_by
from plan_kit import form_context
from resource_samples import NOW, key, wire_time, workspace


def test_active_keys_are_counted_at_the_moment_they_are_shown() -> None:
    soon = NOW + timedelta(minutes=5)
    count = KeyCount.of(
        [
            key(expires_at=None),
            key(expires_at=wire_time(soon)),
            key(disabled=True),
            key(disabled=...),
        ]
    )
    assert (count.total, count.active(NOW), count.active(soon)) == (4, 2, 1)


def test_spending_includes_byok_by_setting_and_unknown_keys() -> None:
    keys = [key(usage_daily=1, byok_usage_daily=2), key(usage_daily=3, byok_usage_daily=4)]
    assert spent_by_interval(keys, byok=False)["daily"] == 4
    assert spent_by_interval(keys, byok=True)["daily"] == 10
    unknown = [*keys, key(usage_daily=None)]
    assert spent_by_interval(unknown, byok=False)["daily"] is None
    assert spent_by_interval([], byok=True)["lifetime"] == 0


def test_a_members_keys_are_those_they_created() -> None:
    keys = [key(creator_user_id="user_1"), key(creator_user_id=None), key(creator_user_id="x")]
    assert keys_created_by(keys, "user_1") == (keys[0],)
    assert keys_created_by(keys, None) == ()


# Forms --------------------------------------------------------------------------------------------


SPENT = {
    False: {"daily": Decimal(5), "weekly": None, "lifetime": Decimal(70)},
    True: {"daily": Decimal(15)},
}


def filled(**typed: Any) -> FormState:
    state = FormState(WRITES.create_form(form_context()), FACTS)
    for name, text in typed.items():
        state.put(name, text)
    return state


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Data Pipelines (EU)", "data-pipelines-eu"),
        ("  Größe & Łódź  ", "grosse-lodz"),
        ("Élodie's lab", "elodie-s-lab"),
        ("東京", ""),
        ("a" * 49 + " b", "a" * 49),
    ],
)
def test_a_slug_suits_its_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text(max_size=120))
def test_every_suggested_slug_is_one_that_the_contract_takes(name: str) -> None:
    slug = slug_of(name)
    assert not slug or (re.fullmatch(SLUG, slug) and len(slug) <= 50)


def test_a_slug_is_suggested_for_new_workspaces_only() -> None:
    assert filled(name="Data pipelines").payload()["slug"] == "data-pipelines"
    state = FormState(WRITES.edit_form(workspace(), form_context()), FACTS)
    state.put("name", "Other")
    assert state.payload() == {"name": "Other"}


def test_logging_share_and_keys_are_explained() -> None:
    state = filled(io_logging_sampling_rate="0.01 %", io_logging_api_key_ids="[]")
    rate, ids = state.note("io_logging_sampling_rate"), state.note("io_logging_api_key_ids")
    assert rate.text.startswith("0.01% of requests, 1 in 10k; only applies with private logging")
    assert "no request is logged" in ids.text


# Budgets ----------------------------------------------------------------------------------------


def budgets(**limits: Any) -> list[Budget]:
    return [
        Budget.model_validate(
            {"limit_usd": limit, "reset_interval": None if name == "lifetime" else name}
        )
        for name, limit in limits.items()
    ]


def editor(**limits: Any) -> FormState:
    current = WorkspaceBudgets(workspace(include_byok_in_budgets=False), budgets(**limits)).known
    return FormState(budgets_form(workspace(), current, SPENT), FACTS)


def test_a_conflict_is_shown_on_the_edited_field() -> None:
    state = editor(daily=10, monthly=100)
    state.put("monthly", "8")
    problem = state.problem("monthly")
    assert problem.text == "must be more than the daily budget, $10.00"
    assert state.problem("daily") is None, "an untouched field is unchanged"
    assert state.request() is None
    state.put("daily", "")
    assert state.problem("monthly") is None
    assert state.payload() == {"daily": None, "monthly": Decimal(8)}


def test_the_meaning_follows_whether_byok_counts() -> None:
    state = editor(daily=10)
    note = state.note("daily")
    assert note.text == "$5.00 spent, 50% · resets 2026-11-22, in 17 h"
    state.put(BYOK, True)
    note = state.note("daily")
    assert (note.tone, "requests are refused" in note.text) == ("bad", True)
    none, unknown = state.note("lifetime"), state.note("weekly")
    assert none.text == "no budget"
    assert unknown is not None


def test_an_unreadable_budget_stays_as_it_is() -> None:
    current = WorkspaceBudgets(workspace(), budgets(daily="?")).known
    assert "daily" not in current
    assert BYOK not in current
    state = FormState(budgets_form(workspace(), current, {}), FACTS)
    note = state.note("daily")
    assert "left as it is" in note.text


LIMITS = st.sets(st.integers(1, 40), max_size=4).flatmap(
    lambda item: st.lists(
        st.sampled_from(BUDGET_INTERVALS),
        min_size=len(item),
        max_size=len(item),
        unique=True,
    ).map(
        lambda names: {
            name: Decimal(limit)
            for name, limit in zip(
                sorted(names, key=BUDGET_INTERVALS.index), sorted(item), strict=True
            )
        }
    )
)
"""Valid sets of budgets."""


@given(LIMITS, LIMITS)
def test_every_budget_step_is_valid_and_reaches_the_target(
    before: dict[str, Decimal], after: dict[str, Decimal]
) -> None:
    """The gateway accepts every step, so no plan has an obstacle."""
    expected = {name: after.get(name) for name in BUDGET_INTERVALS}
    changed = {name: limit for name, limit in expected.items() if limit != before.get(name)}
    present = WorkspaceBudgets(space(), budgets(**before))
    plans = present.series(changed, NOW)
    assert not present.plan(changed, NOW).obstacles or not plans
    standing = dict(before)
    for plan in plans:
        assert not plan.obstacles, plan.title
        interval = str(plan.identity).rpartition("/")[2]
        if plan.action == "budgets.delete":
            del standing[interval]
        else:
            standing[interval] = Decimal(str(plan.summary["limit_usd"]))
        assert budget_conflict(standing) is None, (before, after, interval)
    assert standing == after
    assert len(plans) == len(changed)


def space(**more: Any) -> Workspace:
    return workspace(**more)


def test_the_flag_travels_with_the_first_budget_or_with_one_that_stays() -> None:
    daily = WorkspaceBudgets(space(), budgets(daily=5))
    both = daily.series({"weekly": Decimal(9), BYOK: True}, NOW)
    assert [plan.summary for plan in both] == [{"limit_usd": 9.0, BYOK: True}]
    alone = WorkspaceBudgets(space(), budgets(daily=5, weekly=9)).series({BYOK: True}, NOW)
    assert [plan.summary for plan in alone] == [{"limit_usd": 5.0, BYOK: True}]
    without_budgets = WorkspaceBudgets(space(), [])
    assert without_budgets.series({BYOK: True}, NOW) == ()
    assert without_budgets.plan({BYOK: True}, NOW).obstacles


def test_conflicts_name_both_sides() -> None:
    result = conflicts({"daily": Decimal(5), "weekly": None, "lifetime": Decimal(5)})
    assert [str(problem) for problem in result] == [
        "daily: must be less than the lifetime budget, $5.00",
        "lifetime: must be more than the daily budget, $5.00",
    ]
    assert conflicts({"daily": Decimal(1), "monthly": Decimal(2)}) == []
