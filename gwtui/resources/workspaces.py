"""Workspaces. See "Workspace" in the contract and sections 2 and 3 of the extended contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import (
    BUDGET_INTERVALS,
    CreateWorkspaceRequest,
    UpdateWorkspaceRequest,
    Workspace,
    slug_of,
)
from gwtui.crud import cells
from gwtui.crud.cells import figure_column, moment_column, text_column
from gwtui.crud.fields import (
    ON_OFF,
    Field,
    Fields,
    ListColumn,
    PickOption,
    PlanContext,
    PreviewContext,
)
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import count, quoted, several
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
from gwtui.crud.writes import Create, Delete, Update, Writes
from gwtui.domain import money
from gwtui.domain.money import compact_int, percent
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import next_reset, relative
from gwtui.resources import choices
from gwtui.resources.uses import (
    Uses,
    WorkspaceContents,
    workspace_contents,
    workspace_losses,
    workspace_uses,
)
from gwtui.watch.feeds.workspaces import (
    DEFAULT_SLUG,
    BudgetRow,
    WorkspaceFigures,
    WorkspaceRow,
    default_workspace_id,
    figures_feed,
    workspace_figures_feed,
    workspace_rows_feed,
)

T = TypeVar("T")

# Writes -------------------------------------------------------------------------------------------

_LOGGING = "is_observability_io_logging_enabled"

_SORT = {
    "price": "the cheapest first",
    "throughput": "the fastest output first",
    "latency": "the quickest response first",
    "exacto": "the most accurate with tools first",
}


def _share(value: Any, _context: PlanContext) -> str:
    return percent(value, places=2)


async def _tools() -> tuple[PickOption, ...]:
    return tuple(
        PickOption(tool, tool.partition(":")[2].replace("__", ": ").replace("_", " "))
        for tool in SERVER_TOOLS
    )


def _sort(value: str | None, _values: Mapping[str, Any], _context: PreviewContext) -> Cell | None:
    if value is None:
        return Cell("the gateway decides which provider is tried first", "muted")
    words = _SORT.get(value)
    return None if words is None else Cell(words, "muted")


def _sampling(
    value: Decimal | None, values: Mapping[str, Any], _context: PreviewContext
) -> Cell | None:
    if value is None or value <= 0 or value > 1:
        return None
    text = f"{percent(value, places=2)} of requests, 1 in {compact_int(round(1 / value))}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; only applies with private logging", "muted")
    return Cell(text)


def _logged_keys(
    value: list[int] | None, values: Mapping[str, Any], _context: PreviewContext
) -> Cell | None:
    if value is None:
        text = "requests of every key are logged"
    elif not value:
        return Cell("an empty list: no request is logged", "warn")
    else:
        text = f"only requests with the keys {safe_line(', '.join(map(str, value)), 80)}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; only applies with private logging", "muted")
    return Cell(text)


def _field(name: str, label: str, **more: Any) -> Field:
    # Empty texts and lists count as no value.
    return Field(name, label, blank=("", []), **more)


FIELDS = Fields(
    _field("name", "Name", group="Workspace", column=ListColumn(18, "display name", grow=True)),
    _field(
        "slug",
        "Slug",
        group="Workspace",
        suggest=lambda values: slug_of(str(values.get("name") or "")),
        column=ListColumn(16, "unique short name"),
    ),
    _field(
        "description",
        "Description",
        group="Workspace",
        kind="lines",
        column=ListColumn(30, "free text"),
    ),
    _field(
        "default_text_model",
        "Default text model",
        group="Defaults",
        offers=partial(choices.models, giving="text"),
        empty="none",
        placeholder="empty: requests must name one",
        short="text model",
        column=ListColumn(24, "default model for text", id="text_model", title="Text model"),
    ),
    _field(
        "default_image_model",
        "Default image model",
        short="image model",
        group="Defaults",
        offers=partial(choices.models, giving="image"),
        empty="none",
        placeholder="empty: requests must name one",
    ),
    _field(
        "default_provider_sort",
        "Provider order",
        group="Defaults",
        empty="gateway default",
        preview=_sort,
        column=ListColumn(13, "default order of providers", id="sort", title="Routing"),
    ),
    _field(
        "disabled_server_tools",
        "Disabled server tools",
        group="Defaults",
        offers=lambda _context: _tools,
        empty="none",
        chosen="off",
        noun="tools",
        free=True,
        short="tools off",
        effect="Requests can no longer use the disabled tools.",
    ),
    _field(
        _LOGGING,
        "Private I/O logging",
        group="Logging",
        short="private logging",
        words=ON_OFF,
        effect="The gateway will store the prompts and responses of the sampled requests.",
    ),
    _field(
        "io_logging_sampling_rate",
        "Sampling rate",
        format=_share,
        group="Logging",
        kind="percent",
        placeholder="such as 5 % or 0.05",
        preview=_sampling,
    ),
    _field(
        "io_logging_api_key_ids",
        "Ids of logged keys",
        empty="every key",
        group="Logging",
        placeholder="numeric ids, such as 4, 9; empty: every key",
        preview=_logged_keys,
    ),
    _field(
        "is_observability_broadcast_enabled",
        "Broadcast",
        group="Logging",
        column=ListColumn(9, "whether broadcast is enabled", id="broadcast", kind="flag"),
        words=ON_OFF,
        effect="Requests will be broadcast to the observability destinations.",
    ),
    _field(
        "is_data_discount_logging_enabled",
        "Data discount logging",
        group="Logging",
        short="data discount",
        note="logging",
        words=ON_OFF,
        effect="The gateway's operator may use the logged requests, in exchange for a discount.",
    ),
)


@dataclass(frozen=True, slots=True)
class WorkspaceRelatedData:
    """The contents of a workspace, and whether it is the default one."""

    contents: WorkspaceContents
    is_default: bool = False


async def _read_related(
    client: GatewayClient, fresh: Workspace, _context: PlanContext
) -> WorkspaceRelatedData:
    contents = await workspace_contents(client, fresh.id or "")
    default = await default_workspace_id(client)
    is_default = fresh.slug == DEFAULT_SLUG if default is None else default == fresh.id
    return WorkspaceRelatedData(contents, is_default)


async def _uses(client: GatewayClient, fresh: Workspace, context: PlanContext) -> Uses:
    return workspace_uses(await workspace_contents(client, fresh.id or ""), context.now)


def _update_effects(
    fresh: Workspace, request: UpdateWorkspaceRequest, _context: PlanContext
) -> Iterator[str]:
    if "slug" in request.model_fields_set and fresh.slug:
        slug = safe_line(fresh.slug, 60)
        yield f"Links and scripts that use the slug “{slug}” will stop working."


def _delete_effects(
    _fresh: Workspace, related: WorkspaceRelatedData, _context: PlanContext
) -> Iterator[str]:
    yield from workspace_losses(related.contents)
    if related.contents.keys is None:
        yield ("The gateway will refuse the deletion if a key of the workspace is still active.")


_DEFAULT = (
    "This is the default workspace: keys without a workspace will be disabled, "
    "and requests that name no workspace will be refused."
)


class _WorkspaceWrites(Writes[Workspace]):
    """Writes of workspaces. A workspace with active keys cannot be deleted.

    The plan to delete the default workspace contains a warning, and its request contains the
    confirmation that the gateway demands.
    """

    def plan_delete(
        self, fresh: Workspace, context: PlanContext, related: Any = None
    ) -> Plan[None]:
        data: WorkspaceRelatedData = related or WorkspaceRelatedData(WorkspaceContents())
        plan = super().plan_delete(fresh, context, data)
        identity = plan.identity or ""
        return replace(
            plan,
            send=lambda client: client.workspaces.delete(identity, confirm_default=data.is_default),
            obstacles=tuple(_obstacles(data.contents.keys, context.now)),
            warnings=(_DEFAULT,) if data.is_default else (),
            summary={**plan.summary, "default": data.is_default},
        )


WRITES: Writes[Workspace] = _WorkspaceWrites(
    resource="workspaces",
    noun="workspace",
    model=Workspace,
    fields=FIELDS,
    identity=lambda space: space.id,
    of_row=lambda row: row.workspace,
    service=lambda client: client.workspaces,
    operand="id, slug or name",
    called=("name", "slug", "id"),
    feeds=("workspaces", "organization", "members"),
    uses=_uses,
    read_related=_read_related,
    create=Create(
        request=CreateWorkspaceRequest,
        title=lambda request: f"Create workspace {quoted(request.name)}",
        help="create a workspace",
        initial={"io_logging_sampling_rate": Decimal(1)},
    ),
    update=Update(request=UpdateWorkspaceRequest, effects=_update_effects),
    delete=Delete(effects=_delete_effects, kept=("name", "slug")),
)


def _obstacles(keys: Sequence[ApiKey] | None, now: datetime) -> list[str]:
    active = [quoted(key.name, key.label, key.hash) for key in keys or () if is_active(key, now)]
    if not active:
        return []
    them = "it" if len(active) == 1 else "them"
    return [
        f"{count(len(active), 'key')} {'is' if len(active) == 1 else 'are'} still active: "
        f"{several(active)}. Move, disable or delete {them} first."
    ]


# Columns and detail sections ----------------------------------------------------------------------

PERIODS = {"daily": "today", "weekly": "this week", "monthly": "this month", "lifetime": "in all"}
"""The current window of a budget."""
_SHORT = {"daily": "day", "weekly": "week", "monthly": "month", "lifetime": "life"}


def shown_name(space: Workspace) -> str:
    """Return the display name of a workspace."""
    return cells.text(space.shown_name).text


def sorted_budgets(row: WorkspaceRow) -> tuple[BudgetRow, ...]:
    """Return the budgets by ascending interval, unknown intervals last; empty if unreadable."""
    figures = row.figures
    if figures is None or figures.budgets is None:
        return ()
    known = [name for name in BUDGET_INTERVALS if name in figures.budgets]
    others = [name for name in figures.budgets if name not in BUDGET_INTERVALS]
    return tuple(
        BudgetRow(figures.budgets[name], figures.spent.get(name)) for name in (*known, *others)
    )


def tightest(row: WorkspaceRow) -> BudgetRow | None:
    """Return the budget with the highest spent share, or the first one if no share is known.

    None if there are no budgets.
    """
    uses = sorted_budgets(row)
    known = [use for use in uses if use.share is not None]
    return max(known, key=lambda use: use.share or Decimal(0)) if known else next(iter(uses), None)


def budget_cell(row: WorkspaceRow) -> Cell:
    """The tightest budget: "week 83%", or its limit if the share is unknown."""
    figures = row.figures
    if figures is None or figures.budgets is None:
        return _not_read(row)
    use = tightest(row)
    if use is None:
        return Cell("none", "muted")
    word = _SHORT.get(use.interval, cells.text(use.interval).text)
    if use.share is None:
        return Cell(f"{word} {money.usd(use.limit)}")
    return Cell(f"{word} {money.percent(use.share, places=0)}", cells.share_tone(use.share))


def resets_words(interval: str, now: datetime) -> str:
    """Return when a budget resets, always at 00:00 UTC: "resets 2026-12-01, in 10 days"."""
    moment = next_reset(interval, now)
    if moment is None:
        return "never resets" if interval == "lifetime" else "resets unknown"
    return f"resets {moment:%Y-%m-%d}, {relative(moment, now)}"


def active_keys_cell(row: WorkspaceRow, now: datetime) -> Cell:
    """The number of active keys."""
    keys = None if row.figures is None else row.figures.keys
    if keys is None:
        return _not_read(row)
    active = keys.active(now)
    return Cell(money.grouped(active), "plain" if active else "muted")


def members_cell(row: WorkspaceRow) -> Cell:
    """The number of members."""
    members = None if row.figures is None else row.figures.members
    return _not_read(row) if members is None else cells.count(members)


def _not_read(row: WorkspaceRow) -> Cell:
    return Cell("…", "muted") if row.figures is None else cells.NOTHING


_READING = Cell("reading…", "muted")


def logging_label(space: Workspace) -> str:
    """Return whether requests are logged, and the logged share: "on, 10%"."""
    if space.is_observability_io_logging_enabled is None:
        return cells.DASH
    if not space.is_observability_io_logging_enabled:
        return "off"
    rate = space.io_logging_sampling_rate
    return "on" if rate is None else f"on, {_rate(rate)}"


def _rate(rate: Decimal) -> str:
    # The smallest rate of the contract, 0.0001, needs two decimals.
    return money.percent(rate, places=2)


def _identity_rows(row: WorkspaceRow, _now: datetime) -> Sequence[DetailRow]:
    space = row.workspace
    default = [DetailRow("default", Cell("yes"), "meant where no workspace is named")]
    return [
        DetailRow("name", cells.text(space.name)),
        DetailRow("slug", cells.text(space.slug)),
        DetailRow("id", cells.text(space.id)),
        *(default if row.is_default else []),
        DetailRow("description", cells.prose(space.description)),
        DetailRow("creator", cells.text(space.created_by)),
    ]


def _content_rows(row: WorkspaceRow, now: datetime) -> Sequence[DetailRow]:
    figures = row.figures
    if figures is None:
        return [DetailRow("", _READING)]
    keys = cells.NOTHING
    if figures.keys is not None:
        active, total = figures.keys.active(now), figures.keys.total
        keys = Cell(f"{money.grouped(active)} active of {money.grouped(total)}")
    everyone = "the whole organization" if row.is_default else ""
    guardrails = figures.guardrails
    return [
        DetailRow("keys", keys),
        DetailRow("members", cells.count(figures.members), everyone),
        DetailRow("guardrails", cells.count(None if guardrails is None else len(guardrails))),
        _default_guardrail(row),
        *(DetailRow("unreadable", Cell(safe_line(fault, 200), "warn")) for fault in figures.faults),
    ]


def _default_guardrail(row: WorkspaceRow) -> DetailRow:
    label, identity = "default guardrail", row.workspace.default_guardrail_id
    guardrails = None if row.figures is None else row.figures.guardrails
    if identity is None or guardrails is None:
        return DetailRow(label, cells.text(identity))
    if identity not in guardrails:
        return DetailRow(label, Cell("not set up", "muted"), "created on the first edit")
    return DetailRow(label, cells.text(guardrails[identity].name), "applies to all requests")


def _budget_parts(row: WorkspaceRow, now: datetime) -> Sequence[DetailRow | DetailTable]:
    figures = row.figures
    if figures is None:
        return [DetailRow("", _READING)]
    if figures.budgets is None:
        return [DetailRow("", cells.NOTHING)]
    uses = sorted_budgets(row)
    if not uses:
        return [DetailRow("", Cell("none: this workspace can spend any amount", "muted"))]
    rows: list[DetailRow | DetailTable] = []
    for use in uses:
        rows += _budget_rows(use, now)
    byok = row.workspace.include_byok_in_budgets
    rows.append(DetailRow("BYOK in budgets", cells.yes_no(byok)))
    counted = "without deleted keys, which the gateway may count too"
    rows.append(DetailRow("amounts", Cell(counted, "muted")))
    return rows


def _budget_rows(use: BudgetRow, now: datetime) -> Sequence[DetailRow]:
    label = safe_line(use.interval, 20)
    period = PERIODS.get(use.interval, "")
    resets = f", {resets_words(use.interval, now)}"
    if use.share is None:
        return [DetailRow(label, cells.usd(use.limit), f"budget; spent {period}: unknown{resets}")]
    tone = cells.share_tone(use.share)
    figure = f"{cells.bar(use.share, 10)} {money.percent(use.share)} of {money.usd(use.limit)}"
    return [
        DetailRow(label, Cell(figure, tone)),
        DetailRow("", Cell(f"{money.usd(use.spent)} {period}{resets}", "muted")),
    ]


def _logging_rows(row: WorkspaceRow, _now: datetime) -> Sequence[DetailRow]:
    space, rate = row.workspace, row.workspace.io_logging_sampling_rate
    in_how_many = ""
    if rate is not None and rate > 0:
        in_how_many = f"1 in {money.compact_int(max(1, round(1 / rate)))}"
    sampling = cells.NOTHING if rate is None else Cell(f"{_rate(rate)} of requests")
    private, *others = FIELDS.rows(
        space,
        (
            _LOGGING,
            "io_logging_api_key_ids",
            "is_observability_broadcast_enabled",
            "is_data_discount_logging_enabled",
        ),
    )
    return [private, DetailRow("sampling", sampling, in_how_many), *others]


SECTIONS: tuple[Section[WorkspaceRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Contents", _content_rows),
    Section("Budgets", _budget_parts),
    Section(
        "Defaults",
        lambda row, _now: FIELDS.rows(
            row.workspace, (field.name for field in FIELDS if field.group == "Defaults")
        ),
    ),
    Section("Logging", _logging_rows),
    Section(
        "Lifecycle",
        lambda row, now: [
            cells.moment_row("created", row.workspace.created_at, now),
            cells.moment_or_never("changed", row.workspace, "updated_at", now),
        ],
    ),
    *drift_sections(lambda row: row.workspace),
)


def _complete(row: WorkspaceRow, figures: Mapping[str, WorkspaceFigures]) -> WorkspaceRow:
    return replace(row, figures=figures.get(row.identity))


def _active_keys(row: WorkspaceRow, now: datetime) -> SortValue:
    keys = None if row.figures is None else row.figures.keys
    return None if keys is None else keys.active(now)


def _tightest_share(row: WorkspaceRow, _now: datetime) -> SortValue:
    use = tightest(row)
    return None if use is None else cells.in_percent(use.share)


_OF_FIELDS: Mapping[str, Column[WorkspaceRow]] = FIELDS.columns(lambda row: row.workspace)

COLUMNS: tuple[Column[WorkspaceRow], ...] = (
    _OF_FIELDS["name"],
    Column(
        "keys",
        "Keys",
        active_keys_cell,
        _active_keys,
        5,
        right=True,
        help="keys whose requests are accepted: neither disabled nor expired",
        kind="number",
    ),
    Column(
        "budget",
        "Budget",
        lambda row, _now: budget_cell(row),
        _tightest_share,
        12,
        right=True,
        help="the budget with the largest share spent; what deleted keys spent is not counted",
        kind="number",
    ),
    figure_column(
        "members",
        "Members",
        lambda row: None if row.figures is None else row.figures.members,
        7,
        show=members_cell,
        help="people who may use it",
    ),
    _OF_FIELDS["slug"],
    Column(
        "logging",
        "Logging",
        lambda row, _now: Cell(
            logging_label(row.workspace),
            "plain" if row.workspace.is_observability_io_logging_enabled else "muted",
        ),
        lambda row, _now: logging_label(row.workspace),
        10,
        help="private logging and the share of requests it keeps",
    ),
    _OF_FIELDS["sort"],
    _OF_FIELDS["text_model"],
    moment_column(
        "created", "Created", lambda row: row.workspace.created_at, 13, help="creation time"
    ),
    _OF_FIELDS["broadcast"],
    _OF_FIELDS["description"],
    text_column(
        "creator",
        "Creator",
        lambda row: row.workspace.created_by,
        16,
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
        row_feed=lambda hub, row: workspace_figures_feed(hub, row.workspace),
        columns=frozenset({"keys", "members", "budget"}),
    ),
    raw=lambda row: row.workspace.raw,
    read_by=lambda row: ReadBy("workspaces.get", (row.identity,)),
    empty="No workspace is visible to this key; a management key sees every one.",
    default_sort=("name", False),
    facets={"logging": lambda row, _now: logging_label(row.workspace)},
)
