"""API keys: contract "API key", extended contract section 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.workspaces import Workspace
from gwtui.domain import money
from gwtui.domain.key_state import NEAR_LIMIT, KeyState, key_state
from gwtui.domain.resets import describe_reset
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import figure_column, moment_column, text_column, usd_column
from gwtui.ui.resources.fetching import fetch_each
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.spec import (
    Cell,
    Column,
    DetailRow,
    DetailTable,
    ResourceSpec,
    Scope,
    Section,
    SortValue,
    Tone,
)
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

_SEVERITY: dict[Tone, int] = {"bad": 0, "warn": 1, "good": 2, "accent": 2, "plain": 2, "muted": 3}
_NO_LIMIT = Cell("no limit", "muted")
_NEVER = Cell("never", "muted")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key and the workspace it was listed in; None when that workspace is not known."""

    key: ApiKey
    workspace: Workspace | None = None

    @property
    def identity(self) -> str:
        """The hash; for a key that came without one, what else tells it from others."""
        key = self.key
        return key.hash or f"?{key.label}|{key.name}|{key.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The workspace by name, else by the best identifier there is."""
        if self.workspace is None:
            return self.key.workspace_id
        return self.workspace.name or self.workspace.slug or self.workspace.id

    @property
    def used_share(self) -> Decimal | None:
        """Share of the limit that is used, 0..1 and above."""
        return limit_used_share(self.key.limit, self.key.limit_remaining)


async def fetch_keys(client: GatewayClient, workspace: str | None) -> Sequence[KeyRow]:
    """The keys of one workspace, or of every one; disabled and expired ones included.

    Raises GatewayError: a list that lacks a workspace's keys is never given out as whole.
    """
    listed = (await client.workspaces.list()).items
    known = {space.id: space for space in listed if space.id is not None}
    wanted: Sequence[str | None] = [workspace] if workspace is not None else list(known) or [None]

    async def of_workspace(workspace_id: str | None) -> tuple[ApiKey, ...]:
        try:
            return (await client.keys.list(workspace_id=workspace_id)).items
        except NotFoundError:
            if workspace is None and workspace_id is not None:
                return ()  # deleted since the workspaces were listed
            raise

    rows: dict[str, KeyRow] = {}
    for workspace_id, keys in zip(wanted, await fetch_each(wanted, of_workspace), strict=True):
        for key in keys:
            row = KeyRow(key, known.get(key.workspace_id or workspace_id or ""))
            rows.setdefault(row.identity, row)
    return tuple(rows.values())


def keys_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[KeyRow]]:
    """The keys feed of a scope: "keys" for all workspaces, "keys:ID" for one."""
    workspace = scope.workspace
    name = "keys" if workspace is None else f"keys:{workspace}"
    return hub.feed(name, lambda client: fetch_keys(client, workspace), cadence.KEYS)


def state_of(row: KeyRow, now: datetime) -> KeyState:
    """The state word of a row's key."""
    return key_state(row.key, now)


def _state(row: KeyRow, now: datetime) -> Cell:
    state = state_of(row, now)
    return Cell(state.word, state.tone)


def _state_rank(row: KeyRow, now: datetime) -> SortValue:
    state = state_of(row, now)
    return f"{_SEVERITY.get(state.tone, 2)} {state.word}"


def _limit(row: KeyRow) -> Cell:
    if cells.said_null(row.key, "limit"):
        return _NO_LIMIT
    return cells.usd(row.key.limit)


def _used(row: KeyRow) -> Cell:
    part = row.used_share
    return cells.NOTHING if part is None else cells.share(part, _used_tone(part))


def _used_tone(part: Decimal) -> Tone:
    if part >= 1:
        return "bad"
    return "warn" if part >= NEAR_LIMIT else "plain"


def _no_reset(row: KeyRow) -> Cell:
    sent_null = cells.said_null(row.key, "limit_reset")
    return _NEVER if sent_null and row.key.limit is not None else cells.NOTHING


def _reset(row: KeyRow) -> Cell:
    return cells.text(row.key.limit_reset) if row.key.limit_reset else _no_reset(row)


