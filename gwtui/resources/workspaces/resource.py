"""Workspaces: contract "Workspace", extended contract sections 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, flag_column, moment_column, text_column
from gwtui.crud.resource import Cell, Column, Completion, ReadBy, ResourceSpec, SortValue
from gwtui.resources.workspaces.view import (
    SECTIONS,
    active_keys_cell,
    budget_cell,
    logging_label,
    members_cell,
    or_not_set,
    shown_name,
    tightest,
)
from gwtui.resources.workspaces.writes import WRITES
from gwtui.watch.feeds.workspaces import (
    Figures,
    WorkspaceRow,
    figures_feed,
    figures_of_feed,
    workspace_rows_feed,
)


def _complete(row: WorkspaceRow, figures: Mapping[str, Figures]) -> WorkspaceRow:
    return replace(row, figures=figures.get(row.identity))


def _active_keys(row: WorkspaceRow, now: datetime) -> SortValue:
    keys = None if row.figures is None else row.figures.keys
    return None if keys is None else keys.active(now)


def _tightest_share(row: WorkspaceRow, _now: datetime) -> SortValue:
    use = tightest(row)
    return None if use is None else cells.in_percent(use.share)


COLUMNS: tuple[Column[WorkspaceRow], ...] = (
    text_column("name", "Name", lambda row: row.workspace.name, 18, 0, help="display name"),
    text_column("slug", "Slug", lambda row: row.workspace.slug, 16, 4, help="short name for paths"),
    Column(
        "keys",
        "Keys",
        active_keys_cell,
        _active_keys,
        5,
        1,
        right=True,
        help="keys whose requests are accepted: neither disabled nor expired",
        kind="number",
    ),
    figure_column(
        "members",
        "Members",
        lambda row: None if row.figures is None else row.figures.members,
        7,
        3,
        show=members_cell,
        help="people who may use it",
    ),
    Column(
        "budget",
        "Budget",
        lambda row, _now: budget_cell(row),
        _tightest_share,
        12,
        2,
        right=True,
        help="the budget of which most is spent, by the present keys",
        kind="number",
    ),
    Column(
        "logging",
        "Logging",
        lambda row, _now: Cell(
            logging_label(row.workspace),
            "plain" if row.workspace.is_observability_io_logging_enabled else "muted",
        ),
        lambda row, _now: logging_label(row.workspace),
        10,
        5,
        help="private logging and the share of requests it keeps",
    ),
    text_column(
        "sort",
        "Routing",
        lambda row: row.workspace.default_provider_sort,
        10,
        6,
        help="default order of providers",
        missing=lambda row: or_not_set(row.workspace, "default_provider_sort"),
    ),
    text_column(
        "text_model",
        "Text model",
        lambda row: row.workspace.default_text_model,
        24,
        7,
        help="default model for text",
        missing=lambda row: or_not_set(row.workspace, "default_text_model"),
    ),
    moment_column(
        "created", "Created", lambda row: row.workspace.created_at, 13, 8, help="when it was made"
    ),
    flag_column(
        "broadcast",
        "Broadcast",
        lambda row: row.workspace.is_observability_broadcast_enabled,
        9,
        9,
        help="whether broadcast is enabled",
    ),
    text_column(
        "description",
        "Description",
        lambda row: row.workspace.description,
        30,
        10,
        help="free text",
    ),
    text_column(
        "creator",
        "Creator",
        lambda row: row.workspace.created_by,
        16,
        11,
        help="user id of the creator",
    ),
)


WORKSPACES: ResourceSpec[WorkspaceRow] = ResourceSpec(
    id="workspaces",
    title="Workspaces",
    singular="workspace",
    identity=lambda row: row.identity,
    name=lambda row: shown_name(row.workspace),
    columns=COLUMNS,
    sections=SECTIONS,
    feed=workspace_rows_feed,
    writes=lambda: WRITES,
    completion=Completion(
        figures_feed,
        _complete,
        one=lambda hub, row: figures_of_feed(hub, row.workspace),
        columns=frozenset({"keys", "members", "budget"}),
    ),
    raw=lambda row: row.workspace.raw,
    read_by=lambda row: ReadBy("workspaces.get", (row.identity,)),
    empty="No workspace is visible to this key; a management key sees every one.",
    default_sort=("name", False),
    facets={"logging": lambda row, _now: logging_label(row.workspace)},
)
