"""The embedded gateway: one database, one simulated world, one ASGI application."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gwtui.contract import errors
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import RequestModel
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.auth import ISSUED_KEY_NAME, admit, issue
from gwtui.embedded.messages import Refusal, error_body, parse, read_body, read_query
from gwtui.embedded.operations import Deferred, Operation, OperationRequest
from gwtui.embedded.routes import operations_at
from gwtui.embedded.simulator.catalog import Catalog, build_catalog
from gwtui.embedded.store import account
from gwtui.embedded.store.byok import SecretBox
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import KEYS, Document
from gwtui.embedded.store.founding import Content, fill_if_empty, profiles_of
from gwtui.embedded.store.ledger import SimulatedHistory, UsageLedger

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector

METHOD_NOT_ALLOWED = "Method not allowed"

log = logging.getLogger("gwtui.embedded")
log.addHandler(logging.NullHandler())


class EmbeddedGateway:
    """A gateway without a socket: call ``asgi``, or host it with ``hosting``.

    It authenticates and validates each request, and runs its handler in one transaction. Unexpected
    errors become a documented 500 and a log line.
    """

    def __init__(
        self,
        database: Path | None,
        *,
        dialect: Dialect = GENERIC,
        seed: int = 1,
        content: Content = "simulated",
        clock: Clock = SYSTEM_CLOCK,
        faults: FaultInjector | None = None,
    ) -> None:
        """Open a database; a missing file is created, and None is a database in memory.

        ``seed`` and ``content`` only apply to a new database; an existing one keeps its own.
        "empty" is a new account: the catalog, one workspace, no keys and no credits. Raises
        DatabaseInUseError if another process serves the file, DatabaseUnusableError if it is not a
        gateway database, is from another version, or has a damaged key file.
        """
        self.dialect = dialect
        self.clock = clock if faults is None else faults.skewed(clock)
        self.faults = faults
        """The faults to inject; None without fault injection."""
        self.database = Database.serve(database)
        try:
            with self.database.write() as db:
                self.origin = fill_if_empty(db, seed, self.clock.now(), content, dialect)
                self.profiles = profiles_of(db)
                """The usage profiles of the simulated keys, by key hash."""
            self.secrets = SecretBox(self.database.path)
            self._ledger = UsageLedger(self.database, self.profiles)
            self._ledger.catch_up(self.clock.now())
        except BaseException:
            self.close()
            raise
        self.seed = self.origin.seed
        """The seed of the simulated data."""
        self.asgi: ASGIApp = self._serve if faults is None else faults.wrap(self._serve, self.clock)

    @property
    def catalog(self) -> Catalog:
        """The models and their endpoints, built on first use."""
        return build_catalog(self.seed)

    def past(self) -> SimulatedHistory | None:
        """Return the simulated past; None for an account that started empty."""
        if self.origin.content == "empty":
            return None
        self._ledger.catch_up(self.clock.now())
        with self.database.read() as db:
            return SimulatedHistory.of(db, self.origin, self.profiles, self.catalog)

    def issue_key(
        self,
        *,
        management: bool,
        name: str = ISSUED_KEY_NAME,
        workspace_id: str | None = None,
    ) -> str:
        """Issue a key and return its full text, which is not stored.

        ``workspace_id`` is that of an inference key, None for the default workspace; management
        keys have none. Raises NoWorkspaceError for an unknown workspace.
        """
        return issue(
            self.database,
            self.dialect,
            self.clock.now(),
            management=management,
            name=name,
            workspace_id=workspace_id,
        )

    def revoke_management_keys(self, name: str) -> None:
        """Delete all management keys with this name."""
        with self.database.write() as db:
            where = "workspace_id IS NULL AND json_extract(document, '$.name') = ?"
            KEYS.delete(db, where, (name,))

    def change_settings(self, **settings: str | None) -> None:
        """Write settings of the account."""
        with self.database.write() as db:
            account.change(db, **settings)

    def close(self) -> None:
        """Close the database. May be called twice."""
        self.database.close()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
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
                caller = admit(db, authorization, operation.access, self.clock.now())
            query = read_query(operation.query, request.query_params.multi_items())
            body: RequestModel | None = None
            if operation.body is not None:
                raw, media_type = (
                    await read_body(request.stream()),
                    request.headers.get("content-type"),
                )
                body = parse(raw, media_type, operation.body, self.dialect)
            content = self._execute(operation, request, caller, query, body)
            if callable(content):
                return await content()
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
        now = self.clock.now()
        self._ledger.catch_up(now, exactly=operation.writes_at_once)
        with self.database.write() if operation.writes_at_once else self.database.read() as db:
            return operation.handler(
                OperationRequest(
                    site=self,
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
        text = _encode(self.dialect.to_wire(content))
        given = {**self.headers(), **(headers or {})}
        return Response(text.encode("utf-8"), status, given, "application/json")

    def headers(self) -> dict[str, str]:
        """Return the headers of one response, with a new request id and the date."""
        date = format_datetime(self.clock.now(), usegmt=True)
        return {"Cache-Control": "no-store", "X-Request-Id": new_request_id(), "Date": date}


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def new_request_id() -> str:
    """Generate an identifier for the header X-Request-Id."""
    return f"req-{uuid.uuid4().hex}"
