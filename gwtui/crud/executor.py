"""The executor of writes: intent on disk, exactly one request, outcome on disk.

Intents and outcomes go to the journal, which knows what is open, outcomes to the audit log, too
(``WriteLog``).

A write is never retried: the API has no idempotency key, and a blind second request could make a
live key that nobody knows. The request runs in a task of the executor, so that neither a closed
screen nor a cancelled worker can interrupt it; ``settle`` waits for it when the program ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pydantic import JsonValue

from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError, NotSentError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import request_ids
from gwtui.crud.plan import Applied, Change, Confirmation, Outcome, Plan, Refused, Unknown
from gwtui.crud.undo_list import UndoList
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.audit import FILE_NAME, AuditEntry, AuditLog, AuditOutcome, Operator
from gwtui.local.journal import DIED, Event, Journal, JournalEntry, OpenIntent, this_process
from gwtui.local.sealed_keys import SealError

T = TypeVar("T")

_LAST_LINES = 1.0
"""Seconds for writing down what is known of writes that are waited for no longer."""
NOT_WRITTEN = "(not written down)"
"""Stands for what a private change says."""
KeyLabel = Callable[[], str | None]
"""Gives the label of the management key in use, None while it is not known."""

_OUTCOMES: dict[Event, AuditOutcome] = {
    "applied": "applied",
    "refused": "refused",
    "unknown": "unknown",
    "resolved": "resolved",
}


class WriteLog:
    """Journal and audit log of one connection. The methods block: call them in a thread.

    ``journal_fault`` and ``audit_fault`` say why the last line could not be written, None when it
    was.
    """

    def __init__(
        self, connection: Connection, journal: Journal, audit: AuditLog | None, clock: Clock
    ) -> None:
        self.journal = journal
        self.audit = audit or AuditLog(journal.path.with_name(FILE_NAME))
        self.key_label: KeyLabel = lambda: None
        self.journal_fault: str | None = None
        self.audit_fault: str | None = None
        self._connection = connection
        self._clock = clock
        self._operator = Operator.present()

    def announce(self, confirmation: Confirmation[Any]) -> None:
        """Journal that a plan is about to be sent. Raises OSError, ValueError, TypeError."""
        details = {
            **self._facts(confirmation),
            "before": dict(confirmation.plan.before),
            "process": this_process(),
        }
        self.journal.record(
            JournalEntry(confirmation.plan.id, "intent", self._clock.now(), details)
        )

    def applied(
        self, confirmation: Confirmation[Any], identity: str | None, request_id: str | None
    ) -> None:
        """The gateway did it."""
        self._close(confirmation, "applied", {"identity": identity, "request_id": request_id})

    def refused(
        self, confirmation: Confirmation[Any], error: GatewayError, request_id: str | None
    ) -> None:
        """Nothing changed."""
        self._close(confirmation, "refused", _fault(error, request_id))

    def rejected(self, confirmation: Confirmation[Any], error: GatewayError) -> None:
        """It was agreed to, but refused before it could be announced: the audit log alone."""
        for each in confirmation.each():
            facts = {
                name: value for name, value in _fault(error, None).items() if value is not None
            }
            self._audit(each.plan.id, "refused", {**self._facts(each), **facts})

    def unknown(
        self, confirmation: Confirmation[Any], error: GatewayError, request_id: str | None
    ) -> None:
        """It may have happened or not."""
        self._close(confirmation, "unknown", _fault(error, request_id))

    def resolve(self, intent: OpenIntent, finding: str, identity: str | None = None) -> None:
        """Close a write in doubt: a person found out what became of it.

        ``identity`` is that of what it made, where a person pointed at it. Raises OSError when the
        journal cannot be written: it is in doubt still.
        """
        now = self._clock.now()
        found: dict[str, JsonValue] = {"message": finding}
        if identity is not None:
            found["identity"] = identity
        self.journal.record(JournalEntry(intent.id, "resolved", now, found))
        who = {"user": self._operator.user, "host": self._operator.host, **found}
        self._audit(intent.id, "resolved", {**intent.details, **who})

    def tidy(self) -> None:
        """At the start: take old lines out of the journal, close what an earlier run left open.

        A write whose program died before the outcome is "unknown" from here on.
        """
        now = self._clock.now()
        try:
            self.journal.compact(now)
            for intent in self.journal.give_up_dead(now):
                self._audit(intent.id, "unknown", {**intent.details, "message": DIED})
        except OSError as error:
            self.journal_fault = reason(error)

    def _close(
        self, confirmation: Confirmation[Any], event: Event, details: dict[str, JsonValue]
    ) -> None:
        plan = confirmation.plan
        try:
            self.journal.record(JournalEntry(plan.id, event, self._clock.now(), details))
        except OSError as error:
            # The intent stays open, which is the safe side.
            self.journal_fault = reason(error)
        else:
            self.journal_fault = None
        facts = {name: value for name, value in details.items() if value is not None}
        self._audit(plan.id, event, {**self._facts(confirmation), **facts})

    def _audit(self, plan: str, outcome: Event, facts: dict[str, JsonValue]) -> None:
        at = self._clock.now()
        try:
            entry = AuditEntry.of(facts, id=plan, at=at, outcome=_OUTCOMES[outcome])
            if entry is not None:
                self.audit.record(entry)
        except (OSError, TypeError, ValueError) as error:
            self.audit_fault = reason(error)
        else:
            self.audit_fault = None

    def _facts(self, confirmation: Confirmation[Any]) -> dict[str, JsonValue]:
        """Who and what, without any secret."""
        plan, connection = confirmation.plan, self._connection
        return {
            "user": self._operator.user,
            "host": self._operator.host,
            "profile": connection.label,
            "gateway": connection.base_url,
            "key": self.key_label() or "",
            "token_source": connection.token_source,
            "action": plan.action,
            "title": plan.title,
            "resource": plan.resource,
            "identity": plan.identity,
            "consent": confirmation.by,
            "undoes": plan.undoes,
            "changes": [_change(change) for change in plan.changes],
            "summary": dict(plan.summary),
        }


def _change(change: Change) -> dict[str, JsonValue]:
    after = NOT_WRITTEN if change.private else change.after
    before = NOT_WRITTEN if change.private and change.before is not None else change.before
    return {"field": change.field, "before": before, "after": after}


def reason(error: Exception) -> str:
    """Why something could not be written, for a person."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _fault(error: GatewayError, request_id: str | None) -> dict[str, JsonValue]:
    return {
        "error": type(error).__name__,
        "status": error.status,
        "message": error.message,
        "request_id": error.request_id or request_id,
    }


