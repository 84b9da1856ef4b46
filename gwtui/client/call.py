"""One request and one answer, above the transport: reference names, no bytes, no headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from gwtui.client.errors import InvalidRequestError
from gwtui.contract.request import Problem, RequestModel, problems

Query = dict[str, str | int | bool]
Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
RequestT = TypeVar("RequestT", bound=RequestModel)


@dataclass(frozen=True, slots=True)
class Call:
    """One request. ``template`` is what logs and notices show; it holds no identifier."""

    method: Method
    template: str
    segments: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | int | bool] = field(default_factory=dict)
    body: RequestModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides those that every request has; never a secret."""
    known: bytes | None = None
    """The digest of the answer that the caller holds already: the same one is not read again. Empty
    when none is held; None asks for no digest."""

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing, so that it may be repeated."""
        return self.method == "GET"

    def target(self) -> str:
        """Path and query below the base URL, percent-encoded.

        Raises InvalidRequestError for a segment that would lead to another path, and for text
        that UTF-8 cannot hold: lone surrogates.
        """
        path = self.template
        for name, value in self.segments.items():
            path = path.replace(f"{{{name}}}", _segment(name, value))
        if not self.query:
            return path
        return f"{path}?{'&'.join(_pair(name, value) for name, value in self.query.items())}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: its JSON in reference names, numbers with a fraction as Decimal."""

    status: int
    json: Any = field(repr=False)
    request_id: str | None = None
    generation_id: str | None = None
    """The generation that a request to a model became."""
    digest: bytes = b""
    """Of the body, byte for byte, where the call asked for it."""
    unchanged: bool = False
    """Whether it is the answer that the caller holds already; then there is no ``json``."""
    size: int = 0
    """Bytes of the body, uncompressed."""


class Caller(Protocol):
    """What a service needs: something that carries out calls."""

    async def call(self, call: Call) -> Answer:
        """Carry out one call; raises GatewayError."""
        ...


def validated(request: RequestT, model: type[RequestT]) -> RequestT:
    """The request, validated once more right before it is sent.

    A model built or copied without validation would otherwise slip past the contract. Raises
    InvalidRequestError.
    """
    if not isinstance(request, model):
        raise InvalidRequestError([Problem("", f"must be a {model.__name__}")])
    query_params = {name: getattr(request, name) for name in request.model_fields_set}
    try:
        return model.model_validate(query_params)
    except ValidationError as error:
        refusals = problems(error)
    raise InvalidRequestError(refusals)


def query_params(**values: str | int | bool | None) -> Query:
    """The query parameters that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def _segment(name: str, value: str) -> str:
    """Dots alone would be resolved as path steps, also when percent-encoded."""
    if value in {"", ".", ".."}:
        raise InvalidRequestError([Problem(name, "is not a usable identifier")])
    try:
        return quote(value, safe=":")
    except UnicodeEncodeError:
        pass
    raise InvalidRequestError([Problem(name, "is not a usable identifier")])


@lru_cache(maxsize=256, typed=True)  # pages ask for the same, but for where they begin
def _pair(name: str, value: str | int | bool) -> str:
    try:
        return urlencode({name: _text(value)})
    except UnicodeEncodeError:
        pass
    raise InvalidRequestError([Problem(name, "holds a character that cannot be sent")])


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
