"""The catalog of models: contract "GET /models/{author}/{slug}/endpoints"; extended section 7."""

from __future__ import annotations

from gwtui.client.call import Call, Caller, Query, given
from gwtui.client.errors import InvalidRequestError
from gwtui.client.paging import Listing, Pager, listing_of
from gwtui.client.reading import read_one, read_rows
from gwtui.contract.models import Endpoint, Model, ModelEndpoints
from gwtui.contract.paging import MODELS_PAGE
from gwtui.contract.request import Problem


class CatalogService:
    """Models and the endpoints that serve them; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def models(
        self, *, output_modalities: str = "all", query: str | None = None
    ) -> Listing[Model]:
        """Every model; ``query`` is the API's own search. The API's default is text only."""
        return await self._models(
            "/models", given(output_modalities=output_modalities, q=query or None)
        )

    async def user_models(self, *, output_modalities: str = "all") -> Listing[Model]:
        """The models that the policies of the connection's own key leave; any key may ask."""
        return await self._models("/models/user", given(output_modalities=output_modalities))

    async def zdr_endpoints(self) -> Listing[Endpoint]:
        """Every endpoint that remains where zero data retention is enforced; not paged."""
        answer = await self._caller.call(Call("GET", "/endpoints/zdr"))
        return listing_of(read_rows(answer), Endpoint)

    async def endpoints(self, model_id: str) -> ModelEndpoints:
        """A model ("author/slug") with every endpoint that serves it."""
        author, slash, slug = model_id.partition("/")
        if not slash:
            raise InvalidRequestError([Problem("model_id", "must have the form author/slug")])
        call = Call("GET", "/models/{author}/{slug}/endpoints", {"author": author, "slug": slug})
        return read_one(await self._caller.call(call), ModelEndpoints)

    async def _models(self, path: str, query: Query) -> Listing[Model]:
        call = Call("GET", path, query=query)
        return await Pager(self._caller, call, Model, "id", page=MODELS_PAGE).everything()
