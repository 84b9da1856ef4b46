"""Activity row by row, for commands: extended contract section 8. Amounts are USD.

The dashboard sums it up on a screen of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from gwtui.contract.usage import ActivityRow
from gwtui.crud import cells
from gwtui.crud.columns import count_column, text_column, usd_column
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.watch.feeds.activity import DayRow, days_feed


def _count(
    name: str, title: str, priority: int, value: Callable[[ActivityRow], int | None], help: str
) -> Column[DayRow]:
    return count_column(name, title, lambda row: value(row.row), 10, priority, help)


COLUMNS: tuple[Column[DayRow], ...] = (
    Column(
        "day",
        "Day",
        lambda row, _now: cells.text(row.row.date),
        lambda row, _now: row.day,
        10,
        0,
        help="UTC day; day>=2026-11-01 filters",
        export=lambda row, _now: row.row.date,
        kind="moment",
    ),
    text_column("model", "Model", lambda row: row.row.model, 28, 1, help="model identifier"),
    text_column("provider", "Provider", lambda row: row.row.provider_name, 14, 3, help="provider"),
    text_column("workspace", "Workspace", lambda row: row.workspace_name, 16, 4, help="workspace"),
    usd_column("spend", "Spend", lambda row: row.row.usage, 10, 1, "spent credits, USD"),
    _count("requests", "Requests", 2, lambda row: row.requests, "requests"),
    usd_column(
        "byok", "BYOK", lambda row: row.row.byok_usage_inference, 10, 5, "cost on own keys, USD"
    ),
    _count("prompt", "In", 6, lambda row: row.prompt_tokens, "prompt tokens"),
    _count("completion", "Out", 7, lambda row: row.completion_tokens, "completion tokens"),
    _count("reasoning", "Reason", 8, lambda row: row.reasoning_tokens, "reasoning tokens"),
    _count("cached", "Cached", 9, lambda row: row.cached_tokens, "cached prompt tokens"),
    text_column("endpoint", "Endpoint", lambda row: row.row.endpoint_id, 36, 10, help="endpoint"),
)


def _rows(row: DayRow, now: datetime) -> Sequence[DetailRow]:
    return [DetailRow(column.title, column.cell(row, now)) for column in COLUMNS]


ACTIVITY_DAYS: ResourceSpec[DayRow] = ResourceSpec(
    id="activity",
    title="Activity",
    singular="row",
    identity=lambda row: row.identity,
    name=lambda row: f"{cells.text(row.row.date).text} {cells.text(row.row.model).text}",
    columns=COLUMNS,
    sections=(Section("Activity", _rows), *drift_sections(lambda row: row.row)),
    feed=days_feed,
    raw=lambda row: row.row.raw,
    empty="Nothing was used in the last 30 completed days.",
    scoped=True,
    default_sort=("day", False),
)
