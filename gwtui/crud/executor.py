"""The executor of writes: intent on disk, exactly one request, outcome on disk.

A write is never retried: the API has no idempotency key, and a blind second request could make a
live key that nobody knows. The request runs in a task of the executor, so that neither a closed
screen nor a cancelled worker can tear it off half way; ``settle`` lets a program wait for it at its
end.
"""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any, Generic, TypeVar

from gwtui.client.errors import GatewayError, NotSentError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import request_ids
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan, Refused, Unknown
from gwtui.crud.undo import UndoList
from gwtui.crud.write_log import WriteLog, reason
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.audit import AuditLog
from gwtui.local.journal import Journal
from gwtui.local.sealed_keys import SealError

T = TypeVar("T")

_LAST_LINES = 1.0
"""Seconds for writing down what is known of writes that are waited for no longer."""


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
