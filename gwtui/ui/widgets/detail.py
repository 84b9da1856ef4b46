"""Formats the details of a resource as lines of text: labelled values and small tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud.action import Action
from gwtui.crud.resource import Cell, DetailRow, DetailTable, ResourceSpec, Section
from gwtui.ui.commands import with_keys
from gwtui.ui.text import cell_content, fit, is_id, shortened, toned

_LABEL = 22
_GAP = "  "


def detail_lines(
    spec: ResourceSpec[Any],
    item: Any,
    now: datetime,
    width: int,
    held_back: Callable[[Action], object] = lambda _action: False,
) -> list[Content]:
    """Return the title and the sections of ``item``, wrapped to ``width`` cells.

    Sections without content are left out, and so are hints at actions for which ``held_back`` is
    true.
    """
    return section_lines(spec.name(item), spec.sections, item, now, width, held_back)


def section_lines(
    name: str,
    sections: Sequence[Section[Any]],
    item: Any,
    now: datetime,
    width: int,
    held_back: Callable[[Action], object] = lambda _action: False,
) -> list[Content]:
    """Return a title and sections about ``item``, wrapped to ``width`` cells.

    ``name`` is the title and must have passed ``safe_text``.
    """
    lines = _wrap(toned(name, "plain", bold=True), width)
    contents = [
        (section.title, _with_hints(section.content(item, now), held_back)) for section in sections
    ]
    rows = [part for _title, parts in contents for part in parts if isinstance(part, DetailRow)]
    label = min(_LABEL, max((cell_len(row.label) for row in rows), default=0))
    for title, content in contents:
        if not content:
            continue
        lines += [Content(""), toned(title, "accent", bold=True)]
        for part in content:
            if isinstance(part, DetailTable):
                lines += table_lines(part, width)
            else:
                lines += _row(part, label, width)
    return lines


def _with_hints(
    parts: Sequence[DetailRow | DetailTable], held_back: Callable[[Action], object]
) -> list[DetailRow | DetailTable]:
    shown: list[DetailRow | DetailTable] = []
    for part in parts:
        if isinstance(part, DetailRow) and part.hint and part.value.text:
            if text := with_keys(part.value.text, held_back):
                shown.append(replace(part, value=replace(part.value, text=text)))
        else:
            shown.append(part)
    return shown


def _row(row: DetailRow, label: int, width: int) -> list[Content]:
    """Return the label with the wrapped value beside it, then the note.

    A value with a word too long for the space beside the label starts below it.
    """
    start = label + len(_GAP)
    name = toned(fit(row.label, label) + _GAP, "muted")
    beneath = _longest_word(row.value.text) > width - start
    if beneath:
        start = len(_GAP)
    room = max(8, width - start)
    lines, note = _wrap(cell_content(row.value), room), with_keys(row.note)
    if note and lines[-1].cell_length + len(_GAP) + cell_len(note) <= room:
        lines[-1] = Content.assemble(lines[-1], _GAP, toned(note, "muted"))
    elif note:
        lines += _wrap(toned(note, "muted"), room)
    indent = Content(" " * start)
    if beneath:
        return [name, *(Content.assemble(indent, line) for line in lines)]
    return [Content.assemble(indent if at else name, line) for at, line in enumerate(lines)]


def _longest_word(text: str) -> int:
    return 0 if is_id(text) else max(map(cell_len, text.split()), default=0)


def _wrap(content: Content, width: int) -> list[Content]:
    if content.cell_length <= width and "\n" not in content.plain:
        return [content]
    if is_id(content.plain):
        # An id may be cut: a wider pane, the raw JSON and the clipboard have all of it.
        style = content.spans[0].style if content.spans else ""
        return [Content.styled(shortened(content.plain, width), style)]
    return list(_breakable(content, width).wrap(width)) or [content]


def _breakable(content: Content, width: int) -> Content:
    # Add a line break after the last separator that fits, in each word longer than a line.
    for word in re.finditer(r"\S+", content.plain):
        separators = re.finditer(r"[/_:.,-]", word[0][:width])
        end = max((match.end() for match in separators), default=0)
        if cell_len(word[0]) > width and end:
            at = word.start() + end
            rest = _breakable(content[at:], width)
            return Content.assemble(content[:at], "\n", rest)
    return content


def table_lines(table: DetailTable, width: int) -> list[Content]:
    """Return a table as lines of at most ``width`` cells; figures are right-aligned.

    In a table that is too wide, each figure gets its own line.
    """
    grid = [[Cell(title, "muted") for title in table.columns], *table.rows]
    widths = [max(cell_len(cell.text) for cell in column) for column in zip(*grid, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        return _listed(table, width)
    return [
        Content(_GAP).join(
            toned(fit(cell.text, widths[at], right=at > 0), cell.tone)
            for at, cell in enumerate(row)
        )
        for row in grid
    ]


def _listed(table: DetailTable, width: int) -> list[Content]:
    lines: list[Content] = []
    for row in table.rows:
        first, *figures = row
        lines += _wrap(cell_content(first), width)
        for title, cell in zip(table.columns[1:], figures, strict=False):
            line = Content.assemble(toned(f"{title} ", "muted"), cell_content(cell))
            room = max(1, width - len(_GAP))
            lines += [Content.assemble(_GAP, part) for part in _wrap(line, room)]
    return lines
