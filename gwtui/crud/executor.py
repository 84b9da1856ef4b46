"""Executes writes: record the intent on disk, send exactly one request, record the outcome.

Intents and outcomes go to the ledger (``WriteLog``).

A write is never retried: the API has no idempotency key, and a blind second request could create a
live key that nobody knows. The request runs in a task of the executor, so that neither a closed
screen nor a cancelled worker can interrupt it; ``settle`` waits for it when the program ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError, NotSentError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import request_ids
from gwtui.crud.plan import Applied, Change, Confirmation, Outcome, Plan, Refused, Unknown
from gwtui.crud.undo import UndoList
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.ledger import (
    AuditedChange,
    Ledger,
    LedgerEntry,
    LedgerOutcome,
    Operator,
    this_process,
)

T = TypeVar("T")

_LAST_LINES = 1.0
"""Seconds to wait for cancelled writes to record their outcome."""
NOT_WRITTEN = "(not written down)"
"""Recorded in place of the values of a private change."""
KeyLabel = Callable[[], str | None]
"""Returns the label of the management key in use; None if it is not known yet."""


class WriteLog:
    """The ledger of one connection. The methods block: call them in a thread.

    ``fault`` says why the last entry could not be written; None if it was.
    """

    def __init__(self, connection: Connection, ledger: Ledger, clock: Clock) -> None:
        self.ledger = ledger
        self.key_label: KeyLabel = lambda: None
        self.fault: str | None = None
        self._connection = connection
        self._clock = clock
        self._operator = Operator.present()

    def announce(self, confirmation: Confirmation[Any]) -> None:
        """Record the intent before a request is sent. Raises OSError, ValueError, TypeError."""
        intent = self._entry(confirmation, "intent")
        before = dict(confirmation.plan.before)
        self.ledger.record(replace(intent, before=before, process=this_process()))

    def record(
        self, confirmation: Confirmation[Any], outcome: Outcome[Any], request_id: str | None = None
    ) -> None:
        """Record the outcome for each request of the plan; if that fails, set ``fault``."""
        for part in confirmation.each():
            match outcome:
                case Applied(value):
                    identify = part.plan.identify
                    identity = part.plan.identity if identify is None else identify(value)
                    entry = self._entry(part, "applied")
                    entry = replace(entry, identity=identity, request_id=request_id)
                case Refused(error):
                    entry = _failed(self._entry(part, "refused"), error, request_id)
                case Unknown(error):
                    entry = _failed(self._entry(part, "unknown"), error, request_id)
            self._try(entry)

    def mark_dead_as_unknown(self) -> None:
        """Record "unknown" for the writes of crashed processes that have no outcome.

        Sets ``fault`` if that fails.
        """
        try:
            self.ledger.mark_dead_as_unknown(self._clock.now())
        except OSError as error:
            self.fault = reason(error)

    def _try(self, entry: LedgerEntry) -> None:
        try:
            self.ledger.record(entry)
        except (OSError, TypeError, ValueError) as error:
            # The intent stays unresolved: the user then checks what happened.
            self.fault = reason(error)
        else:
            self.fault = None

    def _entry(self, confirmation: Confirmation[Any], outcome: LedgerOutcome) -> LedgerEntry:
        plan, connection = confirmation.plan, self._connection
        return LedgerEntry(
            id=plan.id,
            at=self._clock.now(),
            outcome=outcome,
            user=self._operator.user,
            host=self._operator.host,
            profile=connection.label,
            gateway=connection.base_url,
            key=self.key_label() or "",
            token_source=connection.token_source,
            action=plan.action,
            title=plan.title,
            resource=plan.resource,
            identity=plan.identity,
            consent=confirmation.by,
            undoes=plan.undoes,
            changes=tuple(map(_written, plan.changes)),
            summary=dict(plan.summary),
            reveals=plan.reveals,
        )


def _written(change: Change) -> AuditedChange:
    after = NOT_WRITTEN if change.private else change.after
    before = NOT_WRITTEN if change.private and change.before is not None else change.before
    return AuditedChange(change.field, before, after)


def reason(error: Exception) -> str:
    """Return why a file could not be written, as text for people."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _failed(entry: LedgerEntry, error: GatewayError, request_id: str | None) -> LedgerEntry:
    return replace(
        entry,
        error=type(error).__name__,
        status=error.status,
        message=error.message,
        request_id=error.request_id or request_id,
    )


