"""What is written down of every write: the journal, which knows what is open, and the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import JsonValue

from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.crud.plan import Change, Confirmation
from gwtui.domain.clock import Clock
from gwtui.local.audit import FILE_NAME, AuditEntry, AuditLog, AuditOutcome, Operator
from gwtui.local.journal import DIED, Event, Journal, JournalEntry, OpenIntent, this_process

NOT_WRITTEN = "(not written down)"
"""Stands for what a private change says."""
KeyLabel = Callable[[], str | None]
"""Gives the label of the management key in use, None while it is not known."""


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


_OUTCOMES: dict[Event, AuditOutcome] = {
    "applied": "applied",
    "refused": "refused",
    "unknown": "unknown",
    "resolved": "resolved",
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
