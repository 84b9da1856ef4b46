"""Exported rows equal the output of the headless list, without formulas, equally masked."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest

from gwtui.cli.lists.selection import parse_query
from gwtui.cli.lists.show import show_list
from gwtui.crud.export import ExportForm, exported, exported_figures
from gwtui.resources.keys.resource import KEYS
from gwtui.watch.feeds.keys import KeyRow
from resource_samples import HOSTILE, NOW, key

ROWS = [
    KeyRow(key(name="=1+1", key="gw-v1-a-whole-key-0123456789", usage=None)),
    KeyRow(key(name=f'two, "words" {HOSTILE}', label="-x", hash="b" * 64)),
]
FORMS: tuple[ExportForm, ...] = ("csv", "json", "ndjson")


@pytest.mark.parametrize("form", FORMS)
def test_exports_equal_the_output_of_lists(
    form: ExportForm, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = None if form != "csv" else "name,label,all,created"
    query = parse_query(KEYS, None, None, columns)
    show_list(ROWS, query, form, NOW)
    from_dashboard = exported(KEYS, query.columns or KEYS.columns, ROWS, form, NOW)
    assert from_dashboard == capsys.readouterr().out
    assert "a-whole-key" not in from_dashboard


def test_exports_are_safe_for_spreadsheets() -> None:
    text = exported(KEYS, KEYS.columns, ROWS, "csv", NOW)
    lines = list(csv.DictReader(StringIO(text)))
    assert [lines[0]["name"], lines[1]["label"]] == ["'=1+1", "'-x"]
    assert lines[0]["all"] == "", "unknown values are empty, not 0"
    assert "\x1b" not in text
    assert "\r" not in text


def test_figures_of_no_resource_are_objects_of_their_columns() -> None:
    columns = [column for column in KEYS.columns if column.id in {"name", "limit", "created"}]
    result: list[dict[str, Any]] = json.loads(exported_figures(columns, ROWS, "json", NOW))
    assert result[0] == {"name": "=1+1", "limit": 50, "created": result[0]["created"]}
    assert result[0]["created"].endswith("Z")
    ndjson = exported_figures(columns, ROWS, "ndjson", NOW).splitlines()
    assert [json.loads(line) for line in ndjson] == result
    assert exported_figures(columns, ROWS, "csv", NOW).startswith("name,limit,created\n'=1+1,50,")
