"""Everything that is known of one object, as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from gwtui.cli.output import data_on_stdout
from gwtui.ui.resources.spec import DetailRow, DetailTable, ResourceSpec

_INDENT = "  "
_GAP = "  "


def print_detail(spec: ResourceSpec[Any], row: Any, now: datetime) -> None:
    """The sections that the dashboard shows of it. Raises OutputLostError."""
    with data_on_stdout():
        for line in detail_text(spec, row, now):
            print(line)


def detail_text(spec: ResourceSpec[Any], row: Any, now: datetime) -> Iterator[str]:
    """The same line by line; every cell went through ``safe_text`` where it was made."""
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
            yield from _table(part) if isinstance(part, DetailTable) else _row(part, label)


def _row(row: DetailRow, label: int) -> Iterator[str]:
    head = f"{_INDENT}{row.label:<{label}}{_GAP if label else ''}"
    first, *rest = row.value.text.split("\n")
    note = f"{_GAP}({row.note})" if row.note else ""
    yield f"{head}{first}{note}".rstrip()
    for line in rest:
        yield f"{' ' * len(head)}{line}".rstrip()


def _table(table: DetailTable) -> Iterator[str]:
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
        yield f"{_INDENT}{_GAP.join(cells)}".rstrip()
