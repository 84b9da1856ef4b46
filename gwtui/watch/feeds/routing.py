"""What decides where requests may go, beside the endpoints themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gwtui.client.errors import StatusError
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog_view import CatalogView, EndpointKey, Offers, endpoint_key
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


@dataclass(frozen=True, slots=True)
class Routing:
    """Every model, the slugs of providers by their names, and the endpoints that keep no data.

    ``zdr`` None: the gateway does not tell.
    """

    models: tuple[Model, ...]
    provider_slugs: Mapping[str, str]
    zdr: frozenset[EndpointKey] | None

    def view(self, known: Mapping[str, tuple[Endpoint, ...]]) -> CatalogView:
        """The catalog as far as the endpoints of some models are known."""
        offers = tuple(Offers(model, known.get(model.id or "")) for model in self.models)
        return CatalogView(offers, self.provider_slugs, self.zdr)


async def fetch_zdr(client: GatewayClient) -> frozenset[EndpointKey] | None:
    """The endpoints that keep no data; None when the gateway does not tell. Raises GatewayError."""
    try:
        found = (await client.catalog.zdr_endpoints()).items
    except StatusError as error:
        if error.status in {403, 404}:
            return None
        raise
    return frozenset(endpoint_key(endpoint) for endpoint in found)


async def fetch_routing(client: GatewayClient) -> Routing:
    """Three lists. Raises GatewayError."""
    models = (await client.catalog.models()).items
    providers = (await client.providers.list()).items
    slugs = {one.name: one.slug for one in providers if one.name and one.slug}
    return Routing(models, slugs, await fetch_zdr(client))


def routing_feed(hub: FeedHub) -> Feed[Routing]:
    """The same for every workspace."""
    return hub.feed("routing", fetch_routing, cadence.CATALOG)
