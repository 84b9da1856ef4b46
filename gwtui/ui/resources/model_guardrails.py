"""What each guardrail leaves of one model, the ones that block it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.client.errors import NotFoundError
from gwtui.contract.models import Model
from gwtui.domain.catalog_view import CatalogView, Offers
from gwtui.domain.guardrail_effect import ModelEffect, effect_on_model, restrictions_of
from gwtui.domain.uptime import verdict
from gwtui.ui.resources import cells
from gwtui.ui.resources.columns import figure_column, text_column
from gwtui.ui.resources.effects import (
    endpoint_title,
    healthy_cell,
    left_cell,
    rank,
    verdict_cell,
)
from gwtui.ui.resources.guardrail_row import display_name
from gwtui.ui.resources.spec import Cell, Column, DetailRow, ResourceSpec, Scope, Section
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, fetch_guardrails
from gwtui.watch.feeds.routing import fetch_zdr
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


@dataclass(frozen=True, slots=True)
class OnModel:
    """One guardrail and what it leaves of the model."""

    row: GuardrailRow
    effect: ModelEffect


async def fetch_on_model(client: GatewayClient, scope: Scope) -> Sequence[OnModel]:
    """Every guardrail of the scope, applied to the model that it names as parent.

    One that is not made yet blocks nothing and is left out. Raises GatewayError.
    """
    view = await _view(client, scope.parent or "")
    rows = [row for row in await fetch_guardrails(client, scope.workspace) if row.made]
    return tuple(
        OnModel(row, effect_on_model(offers, [restrictions_of(row.guardrail)], view, row.dialect))
        for row in rows
        for offers in view.offers
        if offers.model.id == scope.parent
    )


async def _view(client: GatewayClient, model_id: str) -> CatalogView:
    """The catalog with the endpoints of one model."""
    models = (await client.catalog.models()).items
    try:
        endpoints = (await client.catalog.endpoints(model_id)).endpoints
    except NotFoundError:
        endpoints = None
    providers = (await client.providers.list()).items

    def offers(model: Model) -> Offers:
        known = model.id == model_id and endpoints is not None
        return Offers(model, tuple(endpoints or ()) if known else None)

    return CatalogView(
        offers=tuple(offers(model) for model in models),
        provider_slugs={one.name: one.slug for one in providers if one.name and one.slug},
        zdr=await fetch_zdr(client),
    )


def on_model_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[OnModel]]:
    """The guardrails on the model that the scope names as parent. ValueError without one."""
    if scope.parent is None:
        raise ValueError("guardrails are shown for one model: open it from the models list")
    name = f"{FEEDS}:on-model:{scope.parent}:{scope.workspace or ''}"
    return hub.feed(name, lambda client: fetch_on_model(client, scope), cadence.WORKSPACES)


COLUMNS: tuple[Column[OnModel], ...] = (
    text_column(
        "guardrail", "Guardrail", lambda one: display_name(one.row), 22, 0, help="display name"
    ),
    Column(
        "verdict",
        "Leaves",
        lambda one, now: verdict_cell(one.effect, now),
        lambda one, _now: f"{rank(one.effect, blocked_first=True)} {display_name(one.row)}",
        12,
        1,
        help="what is left of the model; blocked ones come first",
    ),
    figure_column(
        "left",
        "Left",
        lambda one: len(one.effect.remaining),
        7,
        2,
        show=lambda one: left_cell(one.effect),
        help="endpoints that remain",
    ),
    figure_column(
        "healthy",
        "Healthy",
        lambda one: one.effect.healthy,
        7,
        3,
        show=lambda one: healthy_cell(one.effect),
        help="remaining endpoints that work now",
    ),
    text_column(
        "why", "Why", lambda one: one.effect.verdict.why, 22, 4, help="what takes endpoints away"
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda one: one.row.workspace_name,
        16,
        5,
        help="workspace that the guardrail belongs to",
    ),
)


def _verdict_rows(one: OnModel, now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("guardrail", cells.text(display_name(one.row))),
        DetailRow("workspace", cells.text(one.row.workspace_name)),
        DetailRow("model", cells.text(one.effect.model.name)),
        DetailRow("leaves", verdict_cell(one.effect, now), one.effect.verdict.why),
        cells.hint("R goes to the guardrail"),
    ]


def _remaining_rows(one: OnModel, _now: datetime) -> Sequence[DetailRow]:
    rows = []
    for endpoint in one.effect.remaining:
        state = verdict(endpoint)
        name = Cell(endpoint_title(endpoint))
        rows.append(DetailRow("", name, state.word))
    return rows


def _blocked_rows(one: OnModel, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("", Cell(endpoint_title(each.endpoint), "muted"), ", ".join(each.reasons))
        for each in one.effect.blocked
    ]


MODEL_GUARDRAILS: ResourceSpec[OnModel] = ResourceSpec(
    id="model-guardrails",
    title="Guardrails on a model",
    singular="guardrail",
    identity=lambda one: one.row.identity,
    name=lambda one: display_name(one.row),
    columns=COLUMNS,
    sections=(
        Section("On this model", _verdict_rows),
        Section("Remaining endpoints", _remaining_rows),
        Section("Blocked endpoints", _blocked_rows),
    ),
    feed=on_model_feed,
    raw=lambda one: one.row.guardrail.raw,
    empty="No guardrail exists in this scope: nothing blocks this model.",
    scoped=True,
    default_sort=("verdict", False),
    facets={"verdict": lambda one, now: verdict_cell(one.effect, now).text},
)
