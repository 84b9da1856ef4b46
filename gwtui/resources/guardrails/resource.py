"""Guardrails. See "Guardrail" in the contract and section 5 of the extended contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from gwtui.contract.content_filters import BuiltinFilter, CustomFilter
from gwtui.crud import cells
from gwtui.crud.cells import count_column, figure_column, moment_column, text_column, word_column
from gwtui.crud.fields import PlanContext
from gwtui.crud.resource import (
    Cell,
    Column,
    Completion,
    DetailRow,
    DetailTable,
    ReadBy,
    ResourceSpec,
    Section,
    SortValue,
)
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import money
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.fields import FIELDS, FILTERS, LISTS, fields_of, is_garbled
from gwtui.resources.guardrails.writes import WRITES
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed, guardrails_feed

ALL = Cell("all", "muted")
NONE = Cell("none", "muted")
_PERIODS = {"daily": "day", "weekly": "week", "monthly": "month"}


def entries_cell(row: GuardrailRow, allowed: str, ignored: str) -> Cell:
    """An allow list and an ignore list: "all", "only 3", "all but 2", "only 3 less 1"."""
    guardrail = row.guardrail
    if is_garbled(guardrail, allowed, ignored):
        return cells.NOTHING
    only: list[str] | None = getattr(guardrail, allowed)
    never: list[str] = getattr(guardrail, ignored) or []
    if only is None:
        return Cell(f"all but {len(never)}") if never else ALL
    return Cell(f"only {len(only)}" + (f" less {len(never)}" if never else ""))


def cap_cell(row: GuardrailRow) -> Cell:
    """The spending cap and its period: "$100.00/day"."""
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


def zdr_cell(row: GuardrailRow) -> Cell:
    """The state of the ZDR switches: "all", "2 of 4", "off" or "inherit"."""
    names = _in_group(row, "Retention")
    if is_garbled(row.guardrail, *names):
        return cells.NOTHING
    values = [getattr(row.guardrail, name) for name in names]
    on = values.count(True)
    if on:
        return Cell("all" if on == len(values) else f"{on} of {len(values)}")
    return Cell("off" if False in values else "inherit", "muted")


def _in_group(row: GuardrailRow, group: str) -> list[str]:
    return [field.name for field in fields_of(row.dialect) if field.group == group]


def _field_rows(row: GuardrailRow, names: Iterable[str], now: datetime) -> list[DetailRow]:
    return fields_of(row.dialect).rows(row.guardrail, names, PlanContext(now))


def filter_count(row: GuardrailRow) -> int | None:
    """Return the number of content filters; None if unreadable."""
    guardrail = row.guardrail
    if is_garbled(guardrail, *FILTERS):
        return None
    return len(guardrail.content_filters or ()) + len(guardrail.content_filter_builtins or ())


def filters_cell(row: GuardrailRow) -> Cell:
    """The number of content filters."""
    count = filter_count(row)
    return cells.NOTHING if count is None else Cell(str(count)) if count else NONE


def count_of(rows: Sequence[object] | None) -> int | None:
    """Return the number of entries; None if unknown."""
    return None if rows is None else len(rows)


def binds_cell(row: GuardrailRow) -> Cell:
    """The numbers of keys and members that it applies to; "nothing" is a warning."""
    if row.is_default:
        return Cell("whole workspace") if row.exists else Cell("not set up", "muted")
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


_NAMES = 8
"""Maximum number of named keys or members; any others are only counted."""
_SCOPES = {"user_only": "user messages only", "all_messages": "all messages"}


def _identity_rows(row: GuardrailRow, _now: datetime) -> Sequence[DetailRow]:
    guardrail = row.guardrail
    kind = []
    if row.is_default:
        note = "applies to all requests in the workspace; its name is fixed"
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
    keys = [key.key_name or key.key_label or key.key_hash for key in row.bound.keys or ()]
    members = [member.user_id for member in row.bound.members or ()]
    return [
        *rows,
        DetailRow("keys", _names(None if row.bound.keys is None else keys)),
        DetailRow("members", _names(None if row.bound.members is None else members)),
    ]


def _how(row: GuardrailRow) -> str:
    if row.is_default:
        return "and the keys and members it is assigned to"
    return "enforces nothing until it is assigned" if binds_cell(row).tone == "warn" else ""


def _names(names: Sequence[str | None] | None) -> Cell:
    if names is None:
        return cells.NOTHING
    if not names:
        return NONE
    shown = ", ".join(safe_line(name or cells.DASH, 60) for name in names[:_NAMES])
    rest = len(names) - _NAMES
    return Cell(f"{shown} and {rest} more" if rest > 0 else shown)


def _routing_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    hint = cells.hint("{guardrails.remaining} lists the allowed endpoints")
    return [*_field_rows(row, LISTS, now), hint]


def _cap_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    cap, reset, byok = _field_rows(row, _in_group(row, "Cap"), now)
    if row.guardrail.limit_usd is None:
        return [cap, byok]
    return [replace(cap, note="per key and per member"), reset, byok]


def _retention_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    rows = _field_rows(row, _in_group(row, "Retention"), now)
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
        lines = tuple(_builtin(builtin) for builtin in builtins)
        parts.append(DetailTable(("builtin", "does", "shown as"), lines))
    if custom:
        parts.append(
            DetailTable(("pattern", "does", "label"), tuple(_custom(entry) for entry in custom))
        )
    if is_garbled(guardrail, *FILTERS):
        why = "not every filter could be read" if parts else ""
        parts.append(DetailRow("filters", cells.NOTHING, why))
    elif not parts:
        parts.append(DetailRow("filters", NONE))
    return parts


def _builtin(entry: BuiltinFilter) -> tuple[Cell, ...]:
    shown = entry.label or _SCOPES.get(entry.scan_scope or "", entry.scan_scope)
    return cells.text(entry.slug), cells.text(entry.action), cells.text(shown)


def _custom(entry: CustomFilter) -> tuple[Cell, ...]:
    return Cell(safe_line(entry.pattern, 40)), cells.text(entry.action), cells.text(entry.label)


def _lifecycle_rows(row: GuardrailRow, now: datetime) -> Sequence[DetailRow]:
    if not row.exists:
        return []
    return [
        cells.moment_row("created", row.guardrail.created_at, now),
        cells.moment_or_never("changed", row.guardrail, "updated_at", now),
    ]


def _if_exists(section: Section[GuardrailRow]) -> Section[GuardrailRow]:
    return Section(section.title, lambda row, now: section.content(row, now) if row.exists else [])


_DRIFT: tuple[Section[GuardrailRow], ...] = drift_sections(lambda row: row.guardrail)

SECTIONS: tuple[Section[GuardrailRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Applies to", _binding_rows),
    Section("Routing", _routing_rows),
    Section("Spending cap", _cap_rows),
    Section("Zero data retention", _retention_rows),
    Section("Content filters", _filter_parts),
    Section("Data use", lambda row, now: _field_rows(row, _in_group(row, "Data use"), now)),
    Section("Lifecycle", _lifecycle_rows),
    *(_if_exists(section) for section in _DRIFT),
)


def _complete(row: GuardrailRow, bindings: Bindings) -> GuardrailRow:
    return GuardrailRow(
        row.guardrail, row.workspace, bindings.of(row.guardrail.id), row.exists, row.dialect
    )


def _keys(row: GuardrailRow) -> int | None:
    return None if row.bound is None else count_of(row.bound.keys)


def _members(row: GuardrailRow) -> int | None:
    return None if row.bound is None else count_of(row.bound.members)


def _reach(row: GuardrailRow, _now: datetime) -> SortValue:
    if row.is_default:
        return float("inf") if row.exists else -1
    keys, members = _keys(row), _members(row)
    return None if keys is None and members is None else (keys or 0) + (members or 0)


COLUMNS: tuple[Column[GuardrailRow], ...] = (
    text_column("name", "Name", lambda row: row.display_name, 18, help="display name", grow=True),
    Column(
        "binds",
        "Applies to",
        lambda row, _now: binds_cell(row),
        _reach,
        17,
        help="a default one binds its workspace, any other the keys and members it is assigned to",
        export=lambda row, _now: binds_cell(row).text,
        kind="number",
    ),
    figure_column(
        "cap",
        "Cap",
        lambda row: row.guardrail.limit_usd,
        13,
        show=cap_cell,
        help="spending cap in USD, per key and per member",
    ),
    word_column(
        "models",
        "Models",
        lambda row: entries_cell(row, "allowed_models", "ignored_models"),
        9,
        "which models may be used",
    ),
    word_column(
        "providers",
        "Providers",
        lambda row: entries_cell(row, "allowed_providers", "ignored_providers"),
        9,
        "which providers may be used",
    ),
    figure_column(
        "filters",
        "Filters",
        filter_count,
        7,
        show=filters_cell,
        help="content filters, builtin and custom ones",
    ),
    word_column(
        "zdr",
        "ZDR",
        zdr_cell,
        9,
        "zero data retention: for how many of the vendor groups it is enforced",
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.workspace_name,
        16,
        help="workspace that the guardrail belongs to",
        most=32,
    ),
    count_column("keys", "Keys", _keys, 5, "keys that it is assigned to"),
    count_column("members", "Members", _members, 7, "members that it is assigned to"),
    FIELDS.columns(lambda row: row.guardrail)["description"],
    moment_column("created", "Created", lambda row: row.guardrail.created_at, 12, "creation time"),
    moment_column("changed", "Changed", lambda row: row.guardrail.updated_at, 12, "last change"),
)


def _joined(row: GuardrailRow, *fields: str) -> str:
    return " ".join(entry for field in fields for entry in getattr(row.guardrail, field) or ())


GUARDRAILS: ResourceSpec[GuardrailRow] = ResourceSpec(
    id="guardrails",
    title="Guardrails",
    singular="guardrail",
    identity=lambda row: row.identity,
    name=lambda row: row.display_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=guardrails_feed,
    completion=Completion(
        bindings_feed,
        _complete,
        columns=frozenset({"binds", "keys", "members"}),
    ),
    raw=lambda row: row.guardrail.raw if row.exists else {},
    read_by=lambda row: ReadBy("guardrails.get", (row.identity,)) if row.exists else None,
    empty="No guardrails yet: press {guardrails.create} to create one.",
    scoped=True,
    default_sort=("name", False),
    facets={
        "default": lambda row, _now: "yes" if row.is_default else "no",
        "model": lambda row, _now: _joined(row, "allowed_models", "ignored_models"),
        "provider": lambda row, _now: _joined(row, "allowed_providers", "ignored_providers"),
        "filter": lambda row, _now: " ".join(
            content_filter_builtin.slug or ""
            for content_filter_builtin in row.guardrail.content_filter_builtins or ()
        ),
    },
    writes=lambda: WRITES,
)
