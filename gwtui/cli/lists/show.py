"""Rows and single objects as they are printed: text for people, JSON and CSV for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from gwtui.cli.lists.query import ListQuery
from gwtui.cli.output import (
    cell_width,
    data_on_stdout,
    print_csv,
    print_json,
    print_ndjson,
    print_table,
)
from gwtui.crud.export import csv_values, raw_objects
from gwtui.crud.resource import Column, DetailRow, DetailTable, ResourceSpec

_GAP = 2
"""Cells between two columns."""
_INDENT = _SPACE = " " * _GAP


def show_list(
    rows: Sequence[Any], asked: ListQuery, form: str, now: datetime, *, further: bool = False
) -> None:
    """Print the rows; ``further`` ones go below those of the same list. Raises OutputLostError."""
    columns = asked.columns
    if form == "table":
        _table(rows, columns, asked.spec, now)
    elif form == "csv":
        chosen = columns or asked.spec.columns
        print_csv(
            () if further else [column.id for column in chosen],
            csv_values(chosen, rows, now),
        )
    else:
        (print_json if form == "json" else print_ndjson)(raw_objects(asked.spec, rows))


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


def print_detail(spec: ResourceSpec[Any], row: Any, now: datetime) -> None:
    """The sections that the dashboard shows of it. Raises OutputLostError."""
    with data_on_stdout():
        for line in detail_text(spec, row, now):
            print(line)


def detail_text(spec: ResourceSpec[Any], row: Any, now: datetime) -> Iterator[str]:
    """The sections line by line; every cell went through ``safe_text`` where it was made."""
    yield spec.name(row)
    for section in spec.sections:
        parts = [
            part
            for part in section.content(row, now)
            if not (isinstance(part, DetailRow) and part.hint)
        ]
        if not parts:
            continue
        yield ""
        yield section.title
        label = max((len(part.label) for part in parts if isinstance(part, DetailRow)), default=0)
        for part in parts:
            yield from (
                _detail_table(part) if isinstance(part, DetailTable) else _detail_row(part, label)
            )


def _detail_row(row: DetailRow, label: int) -> Iterator[str]:
    head = f"{_INDENT}{row.label:<{label}}{_SPACE if label else ''}"
    first, *rest = row.value.text.split("\n")
    note = f"{_SPACE}({row.note})" if row.note else ""
    yield f"{head}{first}{note}".rstrip()
    for line in rest:
        yield f"{' ' * len(head)}{line}".rstrip()


def _detail_table(table: DetailTable) -> Iterator[str]:
    grid: list[Sequence[str]] = [table.columns]
    grid += [[cell.text for cell in line] for line in table.rows]
    widths = [
        max(len(line[place]) for line in grid if place < len(line))
        for place in range(len(table.columns))
    ]
    for line in grid:
        cells = [
            text.rjust(widths[place]) if place else text.ljust(widths[place])
            for place, text in enumerate(line)
        ]
        yield f"{_INDENT}{_SPACE.join(cells)}".rstrip()
