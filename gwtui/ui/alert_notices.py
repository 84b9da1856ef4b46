"""Alert notifications on every screen: header badge, notice and bell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from gwtui.resources.alerts import alert_count_cell
from gwtui.watch.feeds.alerts import alert_history_feed, alerts_feed

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell
    from gwtui.resources.session import Session
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.alerts.model import Alert, AlertEvent
    from gwtui.watch.alerts.session import Alerts
    from gwtui.watch.feed import FeedState

_EACH = 3
"""Maximum number of events shown as separate notices; more are summed up in one notice."""
_FIRST_LOOK = timedelta(minutes=1)
"""Events this soon after the prefilled history of the demo are not reported."""


class AlertNotices:
    """Reports the alerts of one session by header badge, notices and bell, until ``close``."""

    def __init__(self, app: GwtuiApp, session: Session, alerts: Alerts) -> None:
        self._app = app
        self._session = session
        self._alerts = alerts
        self._last = 0
        self.badge: Cell | None = None
        """Header text with the number of active alerts; None if there are none."""
        alerts.notifier.on_failure = lambda why: app.call_later(app.say, why, severity="warning")
        self._leave = [
            alerts_feed(session.hub).watch(self._stand, background=True),
            alert_history_feed(session.hub).watch(self._happened, background=True),
        ]

    def close(self) -> None:
        """Stop watching."""
        for leave in self._leave:
            leave()

    # What comes in: anywhere in the event loop, so that only a call is left for the app ------

    def _stand(self, state: FeedState[Sequence[Alert]]) -> None:
        if state.value is not None and not state.refreshing:
            self._app.call_later(self._show, state.value)

    def _happened(self, state: FeedState[Sequence[AlertEvent]]) -> None:
        if state.value is None or state.refreshing:
            return
        newest = state.value[0].id if state.value else 0
        if newest > self._last:
            new = [event for event in state.value if event.id > self._last and self._is_news(event)]
            self._app.call_later(self._notify, new[::-1])
        self._last = newest

    def _is_news(self, event: AlertEvent) -> bool:
        # The demo starts with a prefilled history, which is not news.
        history = self._session.history
        past = None if history is None else history.filled_until
        is_present = event.at >= self._session.began
        return is_present and event.notifies and (past is None or event.at - past >= _FIRST_LOOK)

    # What is shown ----------------------------------------------------------------------------

    def _show(self, alerts: Sequence[Alert]) -> None:
        badge = alert_count_cell(alerts)
        if badge != self.badge:
            self.badge = badge
            screen = self._app.navigation.screen
            if screen is not None:
                screen.refresh_frame()

    def _notify(self, events: Sequence[AlertEvent]) -> None:
        effects = self._alerts.effects
        began = [event for event in events if event.event != "cleared"]
        if effects.bell and began:
            self._app.bell()
        if not effects.toast:
            return
        if len(events) > _EACH:
            grave = any(event.severity == "critical" for event in began)
            over = len(events) - len(began)
            text = f"{len(began)} alerts fired" + (f", {over} cleared" if over else "")
            self._app.say(f"{text}: ! lists them", severity="error" if grave else "warning")
            return
        for event in events:
            text = f"{event.title}: {event.name}: {event.message}"
            if event.event == "cleared":
                self._app.say(f"Cleared: {text}")
            else:
                grave = event.severity == "critical"
                self._app.say(text, severity="error" if grave else "warning")
