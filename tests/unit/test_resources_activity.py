"""Ranking activity: shares, names, and groups that cannot be told apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gwtui.client.errors import ForbiddenError
from gwtui.client.paging import Listing
from gwtui.contract.keys import ApiKey
from gwtui.contract.usage import ActivityRow
from gwtui.contract.workspaces import Workspace
from gwtui.domain.activity import Measure, summarize
from gwtui.resources.activity import (
    OTHERS,
    RankedGroup,
    UsageRows,
    account_usage,
    grouped,
    key_usage,
    measure_text,
    ranked,
    total_cells,
    user_usage,
)
from gwtui.watch.feeds import activity as activity_feeds
from gwtui.watch.feeds.activity import Activity, GroupedActivity, read_key_activity
from gwtui.watch.hub import Scope, single_use_reader


def row(**fields: Any) -> ActivityRow:
    wire = {
        "date": "2026-11-20",
        "model": "acme/m1",
        "provider_name": "Acme",
        "workspace_id": "w1",
        "requests": 1,
        "usage": 1,
        "byok_usage_inference": 0,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "reasoning_tokens": 0,
        "cached_tokens": 0,
        **fields,
    }
    return ActivityRow.model_validate(wire)


def ranking(
    activity: Activity, rows: list[ActivityRow], by: Any, measure: Measure
) -> tuple[RankedGroup, ...]:
    return ranked(account_usage(activity), rows, by, measure)


def key_ranking(
    keys: GroupedActivity, rows: list[ActivityRow], measure: Measure
) -> tuple[RankedGroup, ...]:
    return ranked(key_usage(keys, Activity(tuple(rows))), rows, "key", measure)


def test_shares_are_of_the_measure() -> None:
    rows = [row(usage=1, requests=9), row(model="acme/m2", usage=3)]
    spend = ranking(Activity(tuple(rows)), rows, "model", "spend")
    assert [(item.name, item.share) for item in spend] == [
        ("acme/m1", Decimal("0.25")),
        ("acme/m2", Decimal("0.75")),
    ]
    requests = ranking(Activity(tuple(rows)), rows, "model", "requests")
    assert [(request.name, request.share) for request in requests] == [
        ("acme/m1", Decimal("0.9")),
        ("acme/m2", Decimal("0.1")),
    ]
    assert {request.largest for request in requests} == {Decimal("0.9")}


def test_unknown_figures_have_no_share() -> None:
    rows = [row(model="a", usage=None), row(model="b", usage=0), row(model="c", usage=2)]
    result = ranking(Activity(tuple(rows)), rows, "model", "spend")
    assert [(item.name, item.share) for item in result] == [("a", None), ("b", 0), ("c", 1)]


def test_groups_show_names_and_a_label_for_missing_values() -> None:
    rows = [row(), row(workspace_id="gone", usage=5), row(workspace_id=None, usage=9)]
    result = ranking(Activity(tuple(rows), {"w1": "Research"}), rows, "workspace", "spend")
    assert [item.name for item in result] == ["Research", "gone", "not said"]


def test_usage_without_a_key_has_its_own_row() -> None:
    rows = [row(usage=5), row(usage=5, requests=3)]
    keys = GroupedActivity({"h1": (row(usage=4),), "h2": ()}, {"h1": "ci"}, left_out=2)
    result = key_ranking(keys, rows, "spend")
    assert [(item.identity, item.name) for item in result] == [
        ("h1", "ci"),
        (OTHERS, "deleted keys and 2 that were not read"),
    ]
    assert result[1].summary.spend == 6
    assert sum(item.share or 0 for item in result) == 1


def test_no_rest_row_without_a_rest() -> None:
    rows = [row()]
    result = key_ranking(GroupedActivity({"h1": (row(),)}, {}), rows, "spend")
    assert [item.identity for item in result] == ["h1"]


TWO_KEYS = GroupedActivity(
    {
        "h1": (row(usage=4), row(usage=1, model="acme/m2"), row(usage=9, date="2026-11-19")),
        "h2": (row(usage=2, workspace_id="w2"),),
    },
    {"h1": "ci", "h2": "laptop"},
    creators={"h1": "u1", "h2": None},
    people={"u1": "Ana"},
)


def test_grouping_by_two_fields_separates_rows() -> None:
    rows = [row(usage=6), row(usage=1, model="acme/m2"), row(usage=2, workspace_id="w2")]
    uses = key_usage(TWO_KEYS, Activity(tuple(rows), {"w2": "Lab"}))
    result = grouped(uses, rows, ("key", "model"))
    assert {parts: summary.spend for parts, summary in result.items()} == {
        ("h1", "acme/m1"): 4,
        ("h1", "acme/m2"): 1,
        ("h2", "acme/m1"): 2,
        (OTHERS, "acme/m1"): 2,
    }
    assert [uses.name("key", name) for name in ("h1", OTHERS)] == ["ci", "deleted keys"]
    users = grouped(uses, rows, ("user", "workspace"))
    assert list(users) == [("u1", "w1"), ("", "w2"), (OTHERS, "w1")]
    assert (uses.name("user", "u1"), uses.name("workspace", "w2")) == ("Ana", "Lab")


def test_only_days_with_usage_are_grouped() -> None:
    rows = [row(usage=9, date="2026-11-19")]
    result = grouped(key_usage(TWO_KEYS, Activity(tuple(rows))), rows, ("key", "day"))
    assert {parts: summary.spend for parts, summary in result.items()} == {("h1", "2026-11-19"): 9}


def test_usage_of_unknown_users_has_its_own_row() -> None:
    users = GroupedActivity(
        {"u1": (row(usage=3),), "u2": ()}, {"u1": "Ana", "u2": "Ben"}, left_out=1
    )
    rows = [row(usage=5, requests=3)]
    result = ranked(user_usage(users, Activity(tuple(rows))), rows, "user", "spend")
    assert [(item.name, item.summary.spend) for item in result] == [
        ("Ana", 3),
        ("keys of nobody here and 1 people who were not read", 2),
    ]


def test_grouping_keeps_rows_without_a_value() -> None:
    rows = [row(), row(model=None), row(model="b")]
    result = grouped(account_usage(Activity(tuple(rows))), rows, ("model",))
    assert {parts: summary.rows for parts, summary in result.items()} == {
        ("acme/m1",): 1,
        ("",): 1,
        ("b",): 1,
    }
    assert UsageRows(()).name("key", "") == "not said"


class _Service:
    """Returns workspaces, keys and activity."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self._keys = keys
        self.calls: list[str] = []
        self.workspaces = self.keys = self.activity = self.organization = self

    async def members(self) -> Listing[Any]:
        raise ForbiddenError("not for you", status=403)

    async def list(self, **query: Any) -> Listing[Any]:
        if "api_key_hash" in query:
            self.calls.append(query["api_key_hash"])
            return Listing((row(),), None, True)
        if "workspace_id" in query:
            return Listing(tuple(self._keys), None, True)
        return Listing((Workspace.model_validate({"id": "w1"}),), None, True)


