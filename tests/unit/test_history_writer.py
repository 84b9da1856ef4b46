"""Samples and facts: written values read back exactly; nulls and gaps stay distinct."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.watch.history import model, writer
from gwtui.watch.history import model as kinds
from gwtui.watch.history.model import SeriesKey, Subject, moment_of, rounded, text_of
from history_kit import START, USED, HistoryFile, minutes

UPTIME = SeriesKey("endpoint", "lab/model lab|bf16", "uptime_last_5m")
OTHER = SeriesKey("credits", "account", "total_credits")
KEY = Subject("key", "a" * 64)
KEYS = Subject("key", "")


def states(history: HistoryFile, since: datetime, until: datetime) -> str:
    """The states of a curve's slots, a letter each."""
    curve = history.reader.points(UPTIME, since, until, resolution=60)
    assert curve is not None
    return "".join(point.state[0] for point in curve.points)


def runs(history: HistoryFile) -> list[tuple[datetime, datetime, Decimal | None]]:
    """Runs of equal readings, with their first and last time."""
    rows = history.reader.rows(USED, 0, 2**40)
    return [(moment_of(row.start), moment_of(row.until), row.last) for row in rows]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=20))
def test_an_amount_reads_back_as_the_same_number(value: Decimal) -> None:
    assert Decimal(text_of(rounded(value))) == rounded(value)
    if len(value.as_tuple().digits) <= 40:
        assert rounded(value) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.00", "0"), ("1500.0", "1500"), ("2e3", "2000"), ("-0.25", "-0.25"), ("1e30", "1E+30")],
)
def test_an_amount_is_kept_as_the_text_that_people_write(value: str, text: str) -> None:
    """Unless that is longer than the exact form."""
    assert text_of(rounded(Decimal(value))) == text


def test_long_numbers_are_bounded() -> None:
    assert len(text_of(rounded(Decimal("0." + "1" * 100_000)))) < 50


def test_money_is_exact_whatever_the_width(history: HistoryFile) -> None:
    amounts = [Decimal("9961.0310346151234567890123"), Decimal("0.00000000000125")]
    for place, amount in enumerate(amounts):
        history.see(START + minutes(place), {USED: amount})
    history.tidy(START + timedelta(hours=3))
    for resolution in (60, 300, 3600):
        curve = history.reader.points(
            USED, START, START + timedelta(hours=1), resolution=resolution
        )
        assert curve.points[0].high == amounts[0]
        assert min(point.low for point in curve.points if point.low is not None) == amounts[1]


def test_missing_traffic_gaps_and_zero_are_distinct(history: HistoryFile) -> None:
    for minute, value in enumerate([99, None, None, 0]):
        history.see(START + minutes(minute), {UPTIME: value})
    history.see(START + minutes(30), {UPTIME: 50})
    end = START + minutes(31)
    assert states(history, START, end) == "vnnvvvv" + "g" * 23 + "v"
    assert history.reader.value_at(UPTIME, START + minutes(1.5)).state == "null"
    assert history.reader.value_at(UPTIME, START + minutes(3)).value == 0
    assert history.reader.value_at(UPTIME, START + minutes(20)).state == "gap"
    assert history.reader.value_at(UPTIME, START - minutes(1)).state == "gap"


@pytest.mark.parametrize("width", [300, 3600])
def test_readings_without_traffic_count_in_no_figure_but_the_last(
    history: HistoryFile, width: int
) -> None:
    for minute, value in enumerate([100, None, 90, None, None]):
        history.see(START + minutes(minute), {UPTIME: value})
    history.tidy(START + minutes(70))
    curve = history.reader.points(UPTIME, START, START + minutes(5), resolution=width)
    (point,) = curve.points
    assert point.state == "value"
    assert (point.low, point.high, point.mean, point.last) == (90, 100, 95, None)


