"""API keys. See "API key" in the contract and section 1 of the extended contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.crud import cells
from gwtui.crud.cells import figure_column, moment_column, text_column, usd_column, verdict_column
from gwtui.crud.resource import (
    Cell,
    Column,
    Completion,
    DetailRow,
    DetailTable,
    ReadBy,
    ResourceSpec,
    Section,
)
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import money, times
from gwtui.domain.cell_values import Verdict
from gwtui.domain.keys import key_state
from gwtui.domain.times import next_reset
from gwtui.watch.feeds.keys import KeyBinding, KeyRow, keys_feed

if TYPE_CHECKING:
    from gwtui.contract.keys import ApiKey, CurrentKey
    from gwtui.crud.writes import Writes
    from gwtui.watch.feed import Feed
    from gwtui.watch.feeds.guardrails import Bindings
    from gwtui.watch.hub import FeedHub, Scope

_BAR = 16
"""Width of the bar in cells, so that bar and percentage fit into a pane of 38 cells."""


def state_of(row: KeyRow, now: datetime) -> Verdict:
    """Return the state of a key, such as "expired"."""
    return key_state(row.key, now)


def state_cell(row: KeyRow, now: datetime) -> Cell:
    """The state of a key as a coloured word."""
    return cells.judged(state_of(row, now))


def limit_cell(row: KeyRow) -> Cell:
    """The spending limit: "no limit" for null, unknown if missing."""
    limit = row.key.limit
    return cells.missing(row.key, "limit", "no limit") if limit is None else cells.usd(limit)


def used_cell(row: KeyRow) -> Cell:
    """The used share of the limit."""
    part = row.used_share
    return cells.NOTHING if part is None else cells.share(part, cells.share_tone(part))


def no_reset_cell(row: KeyRow) -> Cell:
    """The reset cell without a schedule: "never" if there is a limit, else empty."""
    return cells.NOTHING if row.key.limit is None else cells.missing(row.key, "limit_reset")


def reset_cell(row: KeyRow) -> Cell:
    """The reset schedule of the limit; an unknown schedule is displayed unchanged."""
    return cells.text(row.key.limit_reset) if row.key.limit_reset else no_reset_cell(row)


def _bindings(hub: FeedHub, _scope: Scope) -> Feed[Bindings]:
    from gwtui.watch.feeds.guardrails import bindings_feed  # noqa: PLC0415 - after the first rows

    return bindings_feed(hub)


def binding_of(key_hash: str | None, workspace_id: str | None, bindings: Bindings) -> KeyBinding:
    """Return the guardrails that apply to a key, from the assignments of the whole account."""
    rows = bindings.guardrails or {}
    own_id = bindings.by_key.get(key_hash or "")
    return KeyBinding(
        own_id,
        rows.get(own_id or ""),
        bindings.default_of(workspace_id),
        known=bindings.keys is not None,
    )


def assigned_name(binding: KeyBinding) -> str | None:
    """Return the name of the guardrail assigned to the key itself, or its id if unnamed.

    None if there is none or if it is unknown.
    """
    return binding.own_id if binding.own is None else binding.own.display_name


def assigned_cell(binding: KeyBinding | None) -> Cell:
    """The guardrail that is assigned to the key itself."""
    if binding is None:
        return cells.READING
    if not binding.known:
        return cells.NOTHING
    return Cell("none", "muted") if binding.own_id is None else cells.text(assigned_name(binding))


def binding_rows(binding: KeyBinding | None, _now: datetime) -> Sequence[DetailRow]:
    """Return the detail rows on the guardrails of a key."""
    assigned, default = DetailRow("assigned", assigned_cell(binding)), _default_row(binding)
    if binding is None or not binding.known or binding.target is None:
        return [assigned, default, cells.hint("")]
    return [assigned, default, cells.hint("press {keys.guardrail} to open it")]


def _default_row(binding: KeyBinding | None) -> DetailRow:
    value, note = cells.READING, "workspace default"
    if binding is not None:
        default = binding.default
        if default is None:
            value = cells.NOTHING
        elif default.exists:
            value = cells.text(default.display_name)
        else:
            value, note = Cell("none", "muted"), "the workspace default is not set up"
    return DetailRow("default", value, note)


def _identity_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    key = row.key
    return [
        DetailRow("name", cells.text(key.name)),
        DetailRow("state", state_cell(row, now), state_of(row, now).why),
        DetailRow("workspace", cells.text(row.workspace_name)),
        DetailRow("workspace id", cells.text(key.workspace_id)),
        DetailRow("masked key", cells.text(key.label)),
        DetailRow("id (hash)", cells.text(key.hash)),
        DetailRow("creator", cells.text(key.creator_user_id)),
        DetailRow("external user", cells.text(key.external_user)),
    ]


def _limit_rows(row: KeyRow, now: datetime) -> Sequence[DetailRow]:
    # Every key gets the same rows, so that the rows below keep their position.
    key = row.key
    left = key.limit_remaining
    overdrawn = "overdrawn" if left is not None and left < 0 else ""
    return [
        DetailRow("limit", limit_cell(row)),
        DetailRow("used", _drawn_share(row)),
        DetailRow("remaining", cells.usd(left, cells.left_tone(left)), overdrawn),
        DetailRow("BYOK in limit", cells.yes_no(key.include_byok_in_limit)),
        *_reset_rows(row, now),
    ]


def _drawn_share(row: KeyRow) -> Cell:
    part = row.used_share
    if part is None:
        return cells.NOTHING
    return Cell(f"{cells.bar(part, _BAR)} {money.percent(part)}", cells.share_tone(part))


def _reset_rows(row: KeyRow, now: datetime) -> Iterator[DetailRow]:
    moment = next_reset(row.key.limit_reset, now)
    wait = "" if moment is None else f", {times.relative(moment, now)}"
    yield DetailRow("reset", Cell(f"{reset_cell(row).text}{wait}", reset_cell(row).tone))
    yield DetailRow("next reset", cells.NOTHING if moment is None else Cell(times.utc(moment)))


def usage_table(key: ApiKey | CurrentKey) -> DetailTable:
    """Return a table of spending by period: in credits and on BYOK credentials."""
    return DetailTable(
        ("USD", "credits", "BYOK"),
        tuple(
            (Cell(label, "muted"), cells.usd(credits), cells.usd(byok))
            for label, credits, byok in (
                ("today (UTC)", key.usage_daily, key.byok_usage_daily),
                ("this week", key.usage_weekly, key.byok_usage_weekly),
                ("this month", key.usage_monthly, key.byok_usage_monthly),
                ("all time", key.usage, key.byok_usage),
            )
        ),
    )


SECTIONS: tuple[Section[KeyRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Limit", _limit_rows),
    Section("Usage", lambda row, _now: [usage_table(row.key)]),
    Section("Guardrails", lambda row, now: binding_rows(row.binding, now)),
    Section(
        "Lifecycle",
        lambda row, now: [
            cells.moment_row("created", row.key.created_at, now),
            cells.moment_or_never("changed", row.key, "updated_at", now),
            cells.moment_or_never("last used", row.key, "last_used_at", now),
            cells.moment_or_never("expires", row.key, "expires_at", now),
        ],
    ),
    *drift_sections(lambda row: row.key),
)


def _bind(row: KeyRow, bindings: Bindings) -> KeyRow:
    workspace = row.key.workspace_id or (row.workspace.id if row.workspace else None)
    return KeyRow(row.key, row.workspace, binding_of(row.key.hash, workspace, bindings))


def _expires(row: KeyRow, now: datetime) -> Cell:
    key = row.key
    if key.expires_at is None:
        return cells.missing(key, "expires_at")
    state = state_of(row, now)
    if key.expires_at <= now:
        return cells.ago(key.expires_at, now)
    soon = state.tone == "warn" and "expir" in state.word
    return Cell(cells.ago(key.expires_at, now).text, "warn" if soon else "plain")


def _last_used(row: KeyRow, now: datetime) -> Cell:
    return cells.ago(row.key.last_used_at, now, cells.missing(row.key, "last_used_at"))


COLUMNS: tuple[Column[KeyRow], ...] = (
    text_column(
        "name", "Name", lambda row: row.key.name, 18, help="display name of the key", grow=True
    ),
    verdict_column("state", "State", state_of, 13, "key state; sorts worst first"),
    figure_column(
        "used",
        "Used",
        lambda row: cells.in_percent(row.used_share),
        6,
        show=used_cell,
        help="percent of the limit that is used",
    ),
    figure_column(
        "limit",
        "Limit",
        lambda row: row.key.limit,
        9,
        show=limit_cell,
        help="spending limit in USD",
    ),
    usd_column("today", "Today", lambda row: row.key.usage_daily, 9, "usage this UTC day"),
    Column(
        "expires",
        "Expires",
        _expires,
        lambda row, _now: row.key.expires_at,
        11,
        help="when the key stops working",
        kind="moment",
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.workspace_name,
        16,
        help="workspace that the key belongs to",
        most=32,
    ),
    figure_column(
        "remaining",
        "Remaining",
        lambda row: row.key.limit_remaining,
        10,
        show=lambda row: cells.cents(
            row.key.limit_remaining, cells.left_tone(row.key.limit_remaining)
        ),
        help="remaining limit in USD",
    ),
    text_column(
        "reset",
        "Reset",
        lambda row: row.key.limit_reset,
        8,
        help="reset schedule: daily, weekly (Monday) or monthly (1st), 00:00 UTC",
        missing=no_reset_cell,
    ),
    Column(
        "last_used",
        "Last used",
        _last_used,
        lambda row, _now: row.key.last_used_at,
        11,
        help="last request with the key",
        kind="moment",
    ),
    usd_column("month", "Month", lambda row: row.key.usage_monthly, 10, "usage this UTC month"),
    usd_column(
        "week", "Week", lambda row: row.key.usage_weekly, 10, "usage this UTC week, from Monday"
    ),
    usd_column("all", "All time", lambda row: row.key.usage, 11, "usage since creation"),
    usd_column(
        "byok",
        "BYOK month",
        lambda row: row.key.byok_usage_monthly,
        10,
        "BYOK usage this UTC month",
    ),
    moment_column("created", "Created", lambda row: row.key.created_at, 12, "creation time"),
    usd_column("byok_all", "BYOK all", lambda row: row.key.byok_usage, 10, "BYOK usage, all time"),
    text_column(
        "label", "Masked key", lambda row: row.key.label, 18, help="first and last characters"
    ),
    text_column(
        "creator",
        "Creator",
        lambda row: row.key.creator_user_id,
        16,
        help="user id of the creator",
    ),
    text_column(
        "guardrail",
        "Guardrail",
        lambda row: None if row.binding is None else assigned_name(row.binding),
        18,
        help="guardrail that is assigned to the key",
        missing=lambda row: assigned_cell(row.binding),
    ),
)


def _writes() -> Writes[ApiKey]:
    from gwtui.resources.keys.writes import WRITES  # noqa: PLC0415 - not before the first rows

    return WRITES


KEYS: ResourceSpec[KeyRow] = ResourceSpec(
    id="keys",
    title="Keys",
    singular="key",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.key.name or row.key.label or row.key.hash).text,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=keys_feed,
    writes=_writes,
    completion=Completion(_bindings, _bind, columns=frozenset({"guardrail"})),
    raw=lambda row: row.key.raw,
    read_by=lambda row: ReadBy("keys.get", (row.identity,)),
    empty="No API keys yet: press {keys.create} to create one.",
    scoped=True,
    default_sort=("name", False),
    facets={
        "state": lambda row, now: state_of(row, now).word,
        "workspace": lambda row, _now: row.workspace_name or "",
        "reset": lambda row, _now: reset_cell(row).text,
    },
)
