"""Columns, cells and detail sections of guardrails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from gwtui.contract.content_filters import BuiltinFilter, CustomFilter
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import ZDR_FIELDS, ZDR_XAI
from gwtui.crud import cells
from gwtui.crud.resource import Cell, DetailRow, DetailTable, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import money
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.guardrails import GuardrailRow

ALL = Cell("all", "muted")
NONE = Cell("none", "muted")
_NAME = 60
_FILTERS = ("content_filters", "content_filter_builtins")
_PERIODS = {"daily": "day", "weekly": "week", "monthly": "month"}


def display_name(row: GuardrailRow) -> str:
    """The display name; of a default guardrail its workspace, as its own name is an id."""
    if row.is_default:
        return f"{cells.text(row.workspace_name).text} default"
    return cells.text(row.guardrail.name or row.guardrail.id).text


def shown_name(row: GuardrailRow) -> str:
    """The guardrail in a sentence."""
    return f"“{display_name(row)[:_NAME]}”"


def entries_cell(row: GuardrailRow, allowed: str, ignored: str) -> Cell:
    """A pair of lists in a few cells: "all", "only 3", "all but 2", "only 3 less 1"."""
    guardrail = row.guardrail
    if _garbled(row, allowed, ignored):
        return cells.NOTHING
    only: list[str] | None = getattr(guardrail, allowed)
    never: list[str] = getattr(guardrail, ignored) or []
    if only is None:
        return Cell(f"all but {len(never)}") if never else ALL
    return Cell(f"only {len(only)}" + (f" less {len(never)}" if never else ""))


def _garbled(row: GuardrailRow, *lists: str) -> bool:
    """Whether one of these lists, or an entry in one, could not be read."""
    return any(gap.partition("[")[0] in lists for gap in row.guardrail.gaps)


def cap_cell(row: GuardrailRow) -> Cell:
    """The cap and its period: "$100.00/day"."""
    guardrail = row.guardrail
    if "limit_usd" in guardrail.gaps:
        return cells.NOTHING
    if guardrail.limit_usd is None:
        return NONE
    amount = money.usd(guardrail.limit_usd)
    interval = guardrail.reset_interval
    if not interval:
        return Cell(amount)
    return Cell(f"{amount}/{_PERIODS.get(interval) or cells.text(interval).text}")


def zdr_switches(row: GuardrailRow) -> Iterator[tuple[str, str, bool | None]]:
    """(field, vendors in words, value) of each switch that this service has."""
    guardrail = row.guardrail
    for field in ZDR_FIELDS:
        yield field, vendor_name(field, row.dialect), getattr(guardrail, field)
    if has_xai(row.dialect):
        yield ZDR_XAI, vendor_name(ZDR_XAI, row.dialect), guardrail.enforce_zdr_xai


def has_xai(dialect: Dialect) -> bool:
    """Whether the service has a switch for models of xAI."""
    return ZDR_XAI not in dialect.absent_fields.get("Guardrail", ())


def vendor_name(field: str, dialect: Dialect) -> str:
    """Whose models a switch is about."""
    if field == ZDR_XAI:
        return "xAI"
    if field == "enforce_zdr_other":
        return "all other vendors"
    return dialect.vendors[ZDR_FIELDS.index(field)]


def zdr_label(value: bool | None) -> Cell:
    """A switch in a word."""
    if value is None:
        return Cell("inherited", "muted")
    return Cell("enforced", "accent") if value else Cell("not enforced")


def zdr_cell(row: GuardrailRow) -> Cell:
    """The switches in a word: "all", "2 of 4", "off" or "inherited"."""
    switches = list(zdr_switches(row))
    if any(field in row.guardrail.gaps for field, _, _ in switches):
        return cells.NOTHING
    values = [value for _, _, value in switches]
    on = values.count(True)
    if on:
        return Cell("all" if on == len(values) else f"{on} of {len(values)}")
    return Cell("off", "muted") if False in values else Cell("inherited", "muted")


def filter_count(row: GuardrailRow) -> int | None:
    """The number of content filters; None if unreadable."""
    guardrail = row.guardrail
    if _garbled(row, *_FILTERS):
        return None
    return len(guardrail.content_filters or ()) + len(guardrail.content_filter_builtins or ())


def filters_cell(row: GuardrailRow) -> Cell:
    """The number of content filters."""
    count = filter_count(row)
    return cells.NOTHING if count is None else Cell(str(count)) if count else NONE


def count_of(rows: Sequence[object] | None) -> int | None:
    """The number of entries; None if unknown."""
    return None if rows is None else len(rows)


def binds_cell(row: GuardrailRow) -> Cell:
    """The keys and members that it applies to; without any it enforces nothing."""
    if row.is_default:
        return Cell("whole workspace") if row.exists else Cell("not created yet", "muted")
    if row.bound is None:
        return cells.READING
    keys, members = count_of(row.bound.keys), count_of(row.bound.members)
    if keys is None and members is None:
        return cells.NOTHING
    parts = [
        f"{count} {noun if count == 1 else noun + 's'}"
        for count, noun in ((keys, "key"), (members, "member"))
        if count
    ]
    if parts:
        return Cell(", ".join(parts))
    return Cell("nothing", "warn") if None not in (keys, members) else cells.NOTHING


_NEVER = Cell("never", "muted")
_NAMES = 8
"""Keys or members named before the rest is only counted."""
_SCOPES = {"user_only": "user messages only", "all_messages": "all messages"}


def _identity_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    guardrail = row.guardrail
    kind = []
    if row.is_default:
        note = "applies to all traffic of the workspace; its name is fixed"
        kind = [DetailRow("default", Cell("yes", "accent"), note)]
    return [
        DetailRow("name", cells.text(guardrail.name)),
        *kind,
        DetailRow("workspace", cells.text(row.workspace_name)),
        DetailRow("id", cells.text(guardrail.id)),
        DetailRow("description", cells.prose(guardrail.description)),
    ]


def _binding_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    if not row.exists:
        return [
            DetailRow("", binds_cell(row), "restricts nothing until the first edit"),
            cells.hint("{guardrails.edit} edits and creates it"),
        ]
    rows = [DetailRow("applies to", binds_cell(row), _how(row))]
    if row.bound is None:
        return rows if row.is_default else [DetailRow("applies to", cells.READING)]
    keys = [each.key_name or each.key_label or each.key_hash for each in row.bound.keys or ()]
    members = [each.user_id for each in row.bound.members or ()]
    return [
        *rows,
        DetailRow("keys", _names(None if row.bound.keys is None else keys)),
        DetailRow("members", _names(None if row.bound.members is None else members)),
    ]


def _how(row: GuardrailRow) -> str:
    if row.is_default:
        return "and what it is assigned to"
    return "enforces nothing until it is assigned" if binds_cell(row).tone == "warn" else ""


def _names(names: Sequence[str | None] | None) -> Cell:
    if names is None:
        return cells.NOTHING
    if not names:
        return NONE
    shown = ", ".join(safe_line(name or cells.DASH, 60) for name in names[:_NAMES])
    rest = len(names) - _NAMES
    return Cell(f"{shown} and {rest} more" if rest > 0 else shown)


def _routing_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    return [
        _entries(row, "models", "allowed_models", "every model"),
        _entries(row, "ignored models", "ignored_models", "none"),
        _entries(row, "providers", "allowed_providers", "every provider"),
        _entries(row, "ignored providers", "ignored_providers", "none"),
        cells.hint("{guardrails.remaining} shows which endpoints remain"),
    ]


def _entries(row: GuardrailRow, label: str, field: str, without: str) -> DetailRow:
    """The readable entries of a list, with a note if some are missing."""
    entries = getattr(row.guardrail, field)
    if not _garbled(row, field):
        return DetailRow(label, cells.names(entries, Cell(without, "muted")))
    if not entries:
        return DetailRow(label, cells.NOTHING)
    return DetailRow(label, cells.names(entries), "not every entry could be read")


def _cap_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    guardrail = row.guardrail
    byok = DetailRow("BYOK in cap", cells.yes_no(guardrail.include_byok_in_budgets))
    if guardrail.limit_usd is None:
        missing = cells.NOTHING if "limit_usd" in guardrail.gaps else Cell("no cap", "muted")
        return [DetailRow("cap", missing), byok]
    interval = guardrail.reset_interval
    return [
        DetailRow("cap", Cell(money.usd(guardrail.limit_usd)), "per key and per member"),
        DetailRow("resets", cells.text(interval) if interval else _NEVER),
        *([DetailRow("next reset", Cell(describe_reset(interval, now)))] if interval else []),
        byok,
    ]


def _retention_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    rows = []
    for field, vendor, value in zdr_switches(row):
        cell = cells.NOTHING if field in row.guardrail.gaps else zdr_label(value)
        rows.append(DetailRow(safe_line(vendor, 40), cell))
    deprecated = row.guardrail.enforce_zdr
    if deprecated is not None:
        rows.append(
            DetailRow("enforce_zdr", cells.yes_no(deprecated), "deprecated; never sent from here")
        )
    return rows


def _filter_parts(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    guardrail = row.guardrail
    builtins, custom = guardrail.content_filter_builtins, guardrail.content_filters
    parts: list[DetailRow | DetailTable] = []
    if builtins:
        lines = tuple(_builtin(each) for each in builtins)
        parts.append(DetailTable(("builtin", "does", "shown as"), lines))
    if custom:
        parts.append(
            DetailTable(("pattern", "does", "label"), tuple(_custom(one) for one in custom))
        )
    if _garbled(row, *_FILTERS):
        why = "not every filter could be read" if parts else ""
        parts.append(DetailRow("filters", cells.NOTHING, why))
    elif not parts:
        parts.append(DetailRow("filters", NONE))
    return parts


def _builtin(each: BuiltinFilter) -> tuple[Cell, ...]:
    shown = each.label or _SCOPES.get(each.scan_scope or "", each.scan_scope)
    return cells.text(each.slug), cells.text(each.action), cells.text(shown)


def _custom(each: CustomFilter) -> tuple[Cell, ...]:
    return Cell(safe_line(each.pattern, 40)), cells.text(each.action), cells.text(each.label)


_DATA_FIELDS = (
    ("enable_free_model_training", "free may train"),
    ("enable_free_model_publication", "free may publish"),
    ("enable_paid_model_training", "paid may train"),
    ("allow_safety_retention_google", "safety: Google"),
    ("allow_safety_retention_other", "safety: others"),
)


def _data_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    """Fields that only some services have."""
    guardrail, absent = row.guardrail, row.dialect.absent_fields.get("Guardrail", ())
    rows = [
        DetailRow(label, _permission(getattr(guardrail, field)))
        for field, label in _DATA_FIELDS
        if field not in absent and field not in guardrail.gaps
    ]
    if "allowed_data_regions" not in absent:
        rows.append(_entries(row, "regions", "allowed_data_regions", "everywhere"))
    return rows


def _permission(value: bool | None) -> Cell:
    """A permission in a word."""
    if value is None:
        return Cell("inherited", "muted")
    return Cell("allowed") if value else Cell("refused", "accent")


def _lifecycle_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    if not row.exists:
        return []
    missing = _NEVER if cells.is_null(row.guardrail, "updated_at") else cells.NOTHING
    return [
        cells.moment_row("created", row.guardrail.created_at, now),
        cells.moment_row("changed", row.guardrail.updated_at, now, missing),
    ]


def _when_made(section: Section[GuardrailRow]) -> Section[GuardrailRow]:
    """What an answer lacks; of one that is not made there was no answer."""
    return Section(section.title, lambda row, now: section.content(row, now) if row.exists else [])


_HONESTY: tuple[Section[GuardrailRow], ...] = drift_sections(lambda row: row.guardrail)

SECTIONS: tuple[Section[GuardrailRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Applies to", _binding_rows),
    Section("Routing", _routing_rows),
    Section("Spending cap", _cap_rows),
    Section("Zero data retention", _retention_rows),
    Section("Content filters", _filter_parts),
    Section("Data use", _data_rows),
    Section("Lifecycle", _lifecycle_rows),
    *(_when_made(section) for section in _HONESTY),
)
