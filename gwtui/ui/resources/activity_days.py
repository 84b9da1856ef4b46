"""Activity row by row, for commands: extended contract section 8. Amounts are USD.

The dashboard sums it up on a screen of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from gwtui.contract.activity import ActivityRow
from gwtui.domain.activity import day_of
from gwtui.ui.resources import cells
from gwtui.ui.resources.activity import fetch_activity
from gwtui.ui.resources.columns import count_column, text_column, usd_column
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.spec import Column, DetailRow, ResourceSpec, Scope, Section
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


@dataclass(frozen=True, slots=True)
class DayRow:
    """What one endpoint did on one UTC day, and what its workspace is called."""

    row: ActivityRow
    workspace_name: str | None = None

    @property
    def identity(self) -> str:
        """What tells it from others: the gateway gives these rows no identifier."""
        one = self.row
        parts = (one.date, one.model, one.endpoint_id or one.provider_name, one.workspace_id)
        return "|".join(part or "" for part in parts)

    @property
    def day(self) -> datetime | None:
        """The first moment of the day."""
        day = day_of(self.row)
        return None if day is None else datetime.combine(day, time(), UTC)


async def _fetch(client: GatewayClient, scope: Scope) -> Sequence[DayRow]:
    found = await fetch_activity(client, scope.workspace, scope.parent)
    return tuple(DayRow(row, found.workspaces.get(row.workspace_id or "")) for row in found.rows)


def _feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[DayRow]]:
    if scope.parent is not None:
        scope = Scope(parent=scope.parent)  # a key is in one workspace only
    name = f"activity:rows:{scope.workspace or ''}:{scope.parent or ''}"
    return hub.feed(name, lambda client: _fetch(client, scope), cadence.ACTIVITY)


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
    sections=(Section("Activity", _rows), *honesty_sections(lambda row: row.row)),
    feed=_feed,
    raw=lambda row: row.row.raw,
    empty="Nothing was used in the last 30 completed days.",
    scoped=True,
    default_sort=("day", False),
)
