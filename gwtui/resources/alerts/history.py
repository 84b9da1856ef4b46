"""What happened with alerts: fired, cleared, acknowledged, silenced, by whom."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Section
from gwtui.resources.alerts.resource import event_cell, severity_cell
from gwtui.watch.alerts.model import AlertEvent
from gwtui.watch.feeds.alerts import alert_history_feed

COLUMNS: tuple[Column[AlertEvent], ...] = (
    text_column("name", "Subject", lambda event: event.name, 20, 0, help="what it is about"),
    Column(
        "event",
        "Event",
        lambda event, _now: event_cell(event),
        lambda event, _now: event.event,
        12,
        1,
        help="fired, cleared, acknowledged, silenced or unsilenced",
    ),
    moment_column("at", "When", lambda event: event.at, 10, 2, "when it happened"),
    text_column("said", "What", lambda event: event.said, 28, 3, help="what was wrong, or why"),
    text_column("rule", "Rule", lambda event: event.title, 22, 4, help="which rule it is"),
    text_column("who", "Who", lambda event: event.who or None, 14, 5, help="who did it"),
    Column(
        "severity",
        "Severity",
        lambda event, _now: severity_cell(event.severity),
        lambda event, _now: event.severity,
        8,
        6,
        help="warning or critical",
    ),
)


def _what(event: AlertEvent, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("event", event_cell(event), "silenced: nobody was told" if event.quiet else ""),
        cells.moment_row("at", event.at, now),
        DetailRow("said", cells.prose(event.said)),
        DetailRow("severity", severity_cell(event.severity)),
    ]
    if event.who:
        rows.append(DetailRow("by", cells.text(event.who)))
    if event.until is not None:
        rows.append(cells.moment_row("until", event.until, now))
    return rows


def _about(event: AlertEvent, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("rule", cells.text(event.title), cells.text(event.key.rule).text),
        DetailRow("subject", cells.text(event.name)),
        DetailRow("kind", cells.text(event.key.subject.resource)),
        DetailRow("identity", cells.text(event.key.subject.identity)),
    ]


ALERT_HISTORY: ResourceSpec[AlertEvent] = ResourceSpec(
    id="alert-history",
    title="Alert events",
    singular="event",
    identity=lambda event: str(event.id),
    name=lambda event: cells.text(f"{event.title}: {event.name}").text,
    columns=COLUMNS,
    sections=(Section("What", _what), Section("About", _about)),
    feed=lambda hub, _scope: alert_history_feed(hub),
    raw=lambda event: event.as_json(),
    empty="No alert fired yet. :alert-rules shows what is watched.",
    default_sort=("at", True),
    facets={
        "resource": lambda event, _now: event.key.subject.resource,
        "identity": lambda event, _now: event.key.subject.identity,
        "id": lambda event, _now: event.key.rule,
    },
)
