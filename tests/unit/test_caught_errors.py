"""Error boundaries of declarations: a failing cell, section or facet breaks only itself."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import NoReturn

import pytest

from gwtui.crud.export import csv_values
from gwtui.crud.resource import BROKEN_CELL, Cell, Column, RowFields, Section, row_text
from gwtui.local.caught_errors import caught_errors, guarded
from gwtui.local.log import line_of
from gwtui.ui.widgets.detail import section_lines

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SECRET = "a value from the gateway"


def fail(value: str, _now: datetime) -> NoReturn:
    raise ValueError(value)


BROKEN = Column("limit", "Limit", fail, fail, 8, export=fail)
SOUND = Column("name", "Name", lambda row, _now: Cell(row), lambda row, _now: row, 8)


def test_a_broken_cell_is_a_mark_and_its_row_stays(caplog: pytest.LogCaptureFixture) -> None:
    assert BROKEN.cell(SECRET, NOW) == BROKEN_CELL == Cell("?", "bad")
    assert BROKEN.sort(SECRET, NOW) is None
    assert row_text([SOUND.cell, BROKEN.cell], "ci", NOW) == "ci\n?"
    fields = RowFields([SOUND, BROKEN], {}, NOW)
    fields.item = "ci"
    assert (fields["name"](), fields["limit"]()) == ("ci", None)
    assert csv_values([SOUND, BROKEN], ["ci"], NOW) == [["ci", None]]
    assert caplog.messages == ["column limit failed"], "one error for each place"
    caught_errors.clear()


def test_a_broken_section_shows_an_error_and_others_stay() -> None:
    sections = (
        Section("Limits", fail),
        Section("Use", lambda row, _now: []),
    )
    text = "\n".join(line.plain for line in section_lines("ci", sections, SECRET, NOW, 80))
    assert "Limits" in text
    assert "?  not shown: an error in gwtui, see its log" in text
    assert len(caught_errors) == 1
    caught_errors.clear()


def test_the_log_names_the_place_and_no_value(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        assert guarded("panel credits", fail, None)(SECRET, NOW) is None
    assert guarded("panel limits", fail, None)(SECRET, NOW) is None
    records = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.getMessage() for record in records] == [
        "panel credits failed",
        "panel limits failed",
    ]
    line = line_of(records[0])
    assert "ValueError" in line
    assert "test_caught_errors.py" in line
    assert SECRET not in line
    assert len(caught_errors) == 2
    caught_errors.clear()
