"""Reading a declaration the way the generic screen does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from gwtui.crud.resource import Cell, DetailRow, DetailTable, ResourceSpec


def cell_of(spec: ResourceSpec[Any], column_id: str, item: Any, now: datetime) -> Cell:
    return column_of(spec, column_id).cell(item, now)


def sort_of(spec: ResourceSpec[Any], column_id: str, item: Any, now: datetime) -> Any:
    return column_of(spec, column_id).sort(item, now)


def column_of(spec: ResourceSpec[Any], column_id: str) -> Any:
    return next(column for column in spec.columns if column.id == column_id)


def section_of(spec: ResourceSpec[Any], title: str, item: Any, now: datetime) -> list[Any]:
    section = next(section for section in spec.sections if section.title == title)
    return list(section.content(item, now))


def rows_of(spec: ResourceSpec[Any], title: str, item: Any, now: datetime) -> dict[str, DetailRow]:
    return {
        part.label: part
        for part in section_of(spec, title, item, now)
        if isinstance(part, DetailRow)
    }


def notes_of(spec: ResourceSpec[Any], title: str, item: Any, now: datetime) -> dict[str, str]:
    """What a section names without labels, and what it says of each."""
    return {part.value.text: part.note for part in section_of(spec, title, item, now)}


def tables_of(
    spec: ResourceSpec[Any], title: str, item: Any, now: datetime
) -> list[list[tuple[str, ...]]]:
    return [
        [part.columns, *(tuple(cell.text for cell in row) for row in part.rows)]
        for part in section_of(spec, title, item, now)
        if isinstance(part, DetailTable)
    ]


def every_text(spec: ResourceSpec[Any], item: Any, now: datetime) -> Iterator[tuple[str, str]]:
    """(where, text) of everything that the list and the detail pane show of an item."""
    yield "name", spec.name(item)
    for column in spec.columns:
        yield f"column {column.id}", column.cell(item, now).text
        column.sort(item, now)
    for name, facet in spec.facets.items():
        assert isinstance(facet(item, now), str), name
    for section in spec.sections:
        for part in section.content(item, now):
            where = f"section {section.title}"
            if isinstance(part, DetailRow):
                yield where, part.label
                yield where, part.value.text
                yield where, part.note
            else:
                for cells in part.rows:
                    for cell in cells:
                        yield where, cell.text
