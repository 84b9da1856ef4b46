"""The ASGI application: all routes of /api/v1, generated from the declared operations."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from email.utils import format_datetime
from typing import Any

from pydantic import JsonValue
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gwtui.contract import errors
from gwtui.contract.request import RequestModel
from gwtui.embedded.auth import admit
from gwtui.embedded.messages import (
    Refusal,
    collect,
    error_body,
    parse,
    read_query,
)
from gwtui.embedded.operations import Deferred, Operation, OperationRequest, Site
from gwtui.embedded.routes import operations_at
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import Document
from gwtui.embedded.store.ledger import UsageLedger

METHOD_NOT_ALLOWED = "Method not allowed"

log = logging.getLogger("gwtui.embedded")
log.addHandler(logging.NullHandler())


class Responder:
    """Authenticates and validates a request, and runs its handler in one transaction.

    Unexpected errors become a documented 500 and a log line.
    """

    def __init__(self, site: Site, database: Database, ledger: UsageLedger) -> None:
        self._site = site
        self.database = database
        self._ledger = ledger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        request = Request(scope, receive)
        methods, scope["path_params"] = operations_at(scope["path"])
        operation = methods.get(request.method)
        if operation is not None:
            response = await self._answer(operation, request)
        elif methods:
            allowed = {"Allow": ", ".join(methods)}
            response = self.respond(405, error_body(405, METHOD_NOT_ALLOWED), allowed)
        else:
            response = self.respond(404, error_body(404, errors.NOT_FOUND))
        await response(scope, receive, send)

    async def _answer(self, operation: Operation, request: Request) -> Response:
        caller: Document | None = None
        try:
            authorization = request.headers.getlist("authorization")
            with self.database.read() as db:
                caller = admit(db, authorization, operation.access, self._site.clock.now())
            query = read_query(operation.query, request.query_params.multi_items())
            body: RequestModel | None = None
            if operation.body is not None:
                raw, media_type = (
                    await collect(request.stream()),
                    request.headers.get("content-type"),
                )
                body = parse(raw, media_type, operation.body, self._site.dialect)
            content = self._execute(operation, request, caller, query, body)
            if callable(content):
                return await content(self)
            return self.respond(operation.status, content)
        except Refusal as refusal:
            content = error_body(
                refusal.status,
                refusal.message,
                metadata=refusal.metadata,
                service_metadata=refusal.service_metadata,
                user_id=caller["creator_user_id"] if caller else None,
            )
            return self.respond(refusal.status, content, refusal.headers)
        except ClientDisconnect:
            # The client is gone and nobody reads this response; the request had no effect.
            return self.respond(400, error_body(400, errors.INVALID_REQUEST))
        except Exception:
            log.exception("%s %s failed", operation.method, operation.path)
            return self.respond(500, error_body(500, errors.SERVER_ERROR))

    def _execute(
        self,
        operation: Operation,
        request: Request,
        caller: Document | None,
        query: Mapping[str, Any],
        body: RequestModel | None,
    ) -> JsonValue | Deferred:
        # The handler never awaits, so a disconnect cannot interrupt it halfway.
        now = self._site.clock.now()
        self._ledger.catch_up(now, exactly=operation.writes_at_once)
        with self.database.write() if operation.writes_at_once else self.database.read() as db:
            return operation.handler(
                OperationRequest(
                    site=self._site,
                    db=db,
                    now=now,
                    caller=caller,
                    path=request.path_params,
                    query=query,
                    given_query=tuple(request.query_params.multi_items()),
                    body=body,
                    headers=request.headers,
                )
            )

    def respond(
        self, status: int, content: Any, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return a JSON response in the field names of the dialect."""
        text = _encode(self._site.dialect.to_wire(content))
        given = {**self.headers(), **(headers or {})}
        return Response(text.encode("utf-8"), status, given, "application/json")

    def headers(self) -> dict[str, str]:
        """Return the headers of every response: a new request id and the date."""
        date = format_datetime(self._site.clock.now(), usegmt=True)
        return {"Cache-Control": "no-store", "X-Request-Id": new_request_id(), "Date": date}


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def new_request_id() -> str:
    """Return a new response identifier."""
    return f"req-{uuid.uuid4().hex}"
