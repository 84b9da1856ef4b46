"""The words and tones of alerts, the same in lists, header and notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gwtui.domain.alert_rules import Severity
from gwtui.ui.resources.spec import Cell, Tone
from gwtui.watch.alerts.model import Alert, AlertEvent, EventKind

SEVERITY_TONES: Mapping[Severity, Tone] = {"warning": "warn", "critical": "bad"}

_EVENT_TONES: Mapping[EventKind, Tone] = {
    "fired": "bad",
    "cleared": "good",
    "acknowledged": "accent",
    "silenced": "muted",
    "unsilenced": "accent",
}


def severity_cell(severity: Severity) -> Cell:
    """How grave it is."""
    return Cell(severity, SEVERITY_TONES[severity])


def state_cell(alert: Alert) -> Cell:
    """How an alert stands, in a word."""
    if not alert.standing.alerting:
        return Cell("pending", "muted")
    if alert.silenced_until is not None:
        return Cell("silenced", "muted")
    if alert.acknowledged_at is not None:
        return Cell("known", "accent")
    if alert.standing.state == "clearing":
        return Cell("recovering", "warn")
    return Cell("firing", SEVERITY_TONES[alert.severity])


def event_cell(event: AlertEvent) -> Cell:
    """What happened, in a word."""
    tone = SEVERITY_TONES[event.severity] if event.event == "fired" else _EVENT_TONES[event.event]
    return Cell(event.event, "muted" if event.quiet else tone)


def loud(alerts: Sequence[Alert]) -> list[Alert]:
    """The alerts that ask for somebody, critical ones first, then the newest."""
    asking = [alert for alert in alerts if alert.loud]
    asking.sort(key=lambda one: one.fired_at.timestamp() if one.fired_at else 0, reverse=True)
    asking.sort(key=lambda one: one.severity != "critical")
    return asking


def counted(alerts: Sequence[Alert]) -> Cell | None:
    """How many ask for somebody, for the header; None while none does."""
    asking = loud(alerts)
    if not asking:
        return None
    words = "1 ALERT" if len(asking) == 1 else f"{len(asking)} ALERTS"
    return Cell(words, SEVERITY_TONES[asking[0].severity])


def alerts_line(alerts: Sequence[Alert]) -> Cell | None:
    """The alerts that ask for somebody in one line, the gravest first; None without any."""
    asking = loud(alerts)
    if not asking:
        return None
    first = asking[0]
    more = f" · {len(asking) - 1} more" if len(asking) > 1 else ""
    text = f"{first.severity}: {first.title}: {first.name}: {first.said}{more}"
    return Cell(text, SEVERITY_TONES[first.severity])
