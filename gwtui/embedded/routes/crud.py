"""The operations that are the same for every resource, and what routes share.

A resource says how its documents are found and shown, and what is special about creating, changing
and deleting one; method, path, access, answer and handler follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.queries import PAGING, QueryParameter
from gwtui.embedded.responses import DELETED, invalid, not_found, one, page
from gwtui.embedded.store import account
from gwtui.embedded.store.documents import Document, Kind
from gwtui.embedded.store.kinds import WORKSPACES


def _by_identity(
    resource: StoredResource, call: OperationRequest, identity: str
) -> Document | None:
    return resource.kind.document(call.db, identity.lower())


def _as_stored(_call: OperationRequest, document: Document) -> JsonValue:
    return document


@dataclass(frozen=True, kw_only=True)
class StoredResource:
    """A kind of document that can be listed, created, read, changed and deleted."""

    kind: Kind[Any]
    path: str
    """Of one document: ``/byok/{id}``. The list and the creation are one segment above."""
    name: str
    """In the names of operations: ``getByok``."""
    plural: str
    noun: str
    tag: str
    find: Callable[[StoredResource, OperationRequest, str], Document | None] = _by_identity
    """The document of an identity, as it stands in the path."""
    show: Callable[[OperationRequest, Document], JsonValue] = _as_stored
    """The document with what is computed for the answer."""
    refusals: tuple[int, ...] = ()
    """Documented by every operation."""

    def found(self, call: OperationRequest) -> Document:
        """The document that the path names. Raises a 404."""
        (identity,) = call.path.values()
        document = self.find(self, call, identity)
        if document is None:
            raise not_found()
        return document

    def data(self, call: OperationRequest, document: Document) -> dict[str, JsonValue]:
        """The answer that shows a document."""
        return {"data": self.show(call, document)}

    def list(
        self,
        where: Callable[[OperationRequest], Condition],
        *,
        query: tuple[QueryParameter, ...] = (),
    ) -> Operation:
        """The list, page by page, of the documents for which a condition holds."""

        def handle(call: OperationRequest) -> JsonValue:
            return page_of(
                call,
                self.kind,
                where(call),
                lambda found: [self.show(call, each) for each in found],
            )

        return self.listed_by(handle, query=query)

    def listed_by(
        self, handle: Callable[[OperationRequest], JsonValue], *, query: tuple[QueryParameter, ...]
    ) -> Operation:
        """The list, with a handler of its own."""
        return Operation(
            method="GET",
            path=self.path.rpartition("/")[0],
            operation_id=f"list{self.plural}",
            summary=f"List {self.noun}s",
            tag=self.tag,
            handler=handle,
            answer=page(self.kind.model),
            query=(*PAGING, *query),
            refusals=self.refusals,
        )

    def create(
        self,
        body: type[RequestModel],
        make: Callable[[OperationRequest], tuple[Document, bytes | None]],
    ) -> Operation:
        """The creation; ``make`` gives the document and the secret beside it."""

        def handle(call: OperationRequest) -> JsonValue:
            document, secret = make(call)
            self.kind.insert(call.db, document, secret)
            return self.data(call, document)

        return Operation(
            method="POST",
            path=self.path.rpartition("/")[0],
            operation_id=f"create{self.name}",
            summary=f"Create a {self.noun}",
            tag=self.tag,
            handler=handle,
            answer=one(self.kind.model),
            status=201,
            body=body,
            refusals=self.refusals,
        )

    def get(self, summary: str = "") -> Operation:
        """One document."""
        return Operation(
            method="GET",
            path=self.path,
            operation_id=f"get{self.name}",
            summary=summary or f"Get a {self.noun}",
            tag=self.tag,
            handler=lambda call: self.data(call, self.found(call)),
            answer=one(self.kind.model),
            refusals=self.refusals,
        )

    def update(
        self,
        body: type[RequestModel],
        change: Callable[[OperationRequest], Document],
        *,
        summary: str = "",
        refusals: tuple[int, ...] = (),
        erases: bool = False,
    ) -> Operation:
        """A change; ``change`` carries it out and gives the document as it is then."""
        return Operation(
            method="PATCH",
            path=self.path,
            operation_id=f"update{self.name}",
            summary=summary or f"Update a {self.noun}",
            tag=self.tag,
            handler=lambda call: self.data(call, change(call)),
            answer=one(self.kind.model),
            body=body,
            refusals=(*refusals, *self.refusals),
            erases=erases,
        )

    def changed(self, call: OperationRequest, document: Document, changes: Document) -> Document:
        """Store changes, with ``updated_at`` when any of them really differs; the document then."""
        new = {**document, **changes}
        if new == document:
            return document
        if "updated_at" in document:
            new["updated_at"] = timestamp_text(call.now)
        self.kind.replace(call.db, new)
        return new

    def delete(
        self,
        remove: Callable[[OperationRequest, Document], None],
        *,
        summary: str = "",
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
            summary=summary or f"Delete a {self.noun}",
            tag=self.tag,
            handler=handle,
            answer=DELETED,
            query=query,
            refusals=self.refusals,
            erases=erases,
        )


Condition = tuple[str, Sequence[Any]]
"""A condition on the documents of a kind, with its values."""
EVERY: Condition = ("1", ())


def page_of(
    call: OperationRequest,
    kind: Kind[Any],
    condition: Condition,
    show: Callable[[Sequence[Document]], Sequence[JsonValue]] = list,
) -> JsonValue:
    """The page that a query asks for, of the documents for which a condition holds."""
    offset, limit = call.query["offset"], call.query["limit"]
    found = kind.listed(call.db, *condition, offset=offset, limit=limit)
    return {"data": list(show(found)), "total_count": kind.count(call.db, *condition)}


def changes_in(request: RequestModel, *apart: str) -> Document:
    """The fields that a request sets, but for some of them, as JSON values."""
    return request.model_dump(mode="json", exclude_unset=True, exclude=set(apart))


def workspace_of(call: OperationRequest, workspace_id: str | None) -> str:
    """The id of the workspace that a body or query names, of the default one when it names none.

    Raises a 400 when there is no such workspace, or no default one any more.
    """
    found: str = workspace_id or account.setting(call.db, "default_workspace_id")
    if WORKSPACES.document(call.db, found) is None:
        message = "there is no such workspace"
        missing = "is required, there is no default workspace"
        raise invalid([Problem("workspace_id", message if workspace_id else missing)])
    return found


def workspace_in_path(call: OperationRequest) -> Document:
    """The workspace that the path names by UUID or slug. Raises a 404 when there is none."""
    workspace = find_workspace(call, call.path["id"])
    if workspace is None:
        raise not_found()
    return workspace


def find_workspace(call: OperationRequest, id_or_slug: str) -> Document | None:
    """The workspace of a UUID or a slug; the UUID wins."""
    where = "id = ?1 OR slug = ?2 ORDER BY id = ?1 DESC LIMIT 1"
    found = WORKSPACES.documents(call.db, where, (id_or_slug.lower(), id_or_slug))
    return found[0] if found else None


def is_default(call: OperationRequest, workspace: Document) -> bool:
    """Whether operations without a workspace_id mean this one."""
    return bool(workspace["id"] == account.setting(call.db, "default_workspace_id"))
