"""What lists and detail panes show of workspaces, members and people."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from declaration_reader import cell_of, notes_of, rows_of, section_of, sort_of
from gwtui.contract.budgets import Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.domain.keys import KeyCount, spent_by_interval, spent_by_keys
from gwtui.resources.members import MEMBERS
from gwtui.resources.organization import ORGANIZATION
from gwtui.resources.workspaces.resource import WORKSPACES, tightest
from gwtui.watch.feeds.workspaces import (
    Belonging,
    Figures,
    MemberRow,
    PersonRow,
    WorkspaceRow,
    by_interval,
    keys_made_by,
)
from resource_samples import NOW, key, wire_time, workspace


def budget(interval: str | None, limit: Any) -> Budget:
    return Budget.model_validate({"limit_usd": limit, "reset_interval": interval})


def row(**figures: Any) -> WorkspaceRow:
    return WorkspaceRow(workspace(default_guardrail_id="g-1"), Figures(**figures))


BUDGETS = by_interval([budget("daily", 10), budget("monthly", 100), budget(None, 5000)])


def test_figures_that_are_still_read_do_not_look_like_unknown_ones() -> None:
    waiting, unreadable = WorkspaceRow(workspace()), row(faults=("keys: no",))
    for column in ("keys", "members", "budget"):
        assert cell_of(WORKSPACES, column, waiting, NOW).text == "…"
        assert cell_of(WORKSPACES, column, unreadable, NOW).text == "—"
        assert sort_of(WORKSPACES, column, unreadable, NOW) is None
    assert rows_of(WORKSPACES, "Belonging", unreadable, NOW)["unreadable"].value.text == "keys: no"


def test_the_budget_that_is_nearest_to_its_end_is_the_one_shown() -> None:
    spending = {"daily": Decimal(1), "monthly": Decimal(85), "lifetime": Decimal(900)}
    item = row(budgets=BUDGETS, spent=spending)
    assert tightest(item).interval == "monthly"  # type: ignore[union-attr]
    cell = cell_of(WORKSPACES, "budget", item, NOW)
    assert (cell.text, cell.tone) == ("month 85%", "warn")
    assert sort_of(WORKSPACES, "budget", item, NOW) == 85
    over = row(budgets=BUDGETS, spent={**spending, "daily": Decimal(12)})
    assert cell_of(WORKSPACES, "budget", over, NOW).tone == "bad"


def test_a_budget_whose_spending_is_unknown_shows_its_size() -> None:
    assert cell_of(WORKSPACES, "budget", row(budgets=BUDGETS), NOW).text == "day $10.00"
    assert cell_of(WORKSPACES, "budget", row(budgets={}), NOW).text == "none"


def test_the_detail_says_what_is_spent_and_when_a_budget_starts_over() -> None:
    item = row(budgets=BUDGETS, spent={"daily": Decimal("2.5"), "lifetime": Decimal(1)})
    found = section_of(WORKSPACES, "Budgets", item, NOW)
    texts = [(part.label, part.value.text) for part in found]
    assert texts[0] == ("daily", "██▌░░░░░░░ 25% of $10.00")
    assert texts[1] == ("", "$2.50 today, resets 2026-11-22, in 12 h")
    assert texts[2] == ("monthly", "$100.00")
    assert "never starts over" in texts[4][1]


def test_a_default_guardrail_has_an_id_before_it_is_there() -> None:
    def said(guardrails: Any) -> str:
        item = row(guardrails=guardrails)
        return rows_of(WORKSPACES, "Belonging", item, NOW)["default one"].value.text

    made = Guardrail.model_validate({"id": "g-1", "name": "Everything"})
    assert said({}) == "not made yet"
    assert said({"g-1": made}) == "Everything"
    assert said(None) == "g-1"


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
    assert cell_of(WORKSPACES, "keys", row(keys=count), soon).text == "1"


def test_spending_counts_byok_only_where_it_counts_and_is_unknown_when_a_key_is() -> None:
    keys = [key(usage_daily=1, byok_usage_daily=2), key(usage_daily=3, byok_usage_daily=4)]
    assert spent_by_keys(keys, "daily", byok=False) == 4
    assert spent_by_keys(keys, "daily", byok=True) == 10
    assert spent_by_keys([*keys, key(usage_daily=None)], "daily", byok=False) is None
    assert spent_by_interval([], byok=True)["lifetime"] == 0
    with pytest.raises(KeyError):
        spent_by_keys(keys, "hourly", byok=False)


def member(user: str = "user_1", **more: Any) -> WorkspaceMember:
    body = {"id": "m", "workspace_id": "w", "user_id": user, "role": "member"}
    return WorkspaceMember.model_validate({**body, "created_at": wire_time(NOW), **more})


def person(**more: Any) -> OrganizationMember:
    body = {"id": "user_1", "email": "ana@example.test", "role": "org:admin"}
    return OrganizationMember.model_validate(
        {**body, "first_name": "Ana", "last_name": None, **more}
    )


def test_a_member_is_called_by_name_else_mail_else_id() -> None:
    assert MemberRow(member(), person()).called == "Ana"
    assert MemberRow(member(), person(first_name=None)).called == "ana@example.test"
    assert MemberRow(member(), None).called == "user_1"
    assert cell_of(MEMBERS, "name", MemberRow(member()), NOW).text == "user_1"
    assert cell_of(MEMBERS, "mail", MemberRow(member()), NOW).text == "—"


def test_keys_of_a_member_are_those_that_the_member_made() -> None:
    keys = [key(creator_user_id="user_1"), key(creator_user_id=None), key(creator_user_id="x")]
    assert len(keys_made_by(keys, "user_1")) == 1
    assert keys_made_by(keys, None) == ()
    holder = MemberRow(member(), person(), keys_made_by(keys, "user_1"))
    assert cell_of(MEMBERS, "keys", holder, NOW).text == "1"
    assert "while one is active, no removal" in notes_of(MEMBERS, "Keys here", holder, NOW)
    unknown = MemberRow(member(), person(), None, ("keys: refused",))
    assert cell_of(MEMBERS, "keys", unknown, NOW).text == "—"
    assert rows_of(MEMBERS, "Person", unknown, NOW)["unreadable"].value.text == "keys: refused"


def test_a_person_is_in_workspaces() -> None:
    waiting = PersonRow(person())
    placed = PersonRow(person(), (Belonging(workspace(), member(role="admin")),))
    assert cell_of(ORGANIZATION, "workspaces", waiting, NOW).text == "…"
    assert cell_of(ORGANIZATION, "workspaces", placed, NOW).text == "Production"
    assert cell_of(ORGANIZATION, "workspaces", PersonRow(person(), ()), NOW).text == "none"
    assert cell_of(ORGANIZATION, "role", placed, NOW).text == "admin"
    rows = rows_of(ORGANIZATION, "Workspaces", placed, NOW)
    assert rows["admin"].value.text == "Production"