def test_slots_are_as_fine_as_fits_and_begin_at_whole_multiples(history: HistoryFile) -> None:
    history.see(START, {USED: 1})
    curve = history.reader.points(USED, START + minutes(7), START + timedelta(hours=6))
    assert curve.width == timedelta(minutes=1)
    assert curve.points[0].at == START + minutes(7)
    wide = history.reader.points(USED, START, START + timedelta(days=30), max_points=100)
    assert len(wide.points) <= 100
    assert wide.width == timedelta(hours=12)
    aligned = moment_of(730 * 28 * 86400)
    for days in (0.5, 1, 2, 7, 14, 28):
        end = aligned + timedelta(days=100 * days)
        curve = history.reader.points(USED, aligned, end, max_points=100)
        assert (curve.width, len(curve.points)) == (timedelta(days=days), 100)


def test_unrecorded_series_have_no_curve(history: HistoryFile) -> None:
    assert history.reader.points(USED, START, START + minutes(1)) is None
    assert history.reader.value_at(USED, START).state == "gap"
    assert history.reader.span() is None


def test_a_sample_that_is_not_newer_is_left_out(history: HistoryFile) -> None:
    history.see(START, {USED: 1})
    history.see(START, {USED: 2})
    history.see(START - minutes(1), {USED: 3})
    assert runs(history) == [(START, START, 1)]


