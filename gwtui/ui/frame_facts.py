"""What the header says: the tabs, whose gateway this is, and what may not be done."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gwtui.domain.safe_text import safe_text
from gwtui.resources.registry import SHORT_TITLES, TABS, TITLES
from gwtui.ui.commands import place_actions, tab_of
from gwtui.ui.keys import shown
from gwtui.ui.widgets.header import CRITICAL, HeaderFacts, Tab

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.ui.actions.context import DashboardApp


def header_facts(app: DashboardApp, current: str) -> HeaderFacts:
    """What the header says on the tab ``current``."""
    tabs = _tabs(current)
    if app.session is None:
        return HeaderFacts(tabs, app.scope_name)
    connection = app.session.connection
    return HeaderFacts(
        tabs,
        app.scope_name,
        profile=safe_text(connection.label, 40),
        host=_host(connection),
        token_source=_source(connection),
        read_only=app.read_only,
        why_read_only="" if connection.read_only else app.held or "",
        critical=connection.critical,
        alerts=app.alert_badge,
        faults=connection.faults,
    )


def whose(app: DashboardApp) -> str:
    """Whose gateway it is, for what covers the header; empty for one on a private socket."""
    if app.session is None:
        return ""
    connection = app.session.connection
    host = _host(connection)
    named = filter(None, (CRITICAL if connection.critical else "", safe_text(connection.label, 40)))
    return " · ".join([*named, host]) if host else ""


def _host(connection: Connection) -> str:
    """Empty for a gateway on a private socket: its address says nothing."""
    return "" if connection.socket_path else safe_text(urlsplit(connection.base_url).netloc, 60)


def _source(connection: Connection) -> str:
    same = connection.token_source == connection.label
    return "" if same else safe_text(connection.token_source, 30)


def _tabs(current: str) -> tuple[Tab, ...]:
    """The tabs, and the place that is shown when it has none."""
    places = [(action, tab_of(action)) for action in place_actions()]
    return tuple(
        Tab(
            action.id,
            shown(action.keys[0]) if action.keys else "",
            TITLES[place],
            place == current,
            SHORT_TITLES[place],
        )
        for action, place in places
        if place is not None and (place in TABS or place == current)
    )
