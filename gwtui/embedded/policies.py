"""What guardrails leave of the catalog. Extended contract sections 5 and 7."""

from __future__ import annotations

from dataclasses import asdict

from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog_view import CatalogView, Offers, endpoint_key
from gwtui.domain.guardrail_effect import effect_on_model, restrictions_of
from gwtui.embedded.operations import Site
from gwtui.embedded.simulator import Catalog
from gwtui.embedded.simulator.retention import is_zero_retention
from gwtui.embedded.store.binding import Binding


def usable_models(site: Site, binding: Binding) -> frozenset[str]:
    """Identifiers of the models that keep an endpoint under every guardrail that binds."""
    if not binding.all:
        return frozenset(model.id for model in site.catalog.models)
    guardrails = [restrictions_of(asdict(each.policy)) for each in binding.all]
    view = _view(site.catalog)
    return frozenset(
        str(offers.model.id)
        for offers in view.offers
        if effect_on_model(offers, guardrails, view, site.dialect).remaining
    )


def _view(catalog: Catalog) -> CatalogView:
    read = {
        endpoint.key: Endpoint.model_validate(endpoint.wire)
        for model in catalog.models
        for endpoint in model.endpoints
    }
    return CatalogView(
        offers=tuple(
            Offers(
                Model.model_validate(model.wire),
                tuple(read[endpoint.key] for endpoint in model.endpoints),
            )
            for model in catalog.models
        ),
        provider_slugs={provider["name"]: provider["slug"] for provider in catalog.providers},
        zdr=frozenset(
            endpoint_key(read[endpoint.key])
            for model in catalog.models
            for endpoint in model.endpoints
            if is_zero_retention(endpoint)
        ),
    )
