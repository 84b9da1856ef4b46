"""A small list, and an app with only the virtual table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.message import Message

from gwtui.crud.resource import Cell, Column, Tone
from gwtui.ui.themes import DEFAULT_THEME, THEMES
from gwtui.ui.widgets.table import (
    CountsChanged,
    Highlighted,
    Opened,
    ResourceTable,
    SelectionLost,
    SortChanged,
)

MOMENT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
STYLES = Path(__file__).resolve().parent.parent / "styles"


@dataclass(frozen=True)
class SampleRow:
    """A row; ``used`` None is unknown."""

    id: str
    name: str
    used: int | None = 0
    state: str = "active"
    last_seen: datetime = MOMENT


@dataclass
class ManualClock:
    """A manual clock."""

    moment: datetime = MOMENT

    def __call__(self) -> datetime:
        return self.moment

    def pass_seconds(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


TONES: dict[str, Tone] = {"active": "good", "expired": "bad", "near limit": "warn"}


def _used(row: SampleRow) -> Cell:
    return Cell("—", "muted") if row.used is None else Cell(f"{row.used:,}")


def _age(row: SampleRow, now: datetime) -> Cell:
    return Cell(f"{int((now - row.last_seen).total_seconds() // 60)} min")


COLUMNS: tuple[Column[SampleRow], ...] = (
    Column("name", "Name", lambda t, _: Cell(t.name), lambda t, _: t.name, 12, grow=True),
    Column(
        "state",
        "State",
        lambda t, _: Cell(t.state, TONES.get(t.state, "plain")),
        lambda t, _: t.state,
        10,
    ),
    Column(
        "used", "Used", lambda t, _: _used(t), lambda t, _: t.used, 8, right=True, kind="number"
    ),
    Column("age", "Seen", _age, lambda t, _: t.last_seen, 8, right=True, kind="moment"),
    Column("id", "Identity", lambda t, _: Cell(t.id, "muted"), lambda t, _: t.id, 20),
)


def sample_rows(count: int, start: int = 0) -> list[SampleRow]:
    """Rows named row-000, row-001 and so on."""
    return [
        SampleRow(f"id-{n:03}", f"row-{n:03}", n * 37 % 101) for n in range(start, start + count)
    ]


@dataclass
class MessageLog:
    """Messages that reached the application, in order."""

    messages: list[Message] = field(default_factory=list)

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]


class TableApp(App[None]):
    """Shows one table over the whole screen."""

    CSS_PATH: ClassVar = [STYLES / "table.tcss"]

    def __init__(
        self,
        items: Sequence[SampleRow] = (),
        columns: Sequence[Column[SampleRow]] = COLUMNS,
        theme: str = DEFAULT_THEME,
    ) -> None:
        super().__init__()
        for theme_option in THEMES:
            self.register_theme(theme_option)
        self.theme = theme
        self.clock = ManualClock()
        self.received = MessageLog()
        self.table: ResourceTable[SampleRow] = ResourceTable(
            columns,
            lambda row: row.id,
            self.clock,
            facets={"digit": lambda row, _now: row.name[-1]},
            can_mark=True,
        )
        self._items = items

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.show(self._items)
        self.table.focus()

    def record(self, message: Message) -> None:
        self.received.messages.append(message)

    def on_resource_table_highlighted(self, message: Highlighted) -> None:
        self.record(message)

    def on_resource_table_opened(self, message: Opened) -> None:
        self.record(message)

    def on_resource_table_selection_lost(self, message: SelectionLost) -> None:
        self.record(message)

    def on_resource_table_sort_changed(self, message: SortChanged) -> None:
        self.record(message)

    def on_resource_table_counts_changed(self, message: CountsChanged) -> None:
        self.record(message)

    def lines(self) -> list[str]:
        """The screen as the terminal gets it, one string per line."""
        return [strip.text for strip in self.screen._compositor.render_strips()]

    def cursor_line(self) -> str:
        """The line with the cursor's style."""
        results = [line for line in self.lines() if line.startswith("▌")]
        assert len(results) == 1, results
        return results[0]
