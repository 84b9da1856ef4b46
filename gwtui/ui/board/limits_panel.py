"""Keys and workspaces nearest to what they may spend, and when that starts over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from textual.app import ComposeResult

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column, SortValue
from gwtui.domain import times
from gwtui.resources.workspaces.view import share_tone
from gwtui.ui.board.panel import Panel, View
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board.limits import Limit, limits
from gwtui.watch.board.snapshot import BoardReadings, BoardSnapshot

MOST = 50
"""Limits that are listed: those far from their end are of no interest here."""
_BAR = 8


def _used(one: Limit) -> Cell:
    return cells.NOTHING if one.share is None else cells.share(one.share, share_tone(one.share))


def _bar(one: Limit, _now: datetime) -> Cell:
    if one.share is None:
        return cells.NOTHING
    return Cell(cells.bar(one.share, _BAR), share_tone(one.share))


def _resets(one: Limit, now: datetime) -> Cell:
    moment = one.resets_at(now)
    if moment is not None:
        return Cell(times.relative(moment, now))
    known = one.schedule is None or one.schedule == "lifetime"
    return Cell("never", "muted") if known else cells.NOTHING


def _resets_at(one: Limit, now: datetime) -> SortValue:
    return one.resets_at(now)


COLUMNS: tuple[Column[Limit], ...] = (
    text_column("name", "Nearest to their limits", lambda one: one.name, 22, 0, help="who"),
    text_column("kind", "Kind", lambda one: one.kind, 9, 5, help="key or workspace"),
    figure_column(
        "used",
        "Used",
        lambda one: cells.in_percent(one.share),
        6,
        1,
        show=_used,
        help="share of the limit that is used",
    ),
    Column("bar", "", _bar, lambda one, _now: one.share, _BAR, 4, help="the same as a bar"),
    usd_column("left", "Left", lambda one: one.left, 10, 2, "what is left, USD"),
    usd_column("limit", "Limit", lambda one: one.limit, 10, 6, "limit, USD"),
    Column("resets", "Resets", _resets, _resets_at, 10, 3, help="when it starts over, UTC"),
)


class LimitsPanel(Panel):
    """The list, nearest first."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-limits", classes="panel")
        self.table: ResourceTable[Limit] = ResourceTable(
            COLUMNS, lambda one: one.identity, now, id="board-limits-table"
        )

    def compose(self) -> ComposeResult:
        """The table and what is wrong with it."""
        yield OneLine(id="board-limits-state")
        yield self.table

    def on_mount(self) -> None:
        """The nearest first."""
        self.table.sort_by("used", descending=True)

    def tick(self) -> None:
        """Times to reset move with the time."""
        self.table.tick()

    def show_snapshot(self, snapshot: BoardSnapshot, view: View) -> None:
        """Every limit in force."""
        keys, spaces = snapshot.keys, snapshot.workspaces
        found = limits(keys.value or (), spaces.value or {}, view.now)
        self.table.show(found[:MOST])
        words = [_state("keys", keys, view), _state("budgets", spaces, view)]
        text = " · ".join(word for word in words if word)
        if not text and not found:
            text = "no key and no workspace has a limit"
        line = self.query_one("#board-limits-state", OneLine)
        line.display = bool(text)
        line.show(toned(f" {text}", "warn" if found else "muted"))


def _state(what: str, readings: BoardReadings[Any], view: View) -> str:
    now = view.now
    if readings.value is None and view.past:
        return f"{what} not recorded"
    if readings.value is None:
        return f"{what} cannot be read" if readings.error is not None else f"reading {what}…"
    return f"{what} {times.age(readings.age(now))} old" if readings.is_old(now) else ""