def test_a_gateway_that_invents_identities_cannot_fill_the_disk(
    history: HistoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_SERIES", 3)
    values = {SeriesKey("key", f"k{number}", "usage"): number for number in range(9)}
    for minute in range(3):
        history.see(START + minutes(minute), values)
    identities = [f"k{number}" for number in range(3)]
    assert [series.identity for series in history.reader.series()] == identities
    assert history.reader.value_at(SeriesKey("key", "k2", "usage"), START + minutes(2)).value == 2


def test_a_clock_that_was_ahead_hides_nothing_afterwards(history: HistoryFile) -> None:
    for minute in range(120):
        history.see(START + minutes(minute), {USED: minute}, facts={KEY: {"name": "a"}})
    wrong = START + timedelta(days=900)
    history.see(wrong, {USED: 999}, facts={KEY: {"name": "b"}})
    history.tidy(wrong + minutes(70))
    right = START + minutes(120)
    history.see(right, {USED: 120}, facts={KEY: {"name": "a"}})
    history.tidy(right + minutes(70))
    assert history.reader.value_at(USED, right).value == 120
    assert history.reader.value_at(USED, wrong).state == "gap"
    assert history.reader.changes(START, wrong) == ()
    assert history.reader.facts_at(wrong) == {KEY: {"name": "a"}}
    curve = history.reader.points(USED, START, right + minutes(60), resolution=3600)
    assert curve is not None
    assert [(point.low, point.high) for point in curve.points] == [(0, 59), (60, 119), (120, 120)]


@pytest.mark.parametrize("value", [7, None])
def test_a_run_that_a_wrong_clock_continued_keeps_its_beginning(
    history: HistoryFile, value: int | None
) -> None:
    first = START + minutes(15)
    for minute in range(4):
        history.see(first + minutes(minute), {USED: value})
    history.see(START + timedelta(days=9), {USED: 999})
    right = first + minutes(2)
    history.see(right, {OTHER: 1})
    assert runs(history) == [(first, right, value)]


# Facts ------------------------------------------------------------------------------------------


def test_the_first_reading_records_no_changes(history: HistoryFile) -> None:
    assert history.see(START, facts={KEY: {"name": "ci"}}, covers=KEYS) == ()
    assert history.reader.facts_at(START) == {KEY: {"name": "ci"}}


def test_creations_changes_and_deletions_are_recorded_once(history: HistoryFile) -> None:
    history.see(START, facts={}, covers=KEYS)
    steps: list[dict[Subject, dict[str, bool | str]]] = [
        {KEY: {"name": "ci", "disabled": False}},
        {KEY: {"name": "ci", "disabled": False}},
        {KEY: {"name": "cd", "disabled": True}},
        {KEY: {"name": "cd", "disabled": False}},
        {},
    ]
    for minute, facts in enumerate(steps, 1):
        history.see(START + minutes(minute), facts=facts, covers=KEYS)
    changes = history.reader.changes(START, START + minutes(9))
    assert [(change.kind, change.field, change.before, change.after) for change in changes] == [
        ("key.deleted", "", None, None),
        (kinds.KEY_ENABLED, "disabled", True, False),
        (kinds.KEY_DISABLED, "disabled", False, True),
        ("key.changed", "name", "ci", "cd"),
        ("key.created", "", None, None),
    ]
    assert changes[0].name == "cd"
    assert (changes[0].not_before, changes[0].at) == (START + minutes(4), START + minutes(5))
    assert [change.id for change in history.reader.changes_after(changes[-1].id)] == [
        change.id for change in reversed(changes[:-1])
    ]


def test_changes_are_found_by_kind_and_resource(history: HistoryFile) -> None:
    space = Subject("workspace", "w")
    for minute, value in enumerate(["10", "20"]):
        results = {KEY: {"limit": value}, space: {"budget_daily": value}}
        history.see(START + minutes(minute), facts=results)
    end = START + minutes(9)
    assert {change.kind for change in history.reader.changes(START, end)} == {
        "key.changed",
        kinds.WORKSPACE_BUDGET,
    }
    of_kind = history.reader.changes(START, end, [kinds.WORKSPACE_BUDGET])
    assert [change.subject for change in of_kind] == [space]
    assert len(history.reader.changes(START, end, ["key"])) == 1
    assert history.reader.changes(START + minutes(1), end) == ()


def test_an_incomplete_reading_deletes_nothing(history: HistoryFile) -> None:
    history.see(START, facts={KEY: {"name": "ci"}}, covers=KEYS)
    assert history.see(START + minutes(1), facts={}, covers=None) == ()
    other = Subject("key", "b")
    history.see(START + minutes(2), facts={other: {}}, covers=None)
    assert set(history.reader.facts_at(START + minutes(2))) == {KEY, other}


def test_only_subjects_of_the_reading_can_disappear(history: HistoryFile) -> None:
    gone, kept = Subject("endpoint", "lab/a x"), Subject("endpoint", "lab/ab x")
    history.see(START, facts={gone: {}}, covers=Subject("endpoint", "lab/a "), source="a")
    history.see(START, facts={kept: {}}, covers=Subject("endpoint", "lab/ab "), source="ab")
    later = START + minutes(1)
    changes = history.see(later, facts={}, covers=Subject("endpoint", "lab/a "), source="a")
    assert [change.subject for change in changes] == [gone]
    assert set(history.reader.facts_at(later)) == {kept}


def test_a_field_that_could_not_be_read_stays_as_it_was(history: HistoryFile) -> None:
    history.see(START, facts={KEY: {"name": "ci", "limit": "5"}})
    assert history.see(START + minutes(1), facts={KEY: {"name": "ci"}}) == ()
    (change,) = history.see(START + minutes(2), facts={KEY: {"limit": None}})
    assert (change.field, change.before, change.after) == ("limit", "5", None)
    assert history.reader.facts_at(START + minutes(2)) == {KEY: {"name": "ci"}}


def test_a_long_value_is_kept_as_its_size_and_digest(history: HistoryFile) -> None:
    entries = [f"lab/model-{number}" for number in range(500)]
    history.see(START, facts={KEY: {"allowed_models": entries}})
    (change,) = history.see(START + minutes(1), facts={KEY: {"allowed_models": entries[1:]}})
    assert str(change.after).startswith("499 entries, digest ")
    assert len(model.json_of(history.reader.facts_at(START)[KEY])) < 200


def test_any_text_can_be_kept(history: HistoryFile) -> None:
    name = "\ud800\u202e\x1b[31m\x00"
    history.see(START, facts={KEY: {"name": name}})
    assert history.reader.facts_at(START) == {KEY: {"name": name}}
