"""The operations that are the same for every resource, and what routes share.

A resource module says how its records are found and shown, and what creating, changing and deleting
one does; method, path, access, answer and handler follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from pydantic import JsonValue

from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.queries import PAGING, QueryParameter
from gwtui.embedded.responses import DELETED, invalid, not_found, one, page
from gwtui.embedded.store import workspaces
from gwtui.embedded.store.workspaces import WorkspaceRecord
from gwtui.lazy_dataclass import dataclass

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PagedList(Generic[R]):
    """A list that comes in pages.

    ``rows`` and ``count`` are functions of the store: both take the database and then ``scope``,
    which says what is listed; ``rows`` takes ``offset`` and ``limit`` as well.
    """

    rows: Callable[..., Sequence[R]]
    count: Callable[..., int]
    show: Callable[[OperationRequest, R], JsonValue]
    scope: Callable[[OperationRequest], Sequence[Any]] = lambda _call: ()

    def answer(self, call: OperationRequest) -> JsonValue:
        """The page that the query asks for, and how many entries there are."""
        scope = self.scope(call)
        offset, limit = call.query["offset"], call.query["limit"]
        found = self.rows(call.db, *scope, offset=offset, limit=limit)
        return {
            "data": [self.show(call, record) for record in found],
            "total_count": self.count(call.db, *scope),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrudRoutes(Generic[R]):
    """A kind of record that can be listed, created, read, changed and deleted."""

    path: str
    """Of one record: ``/byok/{id}``. The list and the creation are one segment above."""
    name: str
    """In the names of operations: ``getByok``."""
    plural: str
    tag: str
    model: type[ResponseModel]
    find: Callable[[OperationRequest, str], R | None]
    """The record of an identity, as it stands in the path."""
    show: Callable[[OperationRequest, R], JsonValue]
    """The wire form of a record."""
    refusals: tuple[int, ...] = ()
    """Documented by every operation."""

    def found(self, call: OperationRequest, identity: str | None = None) -> R:
        """The record of an identity, by default the one that the path names. Raises a 404."""
        if identity is None:
            (identity,) = call.path.values()
        record = self.find(call, identity)
        if record is None:
            raise not_found()
        return record

    def data(self, call: OperationRequest, identity: str | None = None) -> dict[str, JsonValue]:
        """The answer that shows the record of an identity. Raises a 404."""
        return {"data": self.show(call, self.found(call, identity))}

    def list(
        self,
        summary: str,
        rows: Callable[..., Sequence[R]],
        count: Callable[..., int],
        *,
        scope: Callable[[OperationRequest], Sequence[Any]] = lambda _call: (),
        query: tuple[QueryParameter, ...] = (),
    ) -> Operation:
        """The list, page by page, as ``PagedList`` takes it."""
        return Operation(
            method="GET",
            path=self.path.rpartition("/")[0],
            operation_id=f"list{self.plural}",
            summary=summary,
            tag=self.tag,
            handler=PagedList(rows, count, self.show, scope).answer,
            answer=page(self.model),
            query=(*PAGING, *query),
            refusals=self.refusals,
        )

    def create(
        self,
        summary: str,
        body: type[RequestModel],
        make: Callable[[OperationRequest], str],
    ) -> Operation:
        """The creation; ``make`` stores a record and gives its identity."""
        return Operation(
            method="POST",
            path=self.path.rpartition("/")[0],
            operation_id=f"create{self.name}",
            summary=summary,
            tag=self.tag,
            handler=lambda call: self.data(call, make(call)),
            answer=one(self.model),
            status=201,
            body=body,
            refusals=self.refusals,
        )

    def get(self, summary: str) -> Operation:
        """One record."""
        return Operation(
            method="GET",
            path=self.path,
            operation_id=f"get{self.name}",
            summary=summary,
            tag=self.tag,
            handler=self.data,
            answer=one(self.model),
            refusals=self.refusals,
        )

    def update(
        self,
        summary: str,
        body: type[RequestModel],
        change: Callable[[OperationRequest], str],
        *,
        refusals: tuple[int, ...] = (),
        erases: bool = False,
    ) -> Operation:
        """A change; ``change`` carries it out and gives the identity of what it changed."""
        return Operation(
            method="PATCH",
            path=self.path,
            operation_id=f"update{self.name}",
            summary=summary,
            tag=self.tag,
            handler=lambda call: self.data(call, change(call)),
            answer=one(self.model),
            body=body,
            refusals=(*refusals, *self.refusals),
            erases=erases,
        )

    def delete(
        self,
        summary: str,
        remove: Callable[[OperationRequest, R], None],
        *,
        query: tuple[QueryParameter, ...] = (),
        erases: bool = False,
    ) -> Operation:
        """A deletion; ``remove`` carries it out."""

        def handle(call: OperationRequest) -> JsonValue:
            remove(call, self.found(call))
            return {"deleted": True}

        return Operation(
            method="DELETE",
            path=self.path,
            operation_id=f"delete{self.name}",
            summary=summary,
            tag=self.tag,
            handler=handle,
            answer=DELETED,
            query=query,
            refusals=self.refusals,
            erases=erases,
        )


def changes_in(request: RequestModel, *apart: str) -> dict[str, Any]:
    """The fields that a request sets, but for some of them, with lists as tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name in request.model_fields_set.difference(apart)
        for value in [getattr(request, name)]
    }


def workspace_of(call: OperationRequest, workspace_id: str | None) -> WorkspaceRecord:
    """The workspace that a body or query names by its UUID, the default one when it names none.

    Raises a 400 when there is no such workspace, or no default one.
    """
    if not workspace_id:
        return default_workspace(call)
    workspace = workspaces.get(call.db, workspace_id)
    if workspace is None:
        raise invalid([Problem("workspace_id", "there is no such workspace")])
    return workspace


def default_workspace(call: OperationRequest) -> WorkspaceRecord:
    """The default workspace. Raises a 400 once it was deleted."""
    workspace = workspaces.default(call.db)
    if workspace is None:
        raise invalid([Problem("workspace_id", "is required, there is no default workspace")])
    return workspace


def workspace_in_path(call: OperationRequest) -> WorkspaceRecord:
    """The workspace that the path names by UUID or slug. Raises a 404 when there is none."""
    workspace = workspaces.find(call.db, call.path["id"])
    if workspace is None:
        raise not_found()
    return workspace
