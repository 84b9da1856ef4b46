"""The vocabulary in which every route is declared.

An operation says what it takes, who may call it and what it answers. The router, authentication,
validation, error mapping and the OpenAPI document are all derived from the declarations, so that a
new resource is one file in ``routes`` and one line in ``routes/__init__.py``.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import JsonValue
from starlette.responses import Response

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.domain.clock import Clock
from gwtui.embedded.queries import QueryParameter
from gwtui.embedded.responses import ResponseSchema
from gwtui.embedded.store.byok import SecretBox
from gwtui.embedded.store.documents import DatabaseConnection

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import Catalog
    from gwtui.embedded.simulator.usage import UsageProfile

Body = TypeVar("Body", bound=RequestModel)
T = TypeVar("T")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class Access(Enum):
    """Who may call an operation."""

    PUBLIC = "public"
    """Anyone. A key may be shown and then has to be a good one."""
    ANY_KEY = "any key"
    INFERENCE = "ordinary key"
    """Uses models: management keys are refused, in the words of inference contract section 5."""
    MANAGEMENT = "management key"


@dataclass(frozen=True, slots=True)
class Principal:
    """The key that asks."""

    key_hash: str
    is_management: bool
    user_id: str | None


@dataclass(frozen=True, slots=True)
class Site:
    """What does not change while the gateway runs."""

    dialect: Dialect
    clock: Clock
    seed: int
    """What the simulated world is made of."""
    secrets: SecretBox
    description: Callable[[], Mapping[str, Any]]
    """Gives the OpenAPI document."""
    profiles: Mapping[str, UsageProfile]
    """What the clients of the simulated keys ask for, by key hash."""

    @property
    def catalog(self) -> Catalog:
        """The models and their endpoints; built when somebody asks for them first."""
        from gwtui.embedded.simulator.catalog import build_catalog  # noqa: PLC0415 - seldom wanted

        return build_catalog(self.seed)


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """One request after every check: a handler only has to do its own work.

    ``db`` is inside a transaction that is committed when the handler returns and undone when it
    raises.
    """

    site: Site
    db: DatabaseConnection
    now: datetime
    caller: Principal | None
    path: Mapping[str, str]
    query: Mapping[str, Any]
    given_query: tuple[tuple[str, str], ...]
    """The query as it came, for links to the next page."""
    body: RequestModel | None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body_as(self, model: type[Body]) -> Body:
        """The validated body. Raises TypeError when the operation declares another model."""
        if not isinstance(self.body, model):
            raise TypeError(f"the operation does not take a {model.__name__}")
        return self.body

    @property
    def known_caller(self) -> Principal:
        """The caller of an operation that is not public. Raises TypeError on a public one."""
        if self.caller is None:
            raise TypeError("a public operation has no caller")
        return self.caller


class Responder(Protocol):
    """What goes on after its transaction with a request that takes a while."""

    async def carry_out(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in a transaction that writes, as soon as nobody else does.

        It is finished even when the caller is cancelled. Raises DatabaseBusyError, with nothing
        done, when that takes too long.
        """
        ...

    def respond(
        self, status: int, content: Any, headers: Mapping[str, str] | None = None
    ) -> Response:
        """An answer in the dialect's names."""
        ...

    def headers(self) -> dict[str, str]:
        """The headers of every answer: its request id, its date by the gateway's own clock."""
        ...


Deferred = Callable[[Responder], Awaitable[Response]]
"""What a handler gives whose answer takes a while: it goes on outside of the transaction."""
Handler = Callable[[OperationRequest], JsonValue | Deferred]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one path below /api/v1."""

    method: Method
    path: str
    operation_id: str
    summary: str
    tag: str
    access: Access = Access.MANAGEMENT
    handler: Handler
    answer: ResponseSchema
    status: int = 200
    query: tuple[QueryParameter, ...] = ()
    body: type[RequestModel] | None = None
    refusals: tuple[int, ...] = ()
    """Documented error statuses beyond those that follow from the rest of the declaration."""
    streams: type[ResponseModel] | None = None
    """What each event of its stream is, where the request can ask for one."""
    erases: bool = False
    """Whether what it deletes or overwrites must not be left in any file."""

    @property
    def writes(self) -> bool:
        """Whether the operation may change anything."""
        return self.method != "GET"

    @property
    def writes_at_once(self) -> bool:
        """Whether its own transaction does; a request to a model is booked at its end."""
        return self.writes and self.access is not Access.INFERENCE

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """Names of the parameters in the path, in order."""
        return tuple(_PATH_PARAMETER.findall(self.path))

    @property
    def error_statuses(self) -> tuple[int, ...]:
        """Every error status that the operation documents, in order."""
        statuses = {401, 500, *self.refusals}
        if self.access is Access.MANAGEMENT:
            statuses.add(403)
        if self.query or self.body is not None:
            statuses.add(400)
        if self.path_parameters:
            statuses.add(404)
        return tuple(sorted(statuses))
