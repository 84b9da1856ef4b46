"""The same list in the virtual table and in Textual's own DataTable, for the table benchmarks.

    python benchmarks/table_sample.py ours|datatable [rows]

Keys: u changes one figure of a row, w the rightmost one, f filters, q leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import DataTable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gwtui.crud.resource import Cell, Column, Tone  # noqa: E402 - the path is set above
from gwtui.ui.terminal.app import TerminalApp  # noqa: E402
from gwtui.ui.themes import DEFAULT_THEME, THEMES  # noqa: E402
from gwtui.ui.widgets.table import ResourceTable  # noqa: E402

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
COLUMNS, ROWS = 120, 40
_STATES: Sequence[tuple[str, Tone]] = (
    ("active", "good"),
    ("near limit", "warn"),
    ("expired", "bad"),
    ("disabled", "muted"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A row like those of the list of keys."""

    identity: str
    name: str
    state: int
    used: Decimal
    limit: Decimal | None
    requests: int


def samples(count: int) -> list[Sample]:
    """Return rows with unordered values."""
    return [
        Sample(
            f"{index:016x}",
            f"service-{index * 7919 % count:05}",
            index * 31 % len(_STATES),
            Decimal(index * 104_729 % 1_000_000) / 100,
            None if index % 6 == 0 else Decimal(index % 90 * 100),
            index * 15_485_863 % 1_000_000,
        )
        for index in range(count)
    ]


def _usd(amount: Decimal | None) -> Cell:
    return Cell("no limit", "muted") if amount is None else Cell(f"${amount:,.2f}")


TABLE_COLUMNS: tuple[Column[Sample], ...] = (
    Column("name", "Name", lambda r, _: Cell(r.name), lambda r, _: r.name, 20, grow=True),
    Column("state", "State", lambda r, _: Cell(*_STATES[r.state]), lambda r, _: r.state, 10),
    Column(
        "used",
        "Used",
        lambda r, _: _usd(r.used),
        lambda r, _: r.used,
        11,
        right=True,
        kind="number",
    ),
    Column(
        "limit",
        "Limit",
        lambda r, _: _usd(r.limit),
        lambda r, _: r.limit,
        11,
        right=True,
        kind="number",
    ),
    Column(
        "hash",
        "Hash",
        lambda r, _: Cell(r.identity, "muted"),
        lambda r, _: r.identity,
        16,
    ),
    Column(
        "requests",
        "Requests",
        lambda r, _: Cell(f"{r.requests:,}"),
        lambda r, _: r.requests,
        10,
        right=True,
        kind="number",
    ),
)


class OursApp(TerminalApp):
    """The virtual table."""

    CSS_PATH: ClassVar = [ROOT / "styles" / "table.tcss"]

    def __init__(self, count: int) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self.animation_level = "none"
        self.rows = samples(count)
        self.table = ResourceTable(TABLE_COLUMNS, lambda row: row.identity, lambda: NOW)

    def compose(self) -> ComposeResult:
        """Mount the table."""
        yield self.table

    def on_mount(self) -> None:
        """Fill it."""
        self.table.show(self.rows)
        self.table.focus()

    def key_u(self) -> None:
        """Change one figure."""
        row = self.rows[4]
        self.rows = [*self.rows[:4], replace(row, used=row.used + 1), *self.rows[5:]]
        self.table.show(self.rows)

    def key_w(self) -> None:
        """Change the figure that costs most, at the right."""
        row = self.rows[5]
        changed = replace(row, requests=row.requests + 1)
        self.rows = [*self.rows[:5], changed, *self.rows[6:]]
        self.table.show(self.rows)

    def key_f(self) -> None:
        """Filter."""
        self.table.filter_by("" if self.table.visible_count < len(self.rows) else "12")

    def key_q(self) -> None:
        """Leave."""
        self.exit()


class DataTableApp(TerminalApp):
    """Textual's own table with the same cells and colours."""

    CSS: ClassVar = "DataTable { height: 1fr; background: $background; }"

    def __init__(self, count: int) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self.animation_level = "none"
        self.rows = samples(count)
        self.table: DataTable[Text] = DataTable(cursor_type="row")
        self._colours: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """Mount the table."""
        yield self.table

    def on_mount(self) -> None:
        """Fill it."""
        variables = self.theme_variables
        self._colours = {
            tone: variables[f"tone-{tone}"] for tone in ("plain", "good", "warn", "bad", "muted")
        }
        for column in TABLE_COLUMNS:
            self.table.add_column(column.title, key=column.id, width=column.width)
        self.fill(self.rows)

    def fill(self, rows: Sequence[Sample]) -> None:
        """Put other rows into the table."""
        self.table.clear()
        for row in rows:
            cells = (self._text(column.cell(row, NOW)) for column in TABLE_COLUMNS)
            self.table.add_row(*cells, key=row.identity)

    def _text(self, cell: Cell) -> Text:
        return Text(cell.text, style=self._colours[cell.tone])

    def key_u(self) -> None:
        """Change one figure."""
        row = self.rows[4] = replace(self.rows[4], used=self.rows[4].used + 1)
        self.table.update_cell(row.identity, "used", self._text(_usd(row.used)))

    def key_w(self) -> None:
        """Change the figure at the right."""
        row = self.rows[5] = replace(self.rows[5], requests=self.rows[5].requests + 1)
        self.table.update_cell(row.identity, "requests", Text(f"{row.requests:,}"))

    def key_f(self) -> None:
        """Filter, which this table can only do by being filled anew."""
        narrow = self.table.row_count == len(self.rows)
        self.fill([row for row in self.rows if "12" in row.name] if narrow else self.rows)

    def key_q(self) -> None:
        """Leave."""
        self.exit()


APPS = {"ours": OursApp, "datatable": DataTableApp}

if __name__ == "__main__":
    APPS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 1000).run()
