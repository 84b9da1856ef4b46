"""Which preferences of a request mean one endpoint and no other: inference contract section 3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from gwtui.contract.models import Endpoint
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.values import Quantization
from gwtui.domain.route_order import names


def pinned_to(endpoint: Endpoint, among: Iterable[Endpoint]) -> ProviderPreferences | None:
    """Preferences that only ``endpoint`` meets ``among`` those of its model, without fallbacks.

    None where nothing tells it from another one: it has no tag, or a twin.
    """
    tag = endpoint.tag
    if not tag:
        return None
    meant = [each for each in among if names(tag, each) and _may_serve(each, tag)]
    weights = endpoint.quantization or "unknown"
    alike = [each for each in meant if (each.quantization or "unknown") == weights]
    if len(alike) != 1:
        return None
    pinned = {"order": [tag], "only": [tag], "allow_fallbacks": False}
    if len(meant) > 1:
        pinned["quantizations"] = [cast("Quantization", weights)]
    return ProviderPreferences.model_validate(pinned)


def _may_serve(endpoint: Endpoint, tag: str) -> bool:
    """Endpoints of a tier serve only what names their own tag."""
    return endpoint.tag == tag or endpoint.service_tier is None
