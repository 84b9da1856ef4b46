"""Rows of a list in each form: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gwtui.cli.lists.query import ListQuery
from gwtui.cli.output import cell_width, print_csv, print_json, print_ndjson, print_table
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.cells import UNKNOWN, SortValue
from gwtui.domain.exact_json import masked

_GAP = 2
_NOT_READ = frozenset({"", UNKNOWN, "…", "reading…"})
"""What a cell shows of a figure that is not known."""


def show_list(rows: Sequence[Any], asked: ListQuery, form: str, now: datetime) -> None:
    """Print the rows. Raises OutputLostError."""
    columns = asked.columns
    if form == "table":
        _table(rows, columns, asked.spec, now)
    elif form == "csv":
        chosen = columns or asked.spec.columns
        print_csv(
            [column.id for column in chosen],
            [[machine_value(column, row, now) for column in chosen] for row in rows],
        )
    else:
        (print_json if form == "json" else print_ndjson)(_objects(rows, asked.spec))


def _objects(rows: Sequence[Any], spec: ResourceSpec[Any]) -> list[Any]:
    """Every object that the gateway sent; a row may be made of several.

    What it did not send, such as a default guardrail that nobody made yet, is none.
    """
    found: list[Any] = []
    for row in rows:
        raw = raw_object(spec, row)
        found += raw if isinstance(raw, list) else [raw] if raw else []
    return found


def raw_object(spec: ResourceSpec[Any], row: Any) -> Any:
    """The object as the gateway sent it, without what looks like a secret."""
    return masked(spec.raw(row))


def machine_value(column: Column[Any], row: Any, now: datetime) -> SortValue:
    """A figure for another program: a number, a moment or a word; None where it is not known."""
    value = column.sort(row, now) if column.export is None else column.export(row, now)
    if value is not None and (column.export is not None or not isinstance(value, str)):
        return value
    # What is sorted as text may be folded or ranked; what has no value may have a word for that.
    text = column.cell(row, now).text
    return None if text in _NOT_READ else text


def _table(
    rows: Sequence[Any],
    chosen: Sequence[Column[Any]] | None,
    spec: ResourceSpec[Any],
    now: datetime,
) -> None:
    columns = spec.columns if chosen is None else chosen
    grid = [
        [column.title for column in columns],
        *([column.cell(row, now).text for column in columns] for row in rows),
    ]
    shown = list(range(len(columns)))
    if chosen is None and sys.stdout.isatty():
        shown = _fitting(columns, grid, shutil.get_terminal_size().columns)
    print_table(
        [[line[place] for place in shown] for line in grid],
        right=[columns[place].right for place in shown],
    )


def _fitting(columns: Sequence[Column[Any]], grid: Sequence[Sequence[str]], room: int) -> list[int]:
    """The columns that have room beside each other; those that matter least give way first."""
    widths = [max(cell_width(line[place]) for line in grid) for place in range(len(columns))]
    shown = list(range(len(columns)))
    while len(shown) > 1 and sum(widths[place] + _GAP for place in shown) - _GAP > room:
        shown.remove(max(shown[1:], key=lambda place: (columns[place].priority, place)))
    return shown
