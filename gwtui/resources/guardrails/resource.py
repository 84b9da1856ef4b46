"""Guardrails: contract "Guardrail", extended contract section 5."""

from __future__ import annotations

from datetime import datetime

from gwtui.crud.columns import count_column, figure_column, moment_column, text_column, word_column
from gwtui.crud.resource import Column, Completion, ReadBy, ResourceSpec, SortValue
from gwtui.resources.guardrails.view import (
    SECTIONS,
    binds_cell,
    cap_cell,
    count_of,
    display_name,
    entries_cell,
    filter_count,
    filters_cell,
    zdr_cell,
)
from gwtui.resources.guardrails.writes import WRITES
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed, guardrails_feed

__all__ = ["COLUMNS", "GUARDRAILS"]


def _complete(row: GuardrailRow, bindings: Bindings) -> GuardrailRow:
    return GuardrailRow(
        row.guardrail, row.workspace, bindings.of(row.guardrail.id), row.exists, row.dialect
    )


def _keys(row: GuardrailRow) -> int | None:
    return None if row.bound is None else count_of(row.bound.keys)


def _members(row: GuardrailRow) -> int | None:
    return None if row.bound is None else count_of(row.bound.members)


def _reach(row: GuardrailRow, _now: datetime) -> SortValue:
    """Whole workspaces first, then by how many keys and members there are."""
    if row.is_default:
        return float("inf") if row.exists else -1
    keys, members = _keys(row), _members(row)
    return None if keys is None and members is None else (keys or 0) + (members or 0)


COLUMNS: tuple[Column[GuardrailRow], ...] = (
    text_column("name", "Name", display_name, 18, help="display name", grow=True),
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
    text_column(
        "description",
        "Description",
        lambda row: row.guardrail.description,
        30,
        help="what it is for",
    ),
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
    name=display_name,
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
    empty="No guardrails in this scope yet: press {guardrails.create} to create one.",
    scoped=True,
    default_sort=("name", False),
    facets={
        "default": lambda row, _now: "yes" if row.is_default else "no",
        "model": lambda row, _now: _joined(row, "allowed_models", "ignored_models"),
        "provider": lambda row, _now: _joined(row, "allowed_providers", "ignored_providers"),
        "filter": lambda row, _now: " ".join(
            each.slug or "" for each in row.guardrail.content_filter_builtins or ()
        ),
    },
    writes=lambda: WRITES,
)
