"""What is different between two recorded moments, in rows and in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.resources.changes import COLUMNS, change_text, difference, field_text, value_text
from gwtui.watch.feeds.changes import Between, ChangeRow, rows_between
from gwtui.watch.history.model import Observation, Sample, Series, SeriesKey, Subject
from history_kit import START, Desk, desk, minutes

ENDPOINT = Subject("endpoint", "lab/one lab||")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
KEY, OTHER = Subject("key", "k1"), Subject("key", "k2")
UNTIL = START + minutes(30)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    """Half an hour in which a price, an uptime and the keys became others."""
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        for minute in range(31):
            price = "0.000002" if minute < 20 else "0.000003"
            uptime = 99 if minute < 10 else None if minute < 20 else 42
            sample = Sample(Series(UPTIME, "%"), None if uptime is None else Decimal(uptime))
            opened.writer.observe(
                Observation(
                    "endpoints:lab/one",
                    START + minutes(minute),
                    60,
                    (sample,),
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
    uptime = words["Lab", "uptime_last_5m"]
    assert (uptime["before"], uptime["after"], uptime["difference"]) == ("99%", "42%", "-57%")
    assert words["ci", ""]["event"] == "deleted"
    assert (words["cd", ""]["before"], words["cd", ""]["after"]) == ("—", "there")


def test_no_traffic_is_no_figure_and_no_difference(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START + minutes(2)), START + minutes(12))
    (uptime,) = (row for row in rows if row.field == "uptime_last_5m")
    assert shown(uptime)["after"] == "no traffic"
    assert difference(uptime) is None
    assert shown(uptime)["difference"] == ""


def test_before_the_recording_nothing_is_taken_for_new(history: Desk) -> None:
    rows = rows_between(history.reader, Between(START - timedelta(days=9)), START + minutes(12))
    assert {(row.name, row.field) for row in rows} == {("Lab", "uptime_last_5m")}


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
