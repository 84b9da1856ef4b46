from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from declaration_reader import cell_of, notes_of, rows_of, section_of, sort_of, tables_of
from gwtui.contract.keys import ApiKey
from gwtui.resources.keys.resource import COLUMNS, KEYS
from gwtui.ui.widgets.detail import detail_lines
from gwtui.watch.feeds.keys import KeyRow
from resource_samples import NOW, WORKSPACE_ID, key, nulls, wire_time, workspace


def row(**changes: object) -> KeyRow:
    return KeyRow(key(**changes), workspace())


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("name", "Production router"),
        ("limit", "$50.00"),
        ("used", "83%"),
        ("today", "$3.25"),
        ("expires", "in 30 days"),
        ("workspace", "Production"),
        ("remaining", "$8.50"),
        ("reset", "weekly"),
        ("week", "$41.50"),
        ("month", "$120.00"),
        ("all", "$1,234.50"),
        ("byok", "$2.00"),
        ("byok_all", "$10.00"),
        ("last_used", "3 min ago"),
        ("label", "gw-v1-abc...123"),
        ("creator", "user_1"),
    ],
)
def test_each_column_of_a_full_key(column: str, shown: str) -> None:
    assert cell_of(KEYS, column, row(), NOW).text == shown


def test_null_is_said_in_words_where_it_means_something() -> None:
    free = row(limit=None, limit_remaining=None, limit_reset=None, expires_at=None)
    assert cell_of(KEYS, "limit", free, NOW).text == "no limit"
    assert cell_of(KEYS, "expires", free, NOW).text == "never"
    assert cell_of(KEYS, "used", free, NOW).text == "—"
    assert cell_of(KEYS, "reset", free, NOW).text == "—"
    assert cell_of(KEYS, "reset", row(limit_reset=None), NOW).text == "never"
    assert cell_of(KEYS, "last_used", row(last_used_at=None), NOW).text == "never"


def test_a_missing_limit_is_unknown_and_not_unlimited() -> None:
    cut = row(limit=..., expires_at=..., last_used_at=...)
    assert cell_of(KEYS, "limit", cut, NOW).text == "—"
    assert cell_of(KEYS, "expires", cut, NOW).text == "—"
    assert cell_of(KEYS, "last_used", cut, NOW).text == "—"
    assert notes_of(KEYS, "Gaps", cut, NOW)["limit"] == "missing"


def test_an_unreadable_field_marks_that_field_alone() -> None:
    odd = row(usage_daily="a lot", limit=[1])
    assert cell_of(KEYS, "today", odd, NOW).text == "—"
    assert cell_of(KEYS, "limit", odd, NOW).text == "—"
    assert cell_of(KEYS, "week", odd, NOW).text == "$41.50"
    assert set(notes_of(KEYS, "Gaps", odd, NOW)) == {"usage_daily", "limit"}


def test_over_the_limit_is_said_with_a_tone_and_in_words() -> None:
    over = row(limit_remaining=Decimal("-1.5"))
    assert cell_of(KEYS, "used", over, NOW).tone == "bad"
    left = rows_of(KEYS, "Limit", over, NOW)["left"]
    assert (left.value.text, left.note) == ("-$1.50", "overdrawn")
    assert left.value.tone == "bad"


def test_a_limit_of_zero_is_used_up() -> None:
    nothing = row(limit=Decimal(0), limit_remaining=Decimal(0))
    assert cell_of(KEYS, "used", nothing, NOW).text == "100%"


def test_the_limit_is_drawn_and_told_with_the_next_reset() -> None:
    rows = rows_of(KEYS, "Limit", row(), NOW)
    assert rows["used"].value.text == "█████████████▎░░ 83%"
    assert rows["reset"].value.text == "weekly, in 2 days"
    assert rows["reset"].note == "2026-11-23 00:00 UTC"


LABELS = {
    *("name", "state", "workspace", "workspace id", "label", "hash", "creator", "external user"),
    *("limit", "used", "left", "BYOK counts", "reset"),
    *("USD", "today (UTC)", "this week", "this month", "all time"),
    *("assigned", "default", "created", "changed", "last used", "expires"),
}


