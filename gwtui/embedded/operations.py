"""Declarations of API operations.

An operation declares its parameters, body, access and response. Routing, authentication,
validation, error mapping and the OpenAPI document are derived from the declarations: a new resource
is one file in ``routes``, named after the first segment of its paths.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue
from starlette.responses import Response

from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.messages import (
    DELETED,
    PAGING,
    QueryParameter,
    ResponseSchema,
    data_schema,
    invalid,
    not_found,
    page_schema,
)
from gwtui.embedded.store import account
from gwtui.embedded.store.documents import WORKSPACES, Document, Kind

if TYPE_CHECKING:
    from gwtui.embedded.gateway import EmbeddedGateway


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class Access(Enum):
    """The kind of key that an operation requires."""

    PUBLIC = "public"
    """Anyone; if a key is sent, it must be valid."""
    ANY_KEY = "any key"
    INFERENCE = "inference key"
    """For requests to models, which refuse management keys.

    See section 5 of the inference contract.
    """
    MANAGEMENT = "management key"


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """An authenticated and validated request.

    ``db`` is in a transaction that commits when the handler returns and rolls back when it raises.
    """

    site: EmbeddedGateway
    db: sqlite3.Connection
    now: datetime
    caller: Document | None
    """The document of the calling key; None for an anonymous request."""
    path: Mapping[str, str]
    query: Mapping[str, Any]
    given_query: tuple[tuple[str, str], ...]
    """The raw query, for links to the next page."""
    body: Any
    """The validated request model; None for an operation without a body."""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def known_caller(self) -> Document:
        """The calling key of an operation that is not public. Raises TypeError without one."""
        if self.caller is None:
            raise TypeError("a public operation has no caller")
        return self.caller


Deferred = Callable[[], Awaitable[Response]]
"""A handler of a slow request returns this function, which runs outside the transaction."""
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
    """Error statuses to document, besides those that follow from the other fields."""
    streams: type[ResponseModel] | None = None
    """The model of an event; None for an operation that cannot stream."""

    @property
    def writes(self) -> bool:
        """Whether the operation may change data."""
        return self.method != "GET"

    @property
    def writes_at_once(self) -> bool:
        """Whether the handler needs a write transaction.

        Requests to models do not: they only write when they end, in a transaction of their own.
        """
        return self.writes and self.access is not Access.INFERENCE

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """Names of the path parameters, in order."""
        return tuple(PATH_PARAMETER.findall(self.path))

    @property
    def error_statuses(self) -> tuple[int, ...]:
        """All documented error statuses, in order."""
        statuses = {401, 500, *self.refusals}
        if self.access is Access.MANAGEMENT:
            statuses.add(403)
        if self.query or self.body is not None:
            statuses.add(400)
        if self.path_parameters:
            statuses.add(404)
        return tuple(sorted(statuses))


@dataclass(frozen=True, kw_only=True)
class StoredResource:
    """Makes the list, create, get, update and delete operations of a kind of document."""

    kind: Kind
    path: str
    """Path of one document, such as ``/byok/{id}``; list and create are one segment above."""
    name: str
    """The resource's part of operation identifiers, such as Byok in ``getByok``."""
    plural: str
    noun: str
    tag: str
    find: Callable[[OperationRequest, str], Document | None] | None = None
    """Function that finds the document of a path parameter; by default, it is the id."""
    show: Callable[[OperationRequest, Document], JsonValue] = lambda _call, document: document
    """Function that converts a document to its form in responses, with computed fields."""
    refusals: tuple[int, ...] = ()
    """Error statuses that all its operations document."""

    def document(self, call: OperationRequest) -> Document:
        """Return the document that the path names. Raises a 404 if it does not exist."""
        identity, *_ = call.path.values()
        if self.find is None:
            document = self.kind.get(call.db, identity.lower())
        else:
            document = self.find(call, identity)
        if document is None:
            raise not_found()
        return document

    def data(self, call: OperationRequest, document: Document) -> dict[str, JsonValue]:
        """Return the response data for a document."""
        return {"data": self.show(call, document)}

    def list(
        self,
        where: Callable[[OperationRequest], Condition],
        *,
        query: tuple[QueryParameter, ...] = (),
    ) -> Operation:
        """Return the operation that lists the documents matching a condition, page by page."""
        return self.listed_by(
            lambda call: page_of(
                call,
                self.kind,
                where(call),
                lambda documents: [self.show(call, document) for document in documents],
            ),
            query=query,
        )

    def listed_by(
        self, handle: Callable[[OperationRequest], JsonValue], *, query: tuple[QueryParameter, ...]
    ) -> Operation:
        """Return the list operation with a handler that reads the page itself."""
        return Operation(
            method="GET",
            path=self.path.rpartition("/")[0],
            operation_id=f"list{self.plural}",
            summary=f"List {self.noun}s",
            tag=self.tag,
            handler=handle,
            answer=page_schema(self.kind.model),
            query=(*PAGING, *query),
            refusals=self.refusals,
        )

    def create(
        self,
        body: type[RequestModel],
        make: Callable[[OperationRequest], tuple[Document, bytes | None]],
    ) -> Operation:
        """Return the create operation; ``make`` returns the document and a secret to store."""
        return Operation(
            method="POST",
            path=self.path.rpartition("/")[0],
            operation_id=f"create{self.name}",
            summary=f"Create a {self.noun}",
            tag=self.tag,
            handler=lambda call: self.data(call, self.kind.insert(call.db, *make(call))),
            answer=data_schema(self.kind.model),
            status=201,
            body=body,
            refusals=self.refusals,
        )

    def get(self, summary: str = "") -> Operation:
        """Return the operation that reads one document."""
        return Operation(
            method="GET",
            path=self.path,
            operation_id=f"get{self.name}",
            summary=summary or f"Get a {self.noun}",
            tag=self.tag,
            handler=lambda call: self.data(call, self.document(call)),
            answer=data_schema(self.kind.model),
            refusals=self.refusals,
        )

    def update(
        self,
        body: type[RequestModel],
        change: Callable[[OperationRequest], Document],
        *,
        summary: str = "",
        refusals: tuple[int, ...] = (),
    ) -> Operation:
        """Return the update operation; ``change`` stores changes and returns the document."""
        return Operation(
            method="PATCH",
            path=self.path,
            operation_id=f"update{self.name}",
            summary=summary or f"Update a {self.noun}",
            tag=self.tag,
            handler=lambda call: self.data(call, change(call)),
            answer=data_schema(self.kind.model),
            body=body,
            refusals=(*refusals, *self.refusals),
        )

    def save_changes(
        self, call: OperationRequest, document: Document, changes: Document
    ) -> Document:
        """Store changed fields and return the document; sets ``updated_at`` if any differs."""
        new = {**document, **changes}
        if new == document:
            return document
        if "updated_at" in document:
            new["updated_at"] = timestamp_text(call.now)
        self.kind.replace(call.db, new)
        return new

    def delete(
        self,
        remove: Callable[[OperationRequest, Document], object],
        *,
        summary: str = "",
        query: tuple[QueryParameter, ...] = (),
    ) -> Operation:
        """Return the delete operation; ``remove`` deletes the document."""

        def handle(call: OperationRequest) -> JsonValue:
            remove(call, self.document(call))
            return {"deleted": True}

        return Operation(
            method="DELETE",
            path=self.path,
            operation_id=f"delete{self.name}",
            summary=summary or f"Delete a {self.noun}",
            tag=self.tag,
            handler=handle,
            answer=DELETED,
            query=query,
            refusals=self.refusals,
        )


