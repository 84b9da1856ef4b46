"""Recorded changes between two times, as rows and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.crud.export import machine_value
from gwtui.resources.changes import CHANGES, COLUMNS, change_text, field_text, value_text
from gwtui.watch.history.model import Observation, RecordedChange, SeriesKey, Subject
from history_kit import START, HistoryFile, minutes, open_history

ENDPOINT = Subject("endpoint", "lab/one lab||")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
LATENCY = SeriesKey(*ENDPOINT, "latency_p50")
KEY, OTHER = Subject("key", "k1"), Subject("key", "k2")
UNTIL = START + minutes(30)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[HistoryFile]:
    """Half an hour in which a price, an uptime and the keys change."""
    with open_history(tmp_path / "h" / "one.sqlite3") as opened:
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


def cell_texts(row: RecordedChange) -> dict[str, str]:
    return {column.id: column.cell(row, UNTIL).text for column in COLUMNS}


def test_the_rows_of_changes_newest_first(history: HistoryFile) -> None:
    changes = history.reader.changes(START, UNTIL)
    assert [row.kind for row in changes] == ["endpoint.price", "key.deleted", "key.created"]
    assert len({CHANGES.identity(row) for row in changes}) == 3
    price, deleted, created = map(cell_texts, changes)
    assert (price["subject"], price["field"]) == ("one · Lab", "prompt price")
    assert (price["before"], price["after"], price["difference"]) == (
        "$2.00/M",
        "$3.00/M",
        "+50.0%",
    )
    (difference,) = (column for column in COLUMNS if column.id == "difference")
    fallen = replace(changes[0], before=changes[0].after, after=changes[0].before)
    assert machine_value(difference, changes[0], UNTIL) == 50
    assert machine_value(difference, fallen, UNTIL) == Decimal(-1) / 3 * 100
    assert difference.sort(fallen, UNTIL) == Decimal(1) / 3 * 100
    assert price["at"] == "10 min ago"
    assert (deleted["subject"], deleted["event"], deleted["difference"]) == (
        "key ci",
        "deleted",
        "",
    )
    assert (deleted["before"], deleted["after"]) == ("exists", "—")
    assert (created["before"], created["after"]) == ("—", "exists")
    details = {detail.label: detail for detail in CHANGES.sections[1].content(changes[0], UNTIL)}
    assert details["difference"].value.text == "+50.0%"


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
def test_values_are_formatted_by_type(field: str, value: object, words: str) -> None:
    assert value_text(field, value) == words  # type: ignore[arg-type]


def test_a_change_in_a_sentence(history: HistoryFile) -> None:
    (change,) = history.reader.changes(START, UNTIL, {"endpoint.price"})
    assert change_text(change) == "prompt price $2.00/M → $3.00/M"
    assert field_text("budget_weekly") == "budget weekly"
