"""What each guardrail leaves of one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gwtui.client.errors import NotFoundError
from gwtui.contract.models import Model
from gwtui.domain.catalog_view import CatalogView, Offers
from gwtui.domain.guardrail_effect import ModelEffect, effect_on_model, restrictions_of
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow, read_guardrails
from gwtui.watch.feeds.models import read_slugs, read_zdr
from gwtui.watch.feeds.reads import MODELS, endpoints_of
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.shared import FeedKey, PoolReader


@dataclass(frozen=True, slots=True)
class OnModel:
    """One guardrail and what it leaves of the model."""

    row: GuardrailRow
    effect: ModelEffect


async def _on_model(reader: PoolReader, scope: Scope) -> Sequence[OnModel]:
    """Every guardrail of the scope, applied to the model that it names as parent.

    One that is not made yet blocks nothing and is left out. Raises GatewayError.
    """
    view = await _view(reader, scope.parent or "")
    rows = [row for row in await read_guardrails(reader, scope.workspace) if row.made]
    return tuple(
        OnModel(row, effect_on_model(offers, [restrictions_of(row.guardrail)], view, row.dialect))
        for row in rows
        for offers in view.offers
        if offers.model.id == scope.parent
    )


async def _view(reader: PoolReader, model_id: str) -> CatalogView:
    """The catalog with the endpoints of one model."""
    models = await reader.get(MODELS)
    try:
        endpoints = (await reader.get(endpoints_of(model_id))).endpoints
    except NotFoundError:
        endpoints = None

    def offers(model: Model) -> Offers:
        known = model.id == model_id and endpoints is not None
        return Offers(model, tuple(endpoints or ()) if known else None)

    return CatalogView(
        offers=tuple(offers(model) for model in models),
        provider_slugs=await read_slugs(reader),
        zdr=await read_zdr(reader),
    )


def on_model_feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[OnModel]]:
    """The guardrails on the model that the scope names as parent. ValueError without one."""
    if scope.parent is None:
        raise ValueError("guardrails are shown for one model: open it from the models list")
    return hub.derive(
        FeedKey(FEEDS, ("on-model", scope.parent, scope.workspace or "")),
        lambda reader: _on_model(reader, scope),
        cadence.WORKSPACES,
    )
