"""The audit log of this machine: changes, who made them, and their outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, Tone
from gwtui.local.ledger import LedgerEntry, changes_text, summary_text
from gwtui.watch.feeds.ledger import audit_feed

_LONG = 2000
_TONES: Mapping[str, Tone] = {
    "applied": "good",
    "refused": "warn",
    "unknown": "bad",
    "resolved": "accent",
}


def _outcome(entry: LedgerEntry) -> Cell:
    return Cell(entry.outcome, _TONES[entry.outcome])


COLUMNS: tuple[Column[LedgerEntry], ...] = (
    text_column(
        "what", "Change", lambda entry: entry.title, 24, help="the planned change", grow=True
    ),
    moment_column("at", "When", lambda entry: entry.at, 10, "when its outcome was written"),
    Column(
        "outcome",
        "Outcome",
        lambda entry, _now: _outcome(entry),
        lambda entry, _now: entry.outcome,
        8,
        help="applied, refused, unknown (the response was lost) or resolved (by a person)",
    ),
    text_column("who", "Who", lambda entry: entry.who, 16, help="user and machine"),
    text_column("profile", "Profile", lambda entry: entry.profile, 12, help="which gateway"),
    text_column(
        "consent", "Agreed by", lambda entry: entry.consent, 12, help="how the change was confirmed"
    ),
    text_column("action", "Action", lambda entry: entry.action, 20, help="name of the action"),
    text_column("key", "Key", lambda entry: entry.key or None, 18, help="management key, masked"),
    text_column(
        "request",
        "Request",
        lambda entry: entry.request_id,
        26,
        help="what the gateway calls the request",
    ),
    text_column(
        "changes",
        "Before and after",
        lambda entry: changes_text(entry.changes) or None,
        30,
        help="each field that changed",
    ),
    text_column("message", "Message", lambda entry: entry.message, 30, help="why it was refused"),
    text_column("id", "Id", lambda entry: entry.id, 26, help="what 'gwtui audit get' takes"),
)


def _what(entry: LedgerEntry, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("change", cells.text(entry.title)),
        DetailRow("action", cells.text(entry.action)),
        DetailRow("resource", cells.text(entry.resource)),
        DetailRow("identity", cells.text(entry.identity)),
        cells.moment_row("written", entry.at, now),
        DetailRow("plan", cells.text(entry.id)),
    ]
    if entry.undoes:
        rows.append(DetailRow("undoes plan", cells.text(entry.undoes)))
    return rows


def _became(entry: LedgerEntry, _now: datetime) -> Sequence[DetailRow]:
    rows = [DetailRow("outcome", _outcome(entry))]
    if entry.error or entry.message:
        status = "" if entry.status is None else f"status {entry.status}"
        rows += [
            DetailRow("error", cells.text(entry.error), status),
            DetailRow("message", cells.prose(entry.message, _LONG)),
        ]
    return [*rows, DetailRow("request id", cells.text(entry.request_id))]


def change_rows(entry: LedgerEntry) -> list[DetailRow]:
    """Return a row for each field that the write changes."""
    rows = []
    for change in entry.changes:
        after = cells.text(change.after).text
        both = after if change.before is None else f"{cells.text(change.before).text} → {after}"
        rows.append(DetailRow(cells.text(change.field).text, Cell(both)))
    return rows


def _changes(entry: LedgerEntry, _now: datetime) -> Sequence[DetailRow]:
    rows = change_rows(entry)
    if entry.summary:
        rows.append(DetailRow("sent", cells.prose(summary_text(entry.summary), _LONG)))
    return rows


def _raw(entry: LedgerEntry) -> dict[str, Any]:
    line = entry.as_json()
    label = line.pop("key")
    return {**line, "key_label": label}


AUDIT: ResourceSpec[LedgerEntry] = ResourceSpec(
    id="audit",
    title="Audit entries",
    singular="audit entry",
    plural="audit entries",
    identity=lambda entry: f"{entry.id}/{entry.outcome}/{entry.at.timestamp()}",
    name=lambda entry: cells.text(entry.title).text,
    columns=COLUMNS,
    sections=(
        Section("Change", _what),
        Section("Before and after", _changes),
        Section("Outcome", _became),
        Section(
            "Who",
            lambda entry, _now: [
                DetailRow("user", cells.text(entry.user)),
                DetailRow("machine", cells.text(entry.host)),
                DetailRow("profile", cells.text(entry.profile)),
                DetailRow("gateway", cells.text(entry.gateway)),
                DetailRow("key", cells.text(entry.key), "as the gateway masks it"),
                DetailRow("key from", cells.text(entry.token_source)),
                DetailRow("agreed by", cells.text(entry.consent)),
            ],
        ),
    ),
    feed=lambda hub, _scope: audit_feed(hub),
    raw=_raw,
    empty="Nothing was changed from this machine yet.",
    default_sort=("at", True),
    facets={
        "user": lambda entry, _now: entry.user,
        "host": lambda entry, _now: entry.host,
        "resource": lambda entry, _now: entry.resource,
        "identity": lambda entry, _now: entry.identity or "",
        "gateway": lambda entry, _now: entry.gateway,
        "error": lambda entry, _now: entry.error or "",
        "plan": lambda entry, _now: entry.id,
    },
)
