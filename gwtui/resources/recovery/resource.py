"""Writes in doubt: sent from this machine, and nobody knows whether they happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.evidence import unknown_reason
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.local.ledger import LedgerEntry, summary_text
from gwtui.watch.feeds.ledger import RECOVERY_FEED, unsettled_feed

_LONG = 2000


COLUMNS: tuple[Column[LedgerEntry], ...] = (
    text_column("what", "Change", lambda one: one.title, 24, 0, help="what was to be done"),
    moment_column("at", "Sent", lambda one: one.at, 10, 1, "when it was sent"),
    text_column(
        "why", "Why it is in doubt", unknown_reason, 30, 2, help="why its outcome is not known"
    ),
    text_column("action", "Action", lambda one: one.action, 20, 3, help="which action it was"),
    text_column("profile", "Profile", lambda one: one.profile, 12, 4, help="which gateway"),
    text_column("user", "By", lambda one: one.user, 12, 5, help="who sent it"),
)


def _write_rows(intent: LedgerEntry, now: datetime) -> Sequence[DetailRow]:
    return [
        cells.moment_row("sent", intent.at, now),
        DetailRow("in doubt", cells.prose(unknown_reason(intent), _LONG)),
        DetailRow("profile", cells.text(intent.profile)),
        DetailRow("gateway", cells.text(intent.gateway)),
        DetailRow("by", cells.text(intent.user)),
        DetailRow("plan", cells.text(intent.id)),
        cells.hint("{list.open} looks for what became of it; you decide"),
    ]


def _intended(intent: LedgerEntry, _now: datetime) -> Sequence[DetailRow]:
    return [*intended_rows(intent), *_sent(intent)]


def _sent(intent: LedgerEntry) -> Sequence[DetailRow]:
    text = summary_text(intent.summary)
    return [DetailRow("request", cells.prose(text, _LONG))] if text else []


def intended_rows(intent: LedgerEntry) -> Sequence[DetailRow]:
    """What was to be changed, field by field."""
    rows = [
        DetailRow("resource", cells.text(intent.resource)),
        DetailRow("identity", cells.text(intent.identity)),
    ]
    for change in intent.changes:
        after = cells.text(change.after).text
        both = after if change.before is None else f"{cells.text(change.before).text} → {after}"
        rows.append(DetailRow(cells.text(change.field).text, Cell(both)))
    return rows


DOUBTS: ResourceSpec[LedgerEntry] = ResourceSpec(
    id=RECOVERY_FEED,
    title="Writes in doubt",
    singular="write in doubt",
    plural="writes in doubt",
    identity=lambda one: one.id,
    name=lambda one: cells.text(one.title).text,
    columns=COLUMNS,
    sections=(Section("What is in doubt", _write_rows), Section("What was wanted", _intended)),
    feed=unsettled_feed,
    raw=lambda one: one.as_line(),
    empty="Every write from this machine is settled.",
    default_sort=("at", True),
    opens="doubt",
)