class WriteExecutor:
    """Executes confirmed plans against one gateway, each at most once."""

    def __init__(
        self,
        client: GatewayClient,
        ledger: Ledger,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._client = client
        self.write_log = WriteLog(client.connection, ledger, clock)
        """Records intents and outcomes."""
        self._running: dict[asyncio.Task[Any], _Execution[Any]] = {}
        self._spent: set[str] = set()
        self.undo = UndoList(clock.now)
        """The changes of this session that can be undone."""

    @property
    def in_flight(self) -> int:
        """Number of writes in flight."""
        return len(self._running)

    @property
    def ledger(self) -> Ledger:
        """The ledger that holds the intents and outcomes."""
        return self.write_log.ledger

    async def execute(self, confirmation: Confirmation[T]) -> Outcome[T]:
        """Send the request of a confirmed plan and return its outcome. Never raises GatewayError.

        These are refused without sending: a plan with obstacles, a plan that was executed before, a
        change of a resource while another change of it is in flight, and a plan whose intent cannot
        be recorded. Cancelling the caller does not cancel the request. Raises ValueError for a plan
        with parts: execute each part instead.
        """
        plan = confirmation.plan
        if plan.parts:
            raise ValueError("a plan of several requests is carried out part by part")
        if plan.obstacles:
            return await self.reject(confirmation, " ".join(plan.obstacles))
        if plan.id in self._spent:
            return Refused(NotSentError("This change was sent already; it is not sent twice."))
        for other in self._running.values():
            if _claim(other.plan) == _claim(plan):
                why = f"“{other.plan.title}” is still under way. Wait for its response, then"
                return await self.reject(confirmation, f"Not sent: {why} try again.")
        self._spent.add(plan.id)
        execution = _Execution(self, confirmation)
        task = asyncio.create_task(execution.run(), name=f"write {plan.action}")
        self._running[task] = execution
        task.add_done_callback(self._running.pop)
        return await asyncio.shield(task)

    async def reject(self, confirmation: Confirmation[Any], why: str) -> Refused:
        """Refuse a confirmed plan without sending it, and record the refusal."""
        refused = Refused(NotSentError(why))
        await asyncio.to_thread(self.write_log.record, confirmation, refused)
        return refused

    async def settle(self, timeout: float) -> int:  # noqa: ASYNC109 - a bound, not an error
        """Wait up to ``timeout`` seconds for writes in flight; return how many are left."""
        if self._running:
            await asyncio.wait(set(self._running), timeout=timeout)
        return self.in_flight

    async def give_up(self) -> None:
        """Cancel the writes in flight and record the outcome of those that were sent as unknown."""
        tasks = set(self._running)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_LINES)

    def abandon(self) -> None:
        """Record the known state of sent writes before the process is killed; from any thread.

        A write that was not sent keeps its intent, which the next start marks as unknown.
        """
        for execution in tuple(self._running.values()):
            execution.abandon()


class _Execution(Generic[T]):
    """The execution of one plan."""

    def __init__(self, executor: WriteExecutor, confirmation: Confirmation[T]) -> None:
        self._executor = executor
        self._write_log = executor.write_log
        self._confirmation = confirmation
        self.plan = confirmation.plan
        self._sent = False
        self._outcome: Outcome[T] | None = None
        self._request_id: str | None = None
        self._finishing = threading.Lock()

    async def run(self) -> Outcome[T]:
        try:
            refusal = await self._announce()
            if refusal is not None:
                return refusal
            self._sent = True
            self._outcome = await self._send()
            return await asyncio.to_thread(self._finish, self._outcome)
        except asyncio.CancelledError:
            # The event loop is shutting down, so record the outcome without a thread.
            if self._sent:
                self.abandon()
            else:
                unsent = Refused(NotSentError("the session ended before it was sent"))
                self._write_log.record(self._confirmation, unsent)
            raise

    def abandon(self) -> None:
        """Record the outcome, or "unknown" if there is no response. Nothing if it was not sent."""
        if self._outcome is not None:
            self._finish(self._outcome)
        elif self._sent and self._finishing.acquire(blocking=False):
            lost = Unknown(GatewayError("the session ended before the response came"))
            self._write_log.record(self._confirmation, lost)

    def _finish(self, outcome: Outcome[T]) -> Outcome[T]:
        if not self._finishing.acquire(blocking=False):
            return outcome
        self._write_log.record(self._confirmation, outcome, self._request_id)
        return outcome

    async def _announce(self) -> Refused | None:
        try:
            await asyncio.to_thread(self._write_log.announce, self._confirmation)
        except (OSError, TypeError, ValueError) as error:
            unsent = NotSentError(
                f"Not sent: the audit log {self._executor.ledger.path} "
                f"cannot be written ({reason(error)})."
            )
            # The intent may be on disk despite the error.
            await asyncio.to_thread(self._write_log.record, self._confirmation, Refused(unsent))
            return Refused(unsent)
        return None

    async def _send(self) -> Outcome[T]:
        with request_ids() as ids:
            try:
                return Applied(await self.plan.send(self._executor._client))
            except GatewayError as error:
                if error.effect == "none":
                    return Refused(error)
                return Unknown(error, self.plan.id)
            except Exception as error:
                # The request may have been sent: a bug of gwtui does not prove that it failed.
                lost = GatewayError(f"The response could not be handled ({type(error).__name__}).")
                lost.__cause__ = error
                return Unknown(lost, self.plan.id)
            finally:
                self._request_id = ids[-1] if ids else None


def _claim(plan: Plan[T]) -> str:
    if plan.identity is not None:
        return f"{plan.resource}/{plan.identity}"
    return f"{plan.action} {json.dumps(dict(plan.summary), sort_keys=True, default=str)}"