def _expires(row: KeyRow, now: datetime) -> Cell:
    key = row.key
    if key.expires_at is None:
        return _NEVER if cells.said_null(key, "expires_at") else cells.NOTHING
    state = state_of(row, now)
    if key.expires_at <= now:
        return cells.ago(key.expires_at, now)
    soon = state.tone == "warn" and "expir" in state.word
    return Cell(cells.ago(key.expires_at, now).text, "warn" if soon else "plain")


def _last_used(row: KeyRow, now: datetime) -> Cell:
    missing = _NEVER if cells.said_null(row.key, "last_used_at") else cells.NOTHING
    return cells.ago(row.key.last_used_at, now, missing)


def _left_tone(row: KeyRow) -> Tone:
    left = row.key.limit_remaining
    return "bad" if left is not None and left <= 0 else "plain"


COLUMNS: tuple[Column[KeyRow], ...] = (
    text_column("name", "Name", lambda row: row.key.name, 18, 0, help="display name of the key"),
    Column("state", "State", _state, _state_rank, 13, 1, help="worst first when sorted"),
    figure_column(
        "used",
        "Used",
        lambda row: cells.in_percent(row.used_share),
        6,
        2,
        show=_used,
        help="share of the limit that is used, in percent: used>80 filters",
    ),
    figure_column(
        "limit",
        "Limit",
        lambda row: row.key.limit,
        9,
        3,
        show=_limit,
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
        show=lambda row: cells.cents(row.key.limit_remaining, _left_tone(row)),
        help="what is left of the limit, USD",
    ),
    text_column(
        "reset",
        "Reset",
        lambda row: row.key.limit_reset,
        8,
        8,
        help="when the limit starts over: 00:00 UTC daily, Mondays or on the first",
        missing=_no_reset,
    ),
    Column(
        "last_used",
        "Last used",
        _last_used,
        lambda row, _now: row.key.last_used_at,
        11,
        9,
        help="last request with the key",
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
)


def _identity_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    key = row.key
    return [
        DetailRow("name", cells.text(key.name)),
        DetailRow("state", _state(row, now), state_of(row, now).why),
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
    rows = [DetailRow("limit", _limit(row))]
    part = row.used_share
    if part is not None and key.limit is not None:
        tone = _used_tone(part)
        rows += [
            DetailRow("used", Cell(f"{cells.bar(part)} {money.percent(part)}", tone)),
            DetailRow("", Cell(_limit_sentence(key, part, now), tone)),
            DetailRow("left", cells.usd(key.limit_remaining, _left_tone(row)), _overdrawn(key)),
        ]
    elif key.limit is not None:
        rows.append(DetailRow("left", cells.usd(key.limit_remaining)))
    rows += [
        DetailRow("reset", _reset(row)),
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
        return _NEVER if cells.said_null(key, name) else cells.NOTHING

    return [
        cells.moment_row("created", key.created_at, now),
        cells.moment_row("changed", key.updated_at, now, null_is_never("updated_at")),
        cells.moment_row("last used", key.last_used_at, now, null_is_never("last_used_at")),
        cells.moment_row("expires", key.expires_at, now, null_is_never("expires_at")),
    ]


KEYS: ResourceSpec[KeyRow] = ResourceSpec(
    id="keys",
    title="Keys",
    singular="key",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.key.name or row.key.label or row.key.hash).text,
    columns=COLUMNS,
    sections=(
        Section("Identity", _identity_rows),
        Section("Limit", _limit_rows),
        Section("Usage", _usage_table),
        Section("Lifecycle", _lifecycle_rows),
        *honesty_sections(lambda row: row.key),
    ),
    feed=keys_feed,
    raw=lambda row: row.key.raw,
    empty="No keys in this scope yet: press n to create one.",
    scoped=True,
    default_sort=("name", False),
    facets={
        "state": lambda row, now: state_of(row, now).word,
        "workspace": lambda row, _now: row.workspace_name or "",
        "reset": lambda row, _now: _reset(row).text,
    },
)
