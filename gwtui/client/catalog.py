"""The catalog of models: contract "GET /models/{author}/{slug}/endpoints"; extended section 7."""

from __future__ import annotations

from gwtui.client.call import Call, Caller
from gwtui.client.errors import InvalidRequestError
from gwtui.client.paging import Listing, Pager
from gwtui.client.reading import read_one
from gwtui.contract.models import Model, ModelEndpoints
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
        filters: dict[str, str | int | bool] = {"output_modalities": output_modalities}
        if query:
            filters["q"] = query
        pager = Pager(self._caller, "/models", Model, "id", page=MODELS_PAGE)
        return await pager.everything(filters)

    async def endpoints(self, model_id: str) -> ModelEndpoints:
        """A model ("author/slug") with every endpoint that serves it."""
        author, slash, slug = model_id.partition("/")
        if not slash:
            raise InvalidRequestError([Problem("model_id", "must have the form author/slug")])
        call = Call("GET", "/models/{author}/{slug}/endpoints", {"author": author, "slug": slug})
        return read_one(await self._caller.call(call), ModelEndpoints)