Condition = tuple[str, Sequence[Any]]
"""An SQL condition on the documents of a kind, with its values."""
EVERY: Condition = ("1", ())


def page_of(
    call: OperationRequest,
    kind: Kind,
    condition: Condition,
    show: Callable[[Sequence[Document]], Sequence[JsonValue]] = list,
) -> JsonValue:
    """Return the requested page of the documents that match a condition."""
    offset, limit = call.query["offset"], call.query["limit"]
    documents = kind.page(call.db, *condition, offset=offset, limit=limit)
    return {"data": list(show(documents)), "total_count": kind.count(call.db, *condition)}


def changes_in(request: RequestModel, *apart: str) -> Document:
    """Return the fields that are set in a request, except those named ``apart``, as JSON values."""
    return request.model_dump(mode="json", exclude_unset=True, exclude=set(apart))


def workspace_of(call: OperationRequest, workspace_id: str | None) -> str:
    """Return the id of the given workspace, or of the default one.

    Raises a 400 if it does not exist, or if the default workspace was deleted.
    """
    identity: str = workspace_id or account.setting(call.db, "default_workspace_id")
    if WORKSPACES.get(call.db, identity) is None:
        message = "there is no such workspace"
        missing = "is required, there is no default workspace"
        raise invalid([Problem("workspace_id", message if workspace_id else missing)])
    return identity
