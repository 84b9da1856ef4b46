"""What changed between two recorded moments: prices, uptime, credits, keys, budgets, guardrails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.ui.resources import cells
from gwtui.ui.resources.change_words import (
    event_cell,
    field_words,
    figure_words,
    in_unit,
    subject_words,
    value_words,
)
from gwtui.ui.resources.columns import moment_column, text_column
from gwtui.ui.resources.spec import Cell, Column, DetailRow, ResourceSpec, Section, SortValue
from gwtui.watch.board.questions import amount
from gwtui.watch.feeds.changes import ChangeRow, changes_feed, last_day

_NO_SIDE = {"created": 0, "appeared": 0, "deleted": 1, "gone": 1}


def _words(row: ChangeRow, side: int) -> str:
    """The value before (0) or after (1)."""
    if row.readings is not None and row.series is not None:
        return figure_words(row.series, row.readings[side])
    if not row.field:
        event = row.kind.rpartition(".")[2]
        return cells.DASH if _NO_SIDE.get(event) == side else "there"
    return value_words(row.field, (row.before, row.after)[side])


def _cell(row: ChangeRow, side: int) -> Cell:
    words = _words(row, side)
    unknown = words in {cells.DASH, "not recorded", "no traffic"}
    return Cell(words, "muted" if unknown or side == 0 else "plain")


def difference(row: ChangeRow) -> Decimal | None:
    """How much more it is, in the unit of the figure; None where that cannot be said."""
    before, after = _amounts(row)
    return None if before is None or after is None else after - before


def _amounts(row: ChangeRow) -> tuple[Decimal | None, Decimal | None]:
    if row.readings is not None:
        return row.readings[0].value, row.readings[1].value
    return amount(row.before), amount(row.after)


def _share(row: ChangeRow) -> Decimal | None:
    before, _after = _amounts(row)
    more = difference(row)
    return None if more is None or not before else more / abs(before)


def _difference_cell(row: ChangeRow) -> Cell:
    more = difference(row)
    if not more:
        return Cell("")
    sign = "+" if more > 0 else "-"
    if row.series is not None and row.series.unit:
        return Cell(f"{sign}{in_unit(row.series.unit, abs(more))}")
    share = _share(row)
    return Cell("" if share is None else f"{sign}{abs(share) * 100:,.1f}%")


def _sort_difference(row: ChangeRow, _now: datetime) -> SortValue:
    share = _share(row)
    return None if share is None else abs(share) * 100


def _subject(row: ChangeRow) -> str:
    return subject_words(*row.subject, row.name)


COLUMNS: tuple[Column[ChangeRow], ...] = (
    text_column("subject", "What", _subject, 20, 0, help="the thing that is different"),
    text_column(
        "field", "Which", lambda row: field_words(row.field), 18, 1, help="field or figure"
    ),
    Column(
        "before",
        "Before",
        lambda row, _now: _cell(row, 0),
        lambda row, _now: _words(row, 0),
        12,
        2,
        help="as of the earlier moment",
    ),
    Column(
        "after",
        "After",
        lambda row, _now: _cell(row, 1),
        lambda row, _now: _words(row, 1),
        12,
        2,
        help="as of the later moment",
    ),
    Column(
        "difference",
        "Difference",
        lambda row, _now: _difference_cell(row),
        _sort_difference,
        11,
        3,
        right=True,
        help="later less earlier; sorted by the share it changed by",
        kind="number",
    ),
    Column(
        "event",
        "Event",
        lambda row, _now: event_cell(row.kind),
        lambda row, _now: row.kind,
        9,
        4,
        help="price, gone, created, changed; figure for what is measured",
    ),
    moment_column("at", "When", lambda row: row.at, 11, 5, "the last time that it changed"),
)


def _what(row: ChangeRow, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("what", Cell(_subject(row))),
        DetailRow("resource", cells.text(row.subject.resource)),
        DetailRow("identity", cells.text(row.subject.identity)),
        DetailRow("event", event_cell(row.kind)),
    ]
    return rows if row.at is None else [*rows, cells.moment_row("changed", row.at, now)]


def _both(row: ChangeRow, _now: datetime) -> Sequence[DetailRow]:
    notes = ("", "")
    if row.readings is not None:
        at = (reading.measured_at for reading in row.readings)
        first, second = (
            "" if moment is None else f"read {moment:%m-%d %H:%M} UTC" for moment in at
        )
        notes = (first, second)
    rows = [
        DetailRow("before", _cell(row, 0), notes[0]),
        DetailRow("after", _cell(row, 1), notes[1]),
    ]
    more = _difference_cell(row)
    return [*rows, DetailRow("difference", more)] if more.text else rows


def _raw(row: ChangeRow) -> Any:
    return {
        "kind": row.kind,
        "resource": row.subject.resource,
        "identity": row.subject.identity,
        "name": row.name,
        "field": row.field,
        "before": _words(row, 0) if row.readings else row.before,
        "after": _words(row, 1) if row.readings else row.after,
    }


CHANGES: ResourceSpec[ChangeRow] = ResourceSpec(
    id="changes",
    title="Changes",
    singular="change",
    identity=lambda row: row.identity,
    name=_subject,
    columns=COLUMNS,
    sections=(Section("What", _what), Section("Before and after", _both)),
    feed=lambda hub, _scope: changes_feed(hub, last_day(hub.clock.now())),
    raw=_raw,
    empty="Nothing that is recorded differs between the two moments.",
    default_sort=("subject", False),
    facets={
        "resource": lambda row, _now: row.subject.resource,
        "identity": lambda row, _now: row.subject.identity,
        "kind": lambda row, _now: row.kind,
    },
)
