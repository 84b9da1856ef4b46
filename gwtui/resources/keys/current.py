"""The key that the dashboard uses, from GET /key. See section 1 of the extended contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from gwtui.contract.keys import BudgetLayer, CurrentKey, limit_used_share
from gwtui.crud import cells
from gwtui.crud.cells import flag_column, moment_column, text_column, usd_column
from gwtui.crud.resource import (
    Cell,
    Column,
    DetailRow,
    DetailTable,
    ReadBy,
    ResourceSpec,
    Section,
)
from gwtui.crud.schema_drift import own_drift_sections
from gwtui.domain import money
from gwtui.domain.times import describe_reset
from gwtui.resources.keys.resource import usage_table
from gwtui.watch.feeds.keys import KeyRights, current_key_rows_feed

_SCOPES: Mapping[str, str] = {
    "workspace_default_member": "workspace, per member",
    "workspace_default_key": "workspace, per key",
    "member": "guardrail of the member",
    "api_key": "guardrail of the key",
    "workspace": "workspace",
    "key_limit": "limit of the key",
}


def key_rights_section(rights: KeyRights | None) -> Section[CurrentKey]:
    """Return a section on the models that the key may use."""
    return Section("Catalog", lambda _current, _now: [_reach_row(rights)])


def _reach_row(rights: KeyRights | None) -> DetailRow:
    if rights is None:
        return DetailRow("models", Cell("…", "muted"))
    if rights.models is None:
        return DetailRow("models", cells.NOTHING, "could not be read")
    total = "" if rights.of is None else f" of {cells.count(rights.of).text}"
    some = rights.of is not None and rights.models < rights.of
    left = Cell(f"{cells.count(rights.models).text}{total}", "warn" if some else "plain")
    return DetailRow("models", left, "are visible to this key; {key.models} lists them")


def shown_name(current: CurrentKey) -> str:
    """Return the masked key."""
    return f"Key in use {cells.text(current.label).text}" if current.label else "Key in use"


def _rights_rows(current: CurrentKey, _now: datetime) -> Sequence[DetailRow]:
    manages = current.is_management_key
    if manages is None:
        offers = Cell("the gateway did not say; refusals are shown as they occur", "warn")
    elif manages:
        offers = Cell("reading and changing, in every workspace", "good")
    else:
        offers = Cell("catalog, generations, this page; all else needs a management key", "warn")
    free = current.free_model_daily_requests
    regions = current.allowed_data_regions
    return [
        DetailRow("management key", cells.yes_no(manages)),
        DetailRow("allows", offers),
        DetailRow("free tier", cells.yes_no(current.is_free_tier), _bought(current)),
        DetailRow(
            "free requests",
            cells.NOTHING
            if free is None
            else Cell(
                f"{cells.count(free.used).text} of {cells.count(free.limit).text} used, "
                f"{cells.count(free.remaining).text} left"
            ),
            "today, free model variants",
        ),
        DetailRow("data regions", cells.names(regions), "where data may go"),
    ]


def _bought(current: CurrentKey) -> str:
    if current.is_free_tier is None:
        return ""
    return (
        "the account has not purchased credits"
        if current.is_free_tier
        else "the account has purchased credits"
    )


def _limit_rows(current: CurrentKey, now: datetime) -> Sequence[DetailRow]:
    limit, no_limit = current.limit, cells.missing(current, "limit", "no limit")
    rows = [DetailRow("limit", no_limit if limit is None else cells.usd(limit))]
    part = limit_used_share(current.limit, current.limit_remaining)
    if part is not None:
        rows += [
            DetailRow(
                "used", Cell(f"{cells.bar(part)} {money.percent(part)}", cells.share_tone(part))
            ),
            DetailRow(
                "remaining",
                cells.usd(current.limit_remaining, cells.left_tone(current.limit_remaining)),
            ),
        ]
    reset = current.limit_reset
    schedule = describe_reset(reset, now) if reset else None
    never = cells.missing(current, "limit_reset")
    return [
        *rows,
        DetailRow("reset", cells.text(schedule) if schedule else never),
        DetailRow("BYOK in limit", cells.yes_no(current.include_byok_in_limit)),
        cells.moment_or_never("key expires", current, "expires_at", now),
    ]


def _effective_rows(current: CurrentKey, now: datetime) -> Sequence[DetailRow]:
    layer = current.effective_budget
    if layer is None:
        words = cells.missing(current, "effective_budget", "none applies to this key")
        return [DetailRow("budget", words)]
    tone = cells.left_tone(layer.remaining_usd)
    return [
        DetailRow("budget", _scope(layer), "the first exhausted one, else the tightest"),
        DetailRow("limit", cells.usd(layer.limit_usd)),
        DetailRow("spent", cells.usd(layer.spend_usd)),
        DetailRow(
            "remaining",
            cells.usd(layer.remaining_usd, tone),
            "requests are refused (403)" if tone == "bad" else "",
        ),
        cells.moment_or_never("resets", layer, "resets_at", now),
        DetailRow("BYOK in budget", cells.yes_no(layer.include_byok)),
    ]


def _scope(layer: BudgetLayer) -> Cell:
    known = _SCOPES.get(layer.scope or "")
    return Cell(known) if known else cells.text(layer.scope)


def _budget_table(current: CurrentKey, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    if not current.budgets:
        return [DetailRow("", cells.NOTHING)] if current.budgets is None else []
    return [
        DetailTable(
            ("budget", "limit", "spent", "left", "resets"),
            tuple(
                (
                    _scope(layer),
                    cells.usd(layer.limit_usd),
                    cells.usd(layer.spend_usd),
                    cells.usd(layer.remaining_usd, cells.left_tone(layer.remaining_usd)),
                    cells.text(layer.reset_interval or cells.missing(layer, "resets_at").text),
                )
                for layer in current.budgets
            ),
        )
    ]


def _identity_rows(current: CurrentKey, _now: datetime) -> Sequence[DetailRow]:
    legacy = current.rate_limit
    return [
        DetailRow("masked key", cells.text(current.label)),
        DetailRow("creator", cells.text(current.creator_user_id)),
        DetailRow("organization", cells.text(current.organization_id)),
        DetailRow("workspace", cells.text(current.workspace_id)),
        DetailRow(
            "provisioning key",
            cells.yes_no(current.is_provisioning_key),
            "older name of the management key",
        ),
        DetailRow(
            "rate limit",
            cells.NOTHING
            if legacy is None
            else Cell(f"{cells.text(legacy.requests).text} in {cells.text(legacy.interval).text}"),
            cells.text(legacy.note).text if legacy is not None and legacy.note else "legacy",
        ),
    ]


SECTIONS: tuple[Section[CurrentKey], ...] = (
    Section("Rights", _rights_rows),
    Section("Limit", _limit_rows),
    Section("Effective budget", _effective_rows),
    Section("All budgets that apply", _budget_table),
    Section("Usage", lambda current, _now: [usage_table(current)]),
    Section("Identity", _identity_rows),
    *own_drift_sections(CurrentKey),
)


COLUMNS: tuple[Column[CurrentKey], ...] = (
    text_column(
        "label",
        "Masked key",
        lambda key: key.label,
        18,
        help="first and last characters",
        grow=True,
    ),
    flag_column(
        "management",
        "Management",
        lambda key: key.is_management_key,
        10,
        "whether it is a management key",
    ),
    usd_column("limit", "Limit", lambda key: key.limit, 9, "spending limit in USD"),
    usd_column(
        "remaining",
        "Remaining",
        lambda key: key.limit_remaining,
        10,
        "remaining limit in USD",
    ),
    usd_column("all", "All time", lambda key: key.usage, 11, "usage since creation"),
    moment_column("expires", "Expires", lambda key: key.expires_at, 11, "when it stops working"),
    text_column(
        "workspace", "Workspace", lambda key: key.workspace_id, 36, help="workspace it is of"
    ),
)

THIS_KEY: ResourceSpec[CurrentKey] = ResourceSpec(
    id="key",
    title="Key in use",
    singular="key",
    identity=lambda key: key.label or "",
    has_id=False,
    name=shown_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=current_key_rows_feed,
    raw=lambda key: key.raw,
    read_by=lambda _key: ReadBy("keys.current"),
    empty="The gateway returned nothing about the key.",
    default_sort=("label", False),
)
