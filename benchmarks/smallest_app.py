"""The smallest Textual application with a table of 20 rows: what everything is compared with."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import DataTable


class Smallest(App[None]):
    """One table, nothing else."""

    def compose(self) -> ComposeResult:
        """Mount the table."""
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        """Fill it."""
        table = self.query_one(DataTable)
        table.add_columns("name", "state", "limit", "used", "expires")
        for row in range(20):
            table.add_row(f"row-{row}", "active", "$50.00", f"{row} %", "in 30 days")
        self.set_interval(5, lambda: table.update_cell_at((3, 3), "now"), repeat=1)

    def key_q(self) -> None:
        """Leave."""
        self.exit()


if __name__ == "__main__":
    Smallest().run()
