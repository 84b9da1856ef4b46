"""Workspaces: contract "Workspace", extended contract section 2."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.client.gateway import GatewayClient
from gwtui.contract.workspaces import Workspace
from gwtui.domain import money
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import flag_column, moment_column, text_column
from gwtui.ui.resources.gaps import own_honesty_sections
from gwtui.ui.resources.spec import Cell, Column, DetailRow, ResourceSpec, Scope, Section
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

_NEVER = Cell("never", "muted")
_NOT_SET = Cell("not set", "muted")


async def fetch_workspaces(client: GatewayClient) -> Sequence[Workspace]:
    """Every workspace of the account. Raises GatewayError."""
    return (await client.workspaces.list()).items


def workspaces_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[Workspace]]:
    """The workspaces feed; the scope narrows what is in a workspace, not the workspaces."""
    return hub.feed("workspaces", fetch_workspaces, cadence.WORKSPACES)


def _or_not_set(space: Workspace, name: str) -> Cell:
    return _NOT_SET if cells.said_null(space, name) else cells.text(getattr(space, name))


def logging_word(space: Workspace) -> str:
    """Whether requests are logged privately, and which share of them."""
    if space.is_observability_io_logging_enabled is None:
        return cells.DASH
    if not space.is_observability_io_logging_enabled:
        return "off"
    rate = space.io_logging_sampling_rate
    return "on" if rate is None else f"on, {_rate(rate)}"


def _rate(rate: Decimal) -> str:
    """The contract's smallest rate, 0.0001, takes two places."""
    return money.percent(rate, places=2)


COLUMNS: tuple[Column[Workspace], ...] = (
    text_column("name", "Name", lambda space: space.name, 18, 0, help="display name"),
    text_column("slug", "Slug", lambda space: space.slug, 16, 1, help="short name for paths"),
    Column(
        "logging",
        "Logging",
        lambda space, _now: Cell(
            logging_word(space),
            "plain" if space.is_observability_io_logging_enabled else "muted",
        ),
        lambda space, _now: logging_word(space),
        10,
        2,
        help="private logging and the share of requests it keeps",
    ),
    text_column(
        "sort",
        "Routing",
        lambda space: space.default_provider_sort,
        10,
        3,
        help="default order of providers",
        missing=lambda space: _or_not_set(space, "default_provider_sort"),
    ),
    text_column(
        "text_model",
        "Text model",
        lambda space: space.default_text_model,
        24,
        4,
        help="default model for text",
        missing=lambda space: _or_not_set(space, "default_text_model"),
    ),
    moment_column(
        "created", "Created", lambda space: space.created_at, 13, 5, help="when it was made"
    ),
    flag_column(
        "broadcast",
        "Broadcast",
        lambda space: space.is_observability_broadcast_enabled,
        9,
        6,
        help="whether broadcast is enabled",
    ),
    text_column(
        "description", "Description", lambda space: space.description, 30, 7, help="free text"
    ),
    text_column(
        "creator", "Creator", lambda space: space.created_by, 16, 8, help="user id of the creator"
    ),
)


def _identity_rows(space: Workspace, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("name", cells.text(space.name)),
        DetailRow("slug", cells.text(space.slug)),
        DetailRow("id", cells.text(space.id)),
        DetailRow("description", cells.prose(space.description)),
        DetailRow("creator", cells.text(space.created_by)),
        DetailRow("guardrail", cells.text(space.default_guardrail_id), "default"),
    ]


def _default_rows(space: Workspace, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("text model", _or_not_set(space, "default_text_model")),
        DetailRow("image model", _or_not_set(space, "default_image_model")),
        DetailRow("provider order", _or_not_set(space, "default_provider_sort")),
    ]


def _logging_rows(space: Workspace, _now: datetime) -> Sequence[DetailRow]:
    ids = space.io_logging_api_key_ids
    if ids is not None:
        keys = cells.words([str(number) for number in ids])
    else:
        everything = cells.said_null(space, "io_logging_api_key_ids")
        keys = Cell("all keys") if everything else cells.NOTHING
    rate = space.io_logging_sampling_rate
    return [
        DetailRow("private logging", cells.yes_no(space.is_observability_io_logging_enabled)),
        DetailRow(
            "sampling",
            cells.NOTHING if rate is None else Cell(f"{_rate(rate)} of requests"),
            ""
            if rate is None
            else f"1 in {money.compact_int(max(1, round(1 / rate)))}"
            if rate > 0
            else "",
        ),
        DetailRow("logged keys", keys),
        DetailRow("broadcast", cells.yes_no(space.is_observability_broadcast_enabled)),
        DetailRow("data discount", cells.yes_no(space.is_data_discount_logging_enabled), "logging"),
    ]


def _lifecycle_rows(space: Workspace, now: datetime) -> Sequence[DetailRow]:
    missing = _NEVER if cells.said_null(space, "updated_at") else cells.NOTHING
    return [
        cells.moment_row("created", space.created_at, now),
        cells.moment_row("changed", space.updated_at, now, missing),
    ]


WORKSPACES: ResourceSpec[Workspace] = ResourceSpec(
    id="workspaces",
    title="Workspaces",
    singular="workspace",
    identity=lambda space: space.id or f"?{space.slug}|{space.name}",
    name=lambda space: cells.text(space.name or space.slug or space.id).text,
    columns=COLUMNS,
    sections=(
        Section("Identity", _identity_rows),
        Section("Defaults", _default_rows),
        Section("Logging", _logging_rows),
        Section("Lifecycle", _lifecycle_rows),
        *own_honesty_sections(Workspace),
    ),
    feed=workspaces_feed,
    raw=lambda space: space.raw,
    empty="No workspace is visible to this key; a management key sees every one.",
    default_sort=("name", False),
    facets={"logging": lambda space, _now: logging_word(space)},
)
