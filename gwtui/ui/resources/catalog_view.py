"""The whole catalog with its endpoints, read once for everything that asks what remains of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gwtui.client.errors import NotFoundError
from gwtui.contract.models import Model
from gwtui.domain.catalog_view import CatalogView, Offers
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import fetch_each
from gwtui.watch.feeds.routing import fetch_zdr
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


@dataclass(slots=True)
class Progress:
    """How far the reading of the catalog is: one request per model."""

    done: int = 0
    total: int = 0


_PROGRESS: WeakKeyDictionary[FeedHub, Progress] = WeakKeyDictionary()


def progress_of(hub: FeedHub) -> Progress:
    """How far the present reading of the catalog is."""
    return _PROGRESS.setdefault(hub, Progress())


def catalog_feed(hub: FeedHub) -> Feed[CatalogView]:
    """The catalog with every endpoint; the same for every workspace and guardrail."""
    progress = progress_of(hub)
    return hub.feed("catalog", lambda client: fetch_catalog(client, progress), cadence.CATALOG)


async def fetch_catalog(client: GatewayClient, progress: Progress) -> CatalogView:
    """Every model with its endpoints, a few requests at a time. Raises GatewayError.

    A model that is gone when its turn comes has no readable endpoints; a gateway that does not
    tell which endpoints keep no data leaves that open.
    """
    models = [model for model in (await client.catalog.models()).items if model.id]
    progress.done, progress.total = 0, len(models)

    async def offers(model: Model) -> Offers:
        try:
            found = await client.catalog.endpoints(model.id or "")
        except NotFoundError:
            return Offers(model, None)
        finally:
            progress.done += 1
        return Offers(model, None if found.endpoints is None else tuple(found.endpoints))

    providers = (await client.providers.list()).items
    return CatalogView(
        offers=tuple(await fetch_each(models, offers)),
        provider_slugs={one.name: one.slug for one in providers if one.name and one.slug},
        zdr=await fetch_zdr(client),
    )
