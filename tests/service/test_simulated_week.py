"""A whole week in seconds: recording, tiers, alerts, earlier moments and changes, in one run.

``week_scenario`` says what happens in it. Half an hour lies between two readings; ``GWTUI_FULL=1``
takes one every 30 seconds, 20,160 rounds, and the memory must stay flat over the
second half of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.domain.alert_rules import AlertRule
from gwtui.local.alerts import load_alerts
from gwtui.watch.alerts.evaluator import preview
from gwtui.watch.alerts.model import AlertEvent
from gwtui.watch.alerts.store import read_events
from gwtui.watch.board import recorded
from gwtui.watch.feeds.recorded import Between, rows_between
from gwtui.watch.history.file import open_readable
from gwtui.watch.history.model import SeriesKey, Subject
from gwtui.watch.history.reader import HistoryReader
from history_kit import desk
from thoroughness import FULL
from week_expected import Figure, Value, check_curve, last_before, reckoned
from week_kit import Week, run_week
from week_scenario import (
    DEARER_AT,
    EDITED_AT,
    END,
    FIRST,
    FLAP,
    LIMITED,
    MODEL,
    REAL,
    RENAMED,
    START,
    UNREADABLE,
    UPTIMES,
    at,
)

PACE = 30 if FULL else 1800
pytestmark = pytest.mark.timeout(3600 if PACE < 600 else 120)

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
QUASAR, BITFORGE, SPARSE = "quasar/bf16", "bitforge/fp8", "drumlin/mxfp4"


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    return run_week(tmp_path_factory.mktemp("week"), PACE)


@pytest.fixture
def reader(week: Week) -> Iterator[HistoryReader]:
    with closing(open_readable(week.path)) as connection:
        yield HistoryReader(connection)


@pytest.fixture
def rules(week: Week) -> dict[str, AlertRule]:
    return dict(load_alerts(week.rules).rules)


def told(reader: HistoryReader) -> list[AlertEvent]:
    return list(reversed(read_events(reader.connection, after=0, limit=10_000)))


@pytest.fixture
def figures(week: Week, reader: HistoryReader) -> list[Figure]:
    """Those that move, that rest, and that are null at times."""
    identities = {
        tag: next(
            series.key.identity
            for series in reader.series("endpoint", None, "uptime_last_5m")
            if series.key.identity.startswith(f"{MODEL} {tag}")
        )
        for tag in (QUASAR, BITFORGE, SPARSE)
    }
    found = [Figure(SeriesKey("credits", "account", "balance"), week.balance)]
    for tag, identity in identities.items():
        found += [
            Figure(SeriesKey("endpoint", identity, name), week.endpoint(tag, name))
            for name in (*UPTIMES, "price_prompt")
            if (tag, name) != (SPARSE, "price_prompt")
        ]
    return found


# Alerts -----------------------------------------------------------------------------------------


def test_each_alert_fires_and_clears_as_often_as_its_rule_says(
    week: Week, reader: HistoryReader
) -> None:
    """Not once more: no flap, no rest within an outage and no purchase of too little is told."""
    assert [(event.key.rule, event.event) for event in told(reader)] == [
        ("key-near-limit", "fired"),
        ("endpoint-failing", "fired"),
        ("endpoint-failing", "cleared"),
        ("key-limit-used-up", "fired"),
        ("key-near-limit", "cleared"),
        ("credits-low", "fired"),
        ("price-changed", "fired"),
        ("price-changed", "cleared"),
        ("endpoint-failing", "fired"),
        ("endpoint-failing", "cleared"),
        ("key-limit-used-up", "cleared"),
        ("gateway-unreadable", "fired"),
        ("gateway-unreadable", "cleared"),
        ("credits-low", "cleared"),
    ]
    assert week.readings >= 3 * 7 * 86_400 // PACE * 0.95
    during = [
        value
        for read_at, value in week.endpoint(QUASAR, "uptime_last_5m")
        if FLAP[0] < read_at < FLAP[1] + timedelta(minutes=5)
    ]
    assert min(value for value in during if value is not None) < 35, "the flap was seen"


def hour_end(moment: datetime) -> datetime:
    """The last second of its hour: older than two days, nothing finer is kept."""
    return moment.replace(minute=59, second=59)


def moments(reader: HistoryReader, rule: str, of: str = "") -> list[tuple[datetime, str]]:
    return [
        (event.at, event.event)
        for event in told(reader)
        if event.key.rule == rule and of in event.key.subject.identity
    ]


def test_each_fires_and_clears_with_the_reading_that_decides_it(
    week: Week, reader: HistoryReader
) -> None:
    at_once, quarter = timedelta(), timedelta(minutes=15)
    assert moments(reader, "credits-low") == reckoned(
        week.balance, lambda usd: usd < 30, lambda usd: usd >= 35, at_once
    )
    share = [(read_at, (10 - remaining) * 10) for read_at, remaining in week.key(LIMITED)]
    assert moments(reader, "key-near-limit", week.keys[LIMITED]) == reckoned(
        share,
        lambda percent: 80 <= percent < 100,
        lambda percent: percent <= 75 or percent >= 100,
        at_once,
    )
    for tag, count in ((QUASAR, 4), (BITFORGE, 0), (SPARSE, 0)):
        expected = reckoned(
            week.endpoint(tag, "uptime_last_5m"),
            lambda percent: percent < 35,
            lambda percent: percent >= 80,
            quarter,
        )
        assert len(expected) == count
        assert moments(reader, "endpoint-failing", tag) == expected
    begin, end = moments(reader, "price-changed")
    seen = next(at for at, _ in week.balance if at >= DEARER_AT)
    assert begin[0] == seen
    assert DAY <= end[0] - begin[0] <= DAY + timedelta(seconds=PACE)
    begin, end = moments(reader, "gateway-unreadable")
    assert UNREADABLE[0] + timedelta(minutes=5) <= begin[0] < UNREADABLE[1]
    assert UNREADABLE[1] <= end[0] <= UNREADABLE[1] + timedelta(seconds=PACE + 330)


def test_a_preview_finds_in_the_history_what_was_told(
    reader: HistoryReader, rules: dict[str, AlertRule]
) -> None:
    for rule in ("credits-low", "endpoint-failing", "key-near-limit", "price-changed"):
        found = preview(reader, rule, rules[rule], END)
        live = moments(reader, rule)
        assert found.fired == sum(event == "fired" for _, event in live), rule
        assert found.still == 0
        assert found.subjects == found.of


# What is recorded -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [3600, 86_400])
def test_hours_say_what_all_readings_say(
    reader: HistoryReader, figures: list[Figure], width: int
) -> None:
    for figure in figures:
        check_curve(reader, figure, START, END, width)


def test_the_last_two_days_are_known_to_the_reading(
    reader: HistoryReader, figures: list[Figure]
) -> None:
    for figure in figures:
        check_curve(reader, figure, END - 2 * DAY, END, 300)


def test_raw_readings_are_gone_after_two_days(reader: HistoryReader) -> None:
    (oldest,) = reader.connection.execute("SELECT min(start) FROM runs").fetchone()
    age = timedelta(seconds=END.timestamp() - oldest)
    assert timedelta(hours=48) <= age <= timedelta(hours=50)


def test_what_nobody_could_read_is_a_gap(reader: HistoryReader, figures: list[Figure]) -> None:
    moment = at(7, 11, 50)
    for figure in figures:
        curve = reader.points(figure.key, moment, moment + timedelta(minutes=5), resolution=300)
        assert curve is not None
        assert [point.state for point in curve.points] == ["gap"]
        assert reader.value_at(figure.key, moment).state == "gap"


# Earlier moments and changes --------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment",
    [
        FIRST[0] - timedelta(minutes=9),
        FIRST[0] + timedelta(minutes=30),
        FIRST[1] + timedelta(hours=1),
        at(3, 23, 59),
        DEARER_AT - timedelta(minutes=5),
        EDITED_AT + timedelta(hours=5),
        at(6, 17),
    ],
    ids=["before", "in", "after", "at its limit", "cheap", "edited", "of raw readings"],
)
def test_a_moment_shows_what_was_true(week: Week, reader: HistoryReader, moment: datetime) -> None:
    moment = hour_end(moment)
    snapshot = recorded(reader, moment, [MODEL])
    credits = snapshot.credits.value
    assert credits is not None
    assert credits.balance == last_before(week.balance, moment)
    rows = {row.endpoint.provider_name: row for row in snapshot.endpoints[MODEL].value or ()}
    assert len(rows) == 3
    for tag in (QUASAR, BITFORGE, SPARSE):
        (row,) = (row for row in rows.values() if row.identity.startswith(tag))
        for name in UPTIMES:
            then = last_before(week.endpoint(tag, name), moment)
            assert getattr(row.endpoint, name) == then, (tag, name)
    (row,) = (row for row in rows.values() if row.identity.startswith(QUASAR))
    assert row.endpoint.pricing is not None
    dear = moment >= DEARER_AT
    assert row.endpoint.pricing.prompt == Decimal("0.0000011" if dear else "0.00000055")
    facts = reader.facts_at(moment)
    keys = {subject.identity for subject in facts if subject.resource == "key"}
    assert keys == set(week.keys.values())
    edited = moment >= EDITED_AT
    name = facts[Subject("key", week.keys[RENAMED])]["name"]
    assert name == ("chat bot" if edited else RENAMED)
    limited = {
        series.key.figure: reading.value
        for series, reading in reader.at(moment, "key", week.keys[LIMITED]).items()
    }
    assert limited["limit"] == 10
    assert limited["limit_remaining"] == last_before(week.key(LIMITED), moment)
    (space,) = (fields for subject, fields in facts.items() if subject.resource == "workspace")
    assert (space.get("budget_monthly") is not None) == edited


def test_the_moments_of_the_outage_show_it(reader: HistoryReader) -> None:
    def uptime(moment: datetime) -> Value:
        (row,) = (
            row
            for row in recorded(reader, moment, [MODEL]).endpoints[MODEL].value or ()
            if row.identity.startswith(QUASAR)
        )
        return row.endpoint.uptime_last_5m

    before, within, after = (
        uptime(hour_end(moment))
        for moment in (
            FIRST[0] - timedelta(minutes=9),
            FIRST[0] + timedelta(minutes=30),
            FIRST[1] + timedelta(hours=2),
        )
    )
    assert before is not None
    assert within is not None
    assert after is not None
    assert min(before, after) > 95
    assert within < 35


EVENTS = [
    ("endpoint.price", "price_prompt", "5.5E-7", "0.0000011"),
    ("key.changed", "name", RENAMED, "chat bot"),
    ("workspace.budget", "budget_monthly", None, "5000"),
    ("guardrail.changed", "limit_usd", None, "7"),
]


def test_changes_between_two_moments_are_exactly_what_changed(
    week: Week, reader: HistoryReader
) -> None:
    since, until = at(4, 8), at(4, 22)
    each = rows_between(reader, Between(since, until, each=True), until)
    assert sorted((row.kind, row.field, row.before, row.after) for row in each) == sorted(EVENTS)  # type: ignore[type-var]
    net = rows_between(reader, Between(since, until), until)
    facts = [row for row in net if not row.figures]
    assert sorted((row.kind, row.field, row.before, row.after) for row in facts) == sorted(EVENTS)  # type: ignore[type-var]
    assert {(row.at, row.field) for row in facts} == {(row.at, row.field) for row in each}
    for when, row in ((DEARER_AT, "price_prompt"), (EDITED_AT, "name")):
        (found,) = (fact.at for fact in facts if fact.field == row)
        assert found is not None
        assert when <= found <= when + timedelta(seconds=PACE)
    quiet = Between(at(6, 1), at(6, 9), each=True)
    assert rows_between(reader, quiet, at(6, 9)) == ()
    whole = rows_between(reader, Between(START, END, each=True), END)
    assert sorted(row.kind for row in whole) == sorted(
        ["credits.purchased", "credits.purchased", *(kind for kind, *_ in EVENTS)]
    )


def test_figures_that_differ_between_two_moments_are_listed_and_no_others(
    week: Week, reader: HistoryReader, figures: list[Figure]
) -> None:
    since, until = hour_end(at(4, 8)), hour_end(at(4, 22))
    rows = [row for row in rows_between(reader, Between(since, until), until) if row.figures]
    assert len(rows) == len({row.subject for row in rows}), "one row has all figures of a subject"
    shown = [(row.subject, one) for row in rows for one in row.figures]
    listed = {one.series.key: (one.before.value, one.after.value) for _, one in shown}
    assert len(listed) == len(shown)
    assert all(one.series.key[:2] == subject for subject, one in shown)
    for figure in figures:
        before, after = last_before(figure.truth, since), last_before(figure.truth, until)
        if before == after or figure.key.figure == "price_prompt":
            assert figure.key not in listed, "a price is told as a fact"
        else:
            assert listed[figure.key] == (before, after)
    assert {Subject(*key[:2]).resource for key in listed} == {
        "credits",
        "endpoint",
        "key",
        "workspace",
    }


def test_a_clock_that_was_wrong_takes_back_what_it_dated_and_no_more(
    week: Week, figures: list[Figure], tmp_path: Path
) -> None:
    """The clock of this machine is put back from the end of the week to a moment of its sixth day.

    Up to that moment, all says what it said before.
    """
    path, moment = tmp_path / "h" / "week.sqlite3", at(6, 13, 2)
    path.parent.mkdir(mode=0o700)
    shutil.copy(week.path, path)
    with desk(path, now=END) as history:
        history.see(moment, {SeriesKey("credits", "account", "total_credits"): 1}, every=PACE)
        history.tidy(moment + timedelta(hours=1, minutes=6))
        for figure in figures:
            check_curve(history.reader, figure, START, moment + SECOND, 3600)
            check_curve(history.reader, figure, at(6, 0), moment + SECOND, 300)
            later = history.reader.points(
                figure.key, moment + timedelta(hours=2), END, resolution=3600
            )
            assert later is not None
            assert {point.state for point in later.points} == {"gap"}
        assert history.reader.changes(moment, END) == ()
        assert history.reader.facts_at(moment)


@pytest.mark.skipif(PACE > REAL, reason="too few readings")
def test_memory_is_flat(week: Week) -> None:
    half, end = week.resident
    print(f"{week.readings} readings, {week.witness.requests} requests, {half:,} -> {end:,} bytes")
    assert end - half < 4_000_000
