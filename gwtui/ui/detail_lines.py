"""The detail pane's text: sections of labelled figures and small tables, in a given width."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from gwtui.ui.fitting import fit
from gwtui.ui.resources.spec import Cell, DetailRow, DetailTable, ResourceSpec, Section
from gwtui.ui.tones import cell_content, toned

_LABEL = 22
_GAP = "  "


def detail_lines(spec: ResourceSpec[Any], item: Any, now: datetime, width: int) -> list[Content]:
    """Every figure of ``item``. Sections without content are left out."""
    return section_lines(spec.name(item), spec.sections, item, now, width)


def section_lines(
    name: str,
    sections: Sequence[Section[Any]],
    item: Any,
    now: datetime,
    width: int,
    *,
    hints: bool = True,
) -> list[Content]:
    """The same for an item that is in no list. ``name`` must be fit to be shown.

    Without ``hints`` where the keys of its list do nothing.
    """
    lines = [toned(name, "plain", bold=True)]
    contents = [
        (section.title, [part for part in section.content(item, now) if hints or not _hints(part)])
        for section in sections
    ]
    rows = [part for _title, parts in contents for part in parts if isinstance(part, DetailRow)]
    label = min(_LABEL, max((cell_len(row.label) for row in rows), default=0))
    for title, content in contents:
        if not content:
            continue
        lines += [Content(""), toned(title, "accent", bold=True)]
        for part in content:
            if isinstance(part, DetailTable):
                lines += _table(part)
            else:
                lines += _row(part, label, width)
    return lines


def _hints(part: DetailRow | DetailTable) -> bool:
    return isinstance(part, DetailRow) and part.hint


def _row(row: DetailRow, label: int, width: int) -> list[Content]:
    """The label, the value folded beside it, and the note beneath or behind."""
    start = label + len(_GAP)
    room = max(8, width - start)
    value = cell_content(row.value)
    folded = _wrap(value, room)
    if row.note:
        if folded[-1].cell_length + len(_GAP) + cell_len(row.note) <= room:
            folded[-1] = Content.assemble(folded[-1], _GAP, toned(row.note, "muted"))
        else:
            folded += _wrap(toned(row.note, "muted"), room)
    indent = Content(" " * start)
    name = toned(fit(row.label, label) + _GAP, "muted")
    return [
        Content.assemble(name if number == 0 else indent, line)
        for number, line in enumerate(folded)
    ]


def _wrap(content: Content, width: int) -> list[Content]:
    if content.cell_length <= width and "\n" not in content.plain:
        return [content]
    return list(content.wrap(width)) or [content]


def _table(table: DetailTable) -> list[Content]:
    """Columns as wide as their widest cell, the first left-aligned, figures to the right."""
    heads = [Cell(title, "muted") for title in table.columns]
    grid: Sequence[Sequence[Cell]] = [heads, *table.rows]
    widths = [
        max((cell_len(row[column].text) for row in grid if column < len(row)), default=0)
        for column in range(len(table.columns))
    ]
    return [
        Content(_GAP).join(
            toned(fit(cell.text, widths[column], right=column > 0), cell.tone)
            for column, cell in enumerate(row)
        )
        for row in grid
    ]