def places(item: KeyRow, width: int) -> dict[str, int]:
    """The line of each label and title."""
    lines = [line.plain for line in detail_lines(KEYS, item, NOW, width)]
    titles = {"Identity", "Limit", "Usage", "Guardrails", "Lifecycle"}
    labels = {line.split("  ")[0]: number for number, line in enumerate(lines)}
    found = {label: at for label, at in labels.items() if label in titles | LABELS}
    assert len(found) == len(titles | LABELS)
    return found


def test_what_matters_most_of_a_key_fits_a_small_terminal() -> None:
    wide = places(row(), 78)
    assert max(wide[label] for label in ("state", "limit", "used", "left", "reset")) < 20


def test_an_unknown_reset_is_shown_as_it_came() -> None:
    assert cell_of(KEYS, "reset", row(limit_reset="fortnightly"), NOW).text == "fortnightly"
    assert (
        "fortnightly"
        in rows_of(KEYS, "Limit", row(limit_reset="fortnightly"), NOW)["reset"].value.text
    )


def test_the_usage_table_sets_own_and_byok_side_by_side() -> None:
    [table] = tables_of(KEYS, "Usage", row(), NOW)
    assert table == [
        ("USD", "usage", "BYOK"),
        ("today (UTC)", "$3.25", "$0.50"),
        ("this week", "$41.50", "$1.00"),
        ("this month", "$120.00", "$2.00"),
        ("all time", "$1,234.50", "$10.00"),
    ]


def test_unknown_fields_are_named_with_their_value() -> None:
    notes = notes_of(KEYS, "Unknown fields", row(budget={"scope": "member"}), NOW)
    assert notes["budget"] == '{"scope": "member"}'


def test_a_perfect_answer_has_neither_gaps_nor_unknown_fields() -> None:
    assert section_of(KEYS, "Gaps", row(), NOW) == []
    assert section_of(KEYS, "Unknown fields", row(), NOW) == []


def test_sort_values_are_what_the_column_means() -> None:
    assert sort_of(KEYS, "used", row(), NOW) == Decimal(83)
    assert sort_of(KEYS, "expires", row(), NOW) == NOW + timedelta(days=30)
    assert sort_of(KEYS, "name", row(name="Zebra"), NOW) == "zebra"
    assert sort_of(KEYS, "limit", row(limit=None), NOW) is None


def test_states_sort_worst_first() -> None:
    def rank(**changes: object) -> str:
        return str(sort_of(KEYS, "state", row(**changes), NOW))

    over = rank(limit_remaining=Decimal(0))
    fine = rank(limit_remaining=Decimal(50))
    assert over < fine


def test_facets_answer_the_filter_bar() -> None:
    assert KEYS.facets["workspace"](row(), NOW) == "Production"
    assert KEYS.facets["reset"](row(), NOW) == "weekly"
    expired = row(expires_at=wire_time(NOW - timedelta(days=1)))
    assert KEYS.facets["state"](expired, NOW) == "expired"


def test_identity_survives_without_a_hash() -> None:
    one, other = row(hash=None, label="a"), row(hash=None, label="b")
    assert one.identity != other.identity
    assert row().identity == "a" * 64


def test_the_workspace_falls_back_to_what_is_known_of_it() -> None:
    assert KeyRow(key()).workspace_name == WORKSPACE_ID
    assert KeyRow(key(), workspace(name=None)).workspace_name == "production"


def test_all_null_shows_dashes_and_no_zero() -> None:
    empty = KeyRow(nulls(ApiKey))
    for column in COLUMNS:
        assert "0" not in column.cell(empty, NOW).text, column.id


def test_the_essentials_fit_into_eighty_columns() -> None:
    essential = COLUMNS[:6]
    assert {column.id for column in essential} == {
        "name",
        "state",
        "used",
        "limit",
        "today",
        "expires",
    }
    assert sum(column.width for column in essential) + 2 * len(essential) <= 80


def test_relative_times_move_with_the_clock() -> None:
    later: datetime = NOW + timedelta(days=29)
    assert cell_of(KEYS, "expires", row(), NOW).text != cell_of(KEYS, "expires", row(), later).text
