"""API keys: contract "API key", extended contract section 1."""

from __future__ import annotations

from datetime import datetime

from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import figure_column, moment_column, text_column, usd_column
from gwtui.ui.resources.key_binding import binding_of, own_cell, own_name
from gwtui.ui.resources.key_detail import SECTIONS
from gwtui.ui.resources.key_row import (
    NEVER,
    left_tone,
    limit_cell,
    no_reset_cell,
    reset_cell,
    state_cell,
    state_of,
    used_cell,
)
from gwtui.ui.resources.spec import (
    Cell,
    Column,
    Completion,
    ResourceSpec,
    SortValue,
    Tone,
)
from gwtui.watch.feeds.guardrails import Bindings, bindings_feed
from gwtui.watch.feeds.keys import KeyRow, fetch_keys, keys_feed

__all__ = ["COLUMNS", "KEYS", "KeyRow", "fetch_keys", "keys_feed"]

_SEVERITY: dict[Tone, int] = {"bad": 0, "warn": 1, "good": 2, "accent": 2, "plain": 2, "muted": 3}


def _bind(row: KeyRow, bindings: Bindings) -> KeyRow:
    workspace = row.key.workspace_id or (row.workspace.id if row.workspace else None)
    return KeyRow(row.key, row.workspace, binding_of(row.key.hash, workspace, bindings))


def _state_rank(row: KeyRow, now: datetime) -> SortValue:
    state = state_of(row, now)
    return f"{_SEVERITY.get(state.tone, 2)} {state.word}"


def _expires(row: KeyRow, now: datetime) -> Cell:
    key = row.key
    if key.expires_at is None:
        return NEVER if cells.said_null(key, "expires_at") else cells.NOTHING
    state = state_of(row, now)
    if key.expires_at <= now:
        return cells.ago(key.expires_at, now)
    soon = state.tone == "warn" and "expir" in state.word
    return Cell(cells.ago(key.expires_at, now).text, "warn" if soon else "plain")


def _last_used(row: KeyRow, now: datetime) -> Cell:
    missing = NEVER if cells.said_null(row.key, "last_used_at") else cells.NOTHING
    return cells.ago(row.key.last_used_at, now, missing)


COLUMNS: tuple[Column[KeyRow], ...] = (
    text_column("name", "Name", lambda row: row.key.name, 18, 0, help="display name of the key"),
    Column("state", "State", state_cell, _state_rank, 13, 1, help="worst first when sorted"),
    figure_column(
        "used",
        "Used",
        lambda row: cells.in_percent(row.used_share),
        6,
        2,
        show=used_cell,
        help="share of the limit that is used, in percent: used>80 filters",
    ),
    figure_column(
        "limit",
        "Limit",
        lambda row: row.key.limit,
        9,
        3,
        show=limit_cell,
        help="spending limit in USD",
    ),
    usd_column("today", "Today", lambda row: row.key.usage_daily, 9, 4, "usage this UTC day"),
    Column(
        "expires",
        "Expires",
        _expires,
        lambda row, _now: row.key.expires_at,
        11,
        5,
        help="when the key stops working",
        kind="moment",
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.workspace_name,
        16,
        6,
        help="workspace that the key belongs to",
    ),
    figure_column(
        "remaining",
        "Left",
        lambda row: row.key.limit_remaining,
        10,
        7,
        show=lambda row: cells.cents(row.key.limit_remaining, left_tone(row)),
        help="what is left of the limit, USD",
    ),
    text_column(
        "reset",
        "Reset",
        lambda row: row.key.limit_reset,
        8,
        8,
        help="when the limit starts over: 00:00 UTC daily, Mondays or on the first",
        missing=no_reset_cell,
    ),
    Column(
        "last_used",
        "Last used",
        _last_used,
        lambda row, _now: row.key.last_used_at,
        11,
        9,
        help="last request with the key",
        kind="moment",
    ),
    usd_column("month", "Month", lambda row: row.key.usage_monthly, 10, 10, "usage this UTC month"),
    usd_column(
        "week", "Week", lambda row: row.key.usage_weekly, 10, 11, "usage this UTC week, from Monday"
    ),
    usd_column("all", "All time", lambda row: row.key.usage, 11, 12, "usage since it was made"),
    usd_column(
        "byok",
        "BYOK month",
        lambda row: row.key.byok_usage_monthly,
        10,
        13,
        "BYOK usage this UTC month",
    ),
    moment_column("created", "Created", lambda row: row.key.created_at, 12, 14, "when it was made"),
    usd_column(
        "byok_all", "BYOK all", lambda row: row.key.byok_usage, 10, 15, "BYOK usage, all time"
    ),
    text_column("label", "Label", lambda row: row.key.label, 18, 16, help="masked form of the key"),
    text_column(
        "creator",
        "Creator",
        lambda row: row.key.creator_user_id,
        16,
        17,
        help="user id of the creator",
    ),
    text_column(
        "guardrail",
        "Guardrail",
        lambda row: None if row.binding is None else own_name(row.binding),
        18,
        18,
        help="guardrail that is assigned to the key",
        missing=lambda row: own_cell(row.binding),
    ),
)


KEYS: ResourceSpec[KeyRow] = ResourceSpec(
    id="keys",
    title="Keys",
    singular="key",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.key.name or row.key.label or row.key.hash).text,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=keys_feed,
    completion=Completion(
        lambda hub, _scope: bindings_feed(hub), _bind, columns=frozenset({"guardrail"})
    ),
    raw=lambda row: row.key.raw,
    empty="No keys in this scope yet: press n to create one.",
    scoped=True,
    default_sort=("name", False),
    facets={
        "state": lambda row, now: state_of(row, now).word,
        "workspace": lambda row, _now: row.workspace_name or "",
        "reset": lambda row, _now: reset_cell(row).text,
    },
)
