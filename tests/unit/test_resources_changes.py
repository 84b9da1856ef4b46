"""What is different between two recorded moments, in rows and in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.resources.changes import CHANGES, COLUMNS, change_text, field_text, value_text
from gwtui.watch.feeds.recorded import Between, ChangeRow, rows_between
from gwtui.watch.history.model import Observation, SeriesKey, Subject
from history_kit import START, Desk, desk, minutes

ENDPOINT = Subject("endpoint", "lab/one lab||")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
LATENCY = SeriesKey(*ENDPOINT, "latency_p50")
KEY, OTHER = Subject("key", "k1"), Subject("key", "k2")
UNTIL = START + minutes(30)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    """Half an hour in which a price, an uptime and the keys became others."""
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        for minute in range(31):
            price = "0.000002" if minute < 20 else "0.000003"
            uptime = 99 if minute < 10 else None if minute < 20 else 42
            values = {
                UPTIME.figure: None if uptime is None else Decimal(uptime),
                LATENCY.figure: Decimal(400 + minute),
            }
            opened.observe(
                Observation(
                    "endpoints:lab/one",
                    START + minutes(minute),
                    60,
                    {ENDPOINT: values},
                    {ENDPOINT: {"name": "Lab", "price_prompt": price}},
                )
            )
            facts = {KEY: {"name": "ci"}} if minute < 15 else {OTHER: {"name": "cd"}}
            opened.see(
                START + minutes(minute), facts=facts, source="keys", covers=Subject("key", "")
            )
        yield opened


def shown(row: ChangeRow) -> dict[str, str]:
    return {column.id: column.cell(row, UNTIL).text for column in COLUMNS}


def test_the_net_of_facts_and_figures(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START + minutes(2)), UNTIL)
    words = {(row.name, row.field): shown(row) for row in rows}
    price = words["Lab", "price_prompt"]
    assert (price["subject"], price["field"]) == ("one · Lab", "prompt price")
    assert (price["before"], price["after"], price["difference"]) == (
        "$2.00/M",
        "$3.00/M",
        "+50.0%",
    )
    assert price["at"] == "10 min ago"
    figures = words["Lab", ""]
    assert figures["field"] == "uptime last 5m +1"
    assert (figures["before"], figures["after"], figures["difference"]) == ("99%", "42%", "-57%")
    assert words["ci", ""]["event"] == "deleted"
    assert (words["cd", ""]["before"], words["cd", ""]["after"]) == ("—", "there")


def test_no_traffic_is_no_figure_and_no_difference(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START + minutes(2)), START + minutes(12))
    (row,) = (row for row in rows if row.figures)
    latency, uptime = row.figures
    assert (uptime.key, uptime.share) == (UPTIME, None)
    details = {detail.label: detail for detail in CHANGES.sections[1].content(row, UNTIL)}
    assert details["uptime last 5m"].value.text == "99% → no traffic"
    assert details["uptime last 5m"].note == ""
    assert details["latency p50"].value.text == "402 ms → 412 ms"
    assert details["latency p50"].note == "+10 ms"
    assert latency.difference == 10


def test_what_people_changed_comes_first_and_figures_take_one_row_last(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START + minutes(2)), UNTIL)
    column, descending = CHANGES.default_sort
    (order,) = (each.sort for each in COLUMNS if each.id == column)
    rows = sorted(rows, key=lambda row: order(row, UNTIL), reverse=descending)
    kinds = [row.kind for row in rows]
    assert kinds == ["key.created", "key.deleted", "endpoint.price", "endpoint.figure"]


def test_a_row_of_figures_is_the_same_row_whichever_changed_the_most(history: Desk) -> None:
    earlier, later = (
        next(row for row in rows_between(history.reader, Between(START), until) if row.figures)
        for until in (START + minutes(9), UNTIL)
    )
    assert shown(earlier)["field"] != shown(later)["field"]
    assert earlier.identity == later.identity


def test_before_the_recording_nothing_is_taken_for_new(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START - timedelta(days=9)), START + minutes(12))
    assert [row.kind for row in rows] == ["endpoint.figure"]


def test_every_change_by_itself_newest_first(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START, each=True), UNTIL)
    assert [row.kind for row in rows] == ["endpoint.price", "key.deleted", "key.created"]
    assert len({row.identity for row in rows}) == 3


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("price_prompt", "0.000002", "$2.00/M"),
        ("price_request", "0.01", "$0.01"),
        ("price_prompt", "-1", "varies"),
        ("budget_weekly", "40", "$40.00"),
        ("limit", None, "none"),
        ("disabled", True, "yes"),
        ("status", 0, "0"),
        ("allowed_models", ["a/b", "c/d"], "a/b, c/d"),
        ("allowed_models", [], "empty"),
        ("overrides", [{"prompt": "1"}], '[{"prompt": "1"}]'),
        ("name", "a\x1b[31mb", "a\N{SYMBOL FOR ESCAPE}[31mb"),
    ],
)
def test_values_read_as_what_they_are(field: str, value: object, words: str) -> None:
    assert value_text(field, value) == words  # type: ignore[arg-type]


def test_a_change_in_a_sentence(history: Desk) -> None:
    (change,) = history.reader.changes(START, UNTIL, {"endpoint.price"})
    assert change_text(change) == "prompt price $2.00/M → $3.00/M"
    assert field_text("budget_weekly") == "budget weekly"
