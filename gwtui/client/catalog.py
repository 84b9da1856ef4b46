"""The catalog of models: contract "GET /models/{author}/{slug}/endpoints"; extended section 7."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from gwtui.client.answers import read_one, read_rows
from gwtui.client.call import Answer, Call, Caller, Query, query_params
from gwtui.client.errors import InvalidRequestError, UnreadableAnswerError
from gwtui.client.long_work import LARGE_MODEL, run_by_size
from gwtui.client.paging import Listing, Pager, listing_of
from gwtui.contract.models import Endpoint, Model, ModelCount, ModelEndpoints, Provider
from gwtui.contract.request import Problem
from gwtui.contract.values import MODELS_PAGE

T = TypeVar("T")


def model_call(model_id: str) -> Call:
    """The request that reads one model. Raises InvalidRequestError for what is no identifier."""
    return Call("GET", "/model/{author}/{slug}", _author_and_slug(model_id))


def endpoints_call(model_id: str) -> Call:
    """The request that reads a model's endpoints. Raises InvalidRequestError, as above."""
    return Call("GET", "/models/{author}/{slug}/endpoints", _author_and_slug(model_id))


def zdr_call() -> Call:
    """The request that reads the endpoints that remain under zero data retention."""
    return Call("GET", "/endpoints/zdr")


def providers_call() -> Call:
    """The request that reads every provider."""
    return Call("GET", "/providers")


class CatalogService:
    """Models and the endpoints that serve them; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def models(
        self, *, output_modalities: str = "all", query: str | None = None
    ) -> Listing[Model]:
        """Every model; ``query`` is the API's own search. The API's default is text only."""
        return await self._models(
            "/models", query_params(output_modalities=output_modalities, q=query or None)
        )

    async def user_models(self, *, output_modalities: str = "all") -> Listing[Model]:
        """The models that the policies of the connection's own key leave; any key may ask."""
        return await self._models("/models/user", query_params(output_modalities=output_modalities))

    async def count(self, *, output_modalities: str = "all") -> int:
        """How many models there are; one small request."""
        call = Call("GET", "/models/count", query=query_params(output_modalities=output_modalities))
        found = read_one(await self._caller.call(call), ModelCount).count
        if found is None:
            raise UnreadableAnswerError("the answer is not what the API describes: it has no count")
        return found

    async def model(self, model_id: str) -> Model:
        """One model ("author/slug", a variant such as ``:free`` allowed), listed or not."""
        return read_one(await self._caller.call(model_call(model_id)), Model)

    async def zdr_endpoints(self) -> Listing[Endpoint]:
        """Every endpoint that remains where zero data retention is enforced; not paged."""
        answer = await self._caller.call(zdr_call())
        return await _read(answer, lambda: listing_of(read_rows(answer), Endpoint))

    async def endpoints(self, model_id: str) -> ModelEndpoints:
        """A model ("author/slug") with every endpoint that serves it."""
        answer = await self._caller.call(endpoints_call(model_id))
        return await _read(answer, partial(read_one, answer, ModelEndpoints))

    async def _models(self, path: str, query: Query) -> Listing[Model]:
        call = Call("GET", path, query=query)
        return await Pager(self._caller, call, Model, "id", page=MODELS_PAGE).everything()


async def _read(answer: Answer, read: Callable[[], T]) -> T:
    """What ``read`` makes of an answer with endpoints."""
    data = answer.json.get("data") if isinstance(answer.json, dict) else None
    rows = data.get("endpoints") if isinstance(data, dict) else data
    return await run_by_size(read, len(rows) if isinstance(rows, list) else 0, LARGE_MODEL)


def _author_and_slug(model_id: str) -> dict[str, str]:
    """The path's parameters. Raises InvalidRequestError for what is no model identifier."""
    author, slash, slug = model_id.partition("/")
    if not slash:
        raise InvalidRequestError([Problem("model_id", "must have the form author/slug")])
    return {"author": author, "slug": slug}


class ProvidersService:
    """The companies that serve endpoints."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self) -> Listing[Provider]:
        """Every provider; the API does not page them. Raises GatewayError."""
        answer = await self._caller.call(providers_call())
        return listing_of(read_rows(answer), Provider, "slug")
