"""The smallest Textual application with a table of 20 rows, as the reference for all starts."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import DataTable


class Smallest(App[None]):
    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("name", "state", "limit", "used", "expires")
        for row in range(20):
            table.add_row(f"row-{row}", "active", "$50.00", f"{row} %", "in 30 days")
        self.set_interval(5, lambda: table.update_cell_at((3, 3), "now"), repeat=1)

    def key_q(self) -> None:
        self.exit()


if __name__ == "__main__":
    Smallest().run()