class WriteExecutor:
    """Carries plans out against one gateway, each at most once."""

    def __init__(
        self,
        client: GatewayClient,
        journal: Journal,
        clock: Clock = SYSTEM_CLOCK,
        *,
        audit: AuditLog | None = None,
    ) -> None:
        self._client = client
        self.write_log = WriteLog(client.connection, journal, audit, clock)
        """Where intents and outcomes are written; the audit log lies beside the journal."""
        self._tasks: set[asyncio.Task[object]] = set()
        self._executions: set[_Execution[Any]] = set()
        self._under_way: dict[str, str] = {}
        self._spent: set[str] = set()
        self.undo = UndoList(clock.now)
        """What was carried out in this session, to be taken back."""

    @property
    def in_flight(self) -> int:
        """How many writes are under way."""
        return len(self._tasks)

    @property
    def journal(self) -> Journal:
        """Where intents and outcomes are written."""
        return self.write_log.journal

    @property
    def journal_fault(self) -> str | None:
        """Why the last outcome could not be journaled; None when it was."""
        return self.write_log.journal_fault

    @property
    def audit_fault(self) -> str | None:
        """Why the last line of the audit log could not be written; None when it was."""
        return self.write_log.audit_fault

    async def execute(self, confirmation: Confirmation[T]) -> Outcome[T]:
        """Send the agreed plan's one request and say what became of it. No GatewayError is raised.

        Refused without sending: a plan with obstacles, one that was carried out before, a second
        change of the same resource while one is under way, and any plan whose intent cannot be
        journaled. Cancelling the caller does not cancel the request. A plan of several parts is
        carried out part by part: ValueError.
        """
        plan = confirmation.plan
        if plan.parts:
            raise ValueError("a plan of several requests is carried out part by part")
        if plan.obstacles:
            return await self.reject(confirmation, " ".join(plan.obstacles))
        claim = _claim(plan)
        if plan.id in self._spent:
            return Refused(NotSentError("This change was sent already; it is not sent twice."))
        if claim in self._under_way:
            return await self.reject(
                confirmation,
                f"Not sent: “{self._under_way[claim]}” is still under way. "
                "Wait for its answer, then try again.",
            )
        self._spent.add(plan.id)
        self._under_way[claim] = plan.title
        execution = _Execution(self, confirmation)
        task = asyncio.create_task(execution.run(), name=f"write {plan.action}")
        self._tasks.add(task)
        self._executions.add(execution)

        def done(finished: asyncio.Task[object]) -> None:
            self._tasks.discard(finished)
            self._executions.discard(execution)
            self._under_way.pop(claim, None)

        task.add_done_callback(done)
        return await asyncio.shield(task)

    async def reject(self, confirmation: Confirmation[Any], why: str) -> Refused:
        """Refuse what was agreed to without sending it. That it was tried is in the audit log."""
        error = NotSentError(why)
        await asyncio.to_thread(self.write_log.rejected, confirmation, error)
        return Refused(error)

    async def settle(self, timeout: float) -> int:  # noqa: ASYNC109 - a bound, not an error
        """Wait up to ``timeout`` seconds for writes under way; how many are still not done."""
        tasks = set(self._tasks)
        if not tasks:
            return 0
        _, pending = await asyncio.wait(tasks, timeout=timeout)
        return len(pending)

    async def give_up(self) -> None:
        """Wait no longer for writes under way: their outcome is written down as unknown."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_LINES)

    def abandon(self) -> None:
        """Write down what is known of the writes that were sent, before the process ends hard.

        From any thread. What was not sent keeps its intent, which the next start finds.
        """
        for execution in tuple(self._executions):
            execution.abandon()


class _Execution(Generic[T]):
    """One plan on its way."""

    def __init__(self, executor: WriteExecutor, confirmation: Confirmation[T]) -> None:
        self._executor = executor
        self._write_log = executor.write_log
        self._confirmation = confirmation
        self._plan = confirmation.plan
        self._sent = False
        self._outcome: Outcome[T] | None = None
        self._request_id: str | None = None
        self._finishing = threading.Lock()

    async def run(self) -> Outcome[T]:
        try:
            return await self._pass()
        except asyncio.CancelledError:
            # The event loop is being torn down: say at once, without a thread, what is known.
            if self._sent:
                self.abandon()
            else:
                unsent = NotSentError("the session ended before it was sent")
                self._write_log.refused(self._confirmation, unsent, None)
            raise

    async def _pass(self) -> Outcome[T]:
        refusal = await self._announce()
        if refusal is not None:
            return refusal
        self._sent = True
        self._outcome = await self._send()
        return await asyncio.to_thread(self._finish, self._outcome)

    def abandon(self) -> None:
        """Write the outcome down; without an answer it is unknown. Nothing if it was not sent."""
        if self._outcome is not None:
            self._finish(self._outcome)
        elif self._sent and self._finishing.acquire(blocking=False):
            lost = GatewayError("the session ended before the answer came")
            self._write_log.unknown(self._confirmation, lost, None)

    def _finish(self, outcome: Outcome[T]) -> Outcome[T]:
        """Bring the answer into safety, then write the outcome down; once, whoever comes first."""
        if not self._finishing.acquire(blocking=False):
            return outcome
        match outcome:
            case Applied(value):
                outcome = Applied(value, self._keep(value))
                identity = self._plan.identity
                if self._plan.identify is not None:
                    identity = self._plan.identify(value)
                self._write_log.applied(self._confirmation, identity, self._request_id)
            case Refused(error):
                self._write_log.refused(self._confirmation, error, self._request_id)
            case Unknown(error):
                self._write_log.unknown(self._confirmation, error, self._request_id)
        return outcome

    def _keep(self, value: T) -> str:
        """Why the answer could not be kept, empty when nothing is to be said."""
        try:
            if self._plan.keep is not None:
                self._plan.keep(value)
        except SealError as error:
            return str(error)
        except Exception as error:
            # Its text may hold the answer.
            return f"unexpected {type(error).__name__}"
        return ""

    async def _announce(self) -> Refused | None:
        """Journal the intent; what cannot be journaled is not sent."""
        try:
            await asyncio.to_thread(self._write_log.announce, self._confirmation)
        except (OSError, TypeError, ValueError) as error:
            unsent = NotSentError(
                f"Nothing was sent: the journal {self._executor.journal.path} "
                f"cannot be written ({reason(error)})."
            )
            # The line may stand on the disk all the same.
            await asyncio.to_thread(self._write_log.refused, self._confirmation, unsent, None)
            return Refused(unsent)
        return None

    async def _send(self) -> Outcome[T]:
        with request_ids() as ids:
            try:
                return Applied(await self._plan.send(self._executor._client))
            except GatewayError as error:
                if error.effect == "none":
                    return Refused(error)
                return Unknown(error, self._plan.id)
            except Exception as error:
                # A defect of this program after the request may have left is no proof of failure.
                lost = GatewayError(f"The answer could not be handled ({type(error).__name__}).")
                lost.__cause__ = error
                return Unknown(lost, self._plan.id)
            finally:
                self._request_id = ids[-1] if ids else None


def _claim(plan: Plan[T]) -> str:
    """What two plans must share to get in each other's way; a creation has only its content."""
    if plan.identity is not None:
        return f"{plan.resource}/{plan.identity}"
    return f"{plan.action} {json.dumps(dict(plan.summary), sort_keys=True, default=str)}"