async def test_only_used_keys_are_read_one_by_one_and_the_busiest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(activity_feeds, "MOST_KEYS", 2)
    usages = {"idle": (0, 0, 0), "old": (5, 0, 0), "busy": (9, 0, 9), "some": (5, 4, 0)}
    service = _Service(
        [
            ApiKey.model_validate(
                {
                    "hash": name,
                    "name": name,
                    "usage": usage,
                    "usage_monthly": month,
                    "byok_usage": 0,
                    "byok_usage_monthly": byok,
                }
            )
            for name, (usage, month, byok) in usages.items()
        ]
    )
    result = await read_key_activity(single_use_reader(service), Scope())  # type: ignore[arg-type]
    assert service.calls == ["busy", "some"]
    assert (list(result.rows), result.left_out) == (["busy", "some"], 1)


@pytest.mark.parametrize(
    ("measure", "amount", "words"),
    [
        ("spend", "12.5", "$12.50"),
        ("spend", "12345.6", "$12,346"),
        ("tokens", "1234567", "1.23M"),
        ("requests", "0", "0"),
        ("spend", None, "—"),
    ],
)
def test_figures_have_their_unit(measure: Any, amount: str | None, words: str) -> None:
    assert measure_text(measure, None if amount is None else Decimal(amount)) == words


def test_incomplete_sums_are_marked() -> None:
    assert "1 row lacks figures" in total_cells(summarize([row(usage=None), row()]))[0].text
