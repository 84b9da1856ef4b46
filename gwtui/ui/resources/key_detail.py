"""The detail pane of an API key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.contract.keys import ApiKey
from gwtui.domain import money
from gwtui.domain.resets import describe_reset
from gwtui.ui.resources import cells
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.key_binding import binding_rows
from gwtui.ui.resources.key_row import (
    NEVER,
    left_tone,
    limit_cell,
    reset_cell,
    state_cell,
    state_of,
    used_tone,
)
from gwtui.ui.resources.spec import Cell, DetailRow, DetailTable, Section
from gwtui.watch.feeds.keys import KeyRow


def _identity_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    key = row.key
    return [
        DetailRow("name", cells.text(key.name)),
        DetailRow("state", state_cell(row, now), state_of(row, now).why),
        DetailRow(
            "workspace",
            cells.text(row.workspace_name),
            cells.text(key.workspace_id).text if row.workspace else "",
        ),
        DetailRow("label", cells.text(key.label), "masked form of the key"),
        DetailRow("hash", cells.text(key.hash)),
        DetailRow("creator", cells.text(key.creator_user_id)),
        DetailRow("external user", cells.text(key.external_user)),
    ]


def _limit_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    key = row.key
    rows = [DetailRow("limit", limit_cell(row))]
    part = row.used_share
    if part is not None and key.limit is not None:
        tone = used_tone(part)
        rows += [
            DetailRow("used", Cell(f"{cells.bar(part)} {money.percent(part)}", tone)),
            DetailRow("", Cell(_limit_sentence(key, part, now), tone)),
            DetailRow("left", cells.usd(key.limit_remaining, left_tone(row)), _overdrawn(key)),
        ]
    elif key.limit is not None:
        rows.append(DetailRow("left", cells.usd(key.limit_remaining)))
    rows += [
        DetailRow("reset", reset_cell(row)),
        DetailRow("BYOK counts", cells.yes_no(key.include_byok_in_limit), "against the limit"),
    ]
    return rows


def _limit_sentence(key: ApiKey, part: Decimal, now: datetime) -> str:
    used = f"used {money.percent(part)} of {money.usd(key.limit)}"
    if key.limit_reset is None:
        return f"{used}, never resets" if cells.said_null(key, "limit_reset") else used
    return f"{used}, resets {describe_reset(key.limit_reset, now)}"


def _overdrawn(key: ApiKey) -> str:
    left = key.limit_remaining
    return f"overdrawn by {money.usd(-left)}" if left is not None and left < 0 else ""


def _usage_table(row: KeyRow, _now: datetime) -> Sequence[DetailTable]:
    key = row.key
    return [
        DetailTable(
            ("USD", "usage", "BYOK"),
            tuple(
                (Cell(label, "muted"), cells.usd(own), cells.usd(byok))
                for label, own, byok in (
                    ("today (UTC)", key.usage_daily, key.byok_usage_daily),
                    ("this week", key.usage_weekly, key.byok_usage_weekly),
                    ("this month", key.usage_monthly, key.byok_usage_monthly),
                    ("all time", key.usage, key.byok_usage),
                )
            ),
        )
    ]


def _lifecycle_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    key = row.key

    def null_is_never(name: str) -> Cell:
        return NEVER if cells.said_null(key, name) else cells.NOTHING

    return [
        cells.moment_row("created", key.created_at, now),
        cells.moment_row("changed", key.updated_at, now, null_is_never("updated_at")),
        cells.moment_row("last used", key.last_used_at, now, null_is_never("last_used_at")),
        cells.moment_row("expires", key.expires_at, now, null_is_never("expires_at")),
    ]


SECTIONS: tuple[Section[KeyRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Limit", _limit_rows),
    Section("Usage", _usage_table),
    Section("Guardrails", lambda row, now: binding_rows(row.binding, now)),
    Section("Lifecycle", _lifecycle_rows),
    *honesty_sections(lambda row: row.key),
)
