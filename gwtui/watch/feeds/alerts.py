"""Alerts, their history and their rules, as feeds: read from this machine, not from the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.client.errors import GatewayError
from gwtui.domain.alert_rules import AlertRule, default_rules, names_apart
from gwtui.watch import cadence
from gwtui.watch.alerts.model import Alert, AlertEvent
from gwtui.watch.history.model import HistoryError
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.local.alerts import AlertBook
    from gwtui.watch.alerts.session import Alerts

NOW = "alerts"
HISTORY = "alert-history"
RULES = "alert-rules"
MOST = 2000
"""Events that are shown, the newest; `gwtui alerts history` lists all."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule with its id; ``built_in`` is there by default, ``edited`` stands in the file.

    ``name`` tells it from others that are called so, too; ``here`` is whether it holds for the
    profile in use.
    """

    id: str
    name: str
    rule: AlertRule
    built_in: bool
    edited: bool
    here: bool


def serve_alerts(hub: FeedHub, alerts: Alerts) -> None:
    """Let the hub's feeds show the alerts of this connection."""
    events: tuple[AlertEvent, ...] = ()

    async def history() -> Sequence[AlertEvent]:
        """What happened, newest first; only what is new is read."""
        nonlocal events
        new = await alerts.events(MOST, after=events[0].id if events else 0)
        events = (*new, *events)[:MOST] if new else events
        return events

    async def rules() -> Sequence[RuleRow]:
        return rule_rows(await asyncio.to_thread(alerts.book), alerts.scope.profile)

    hub.served |= {NOW: alerts.present, HISTORY: history, RULES: rules}
    feeds = (alerts_feed(hub), alert_history_feed(hub), alert_rules_feed(hub))
    alerts.listen(lambda: [feed.invalidate() for feed in feeds])


def rule_rows(book: AlertBook, profile: str) -> Sequence[RuleRow]:
    """Every rule, as it holds for a profile."""
    built_in, names = default_rules(), names_apart(book.rules)
    return tuple(
        RuleRow(
            identity,
            names[identity],
            rule,
            identity in built_in,
            identity in book.own,
            rule.profile in (None, profile),
        )
        for identity, rule in book.rules.items()
    )


async def _ask(name: str, reader: FeedReader, _scope: Scope) -> Any:
    """Raises GatewayError."""
    from gwtui.local.alerts import AlertFileError  # noqa: PLC0415 - loads a TOML reader

    await reader.hub.complete()
    ask = reader.hub.served.get(name)
    if ask is None:
        raise GatewayError("Nothing is recorded here, so nothing is watched")
    try:
        return await ask()
    except (HistoryError, AlertFileError) as error:
        raise GatewayError(str(error)) from None


alerts_feed: FeedSpec[Sequence[Alert]] = FeedSpec(NOW, partial(_ask, NOW), cadence.ALERTS)
"""Every condition that is not quiet, as far as it is served."""
alert_history_feed: FeedSpec[Sequence[AlertEvent]] = FeedSpec(
    HISTORY, partial(_ask, HISTORY), cadence.ALERTS
)
"""What happened with alerts, newest first."""
alert_rules_feed: FeedSpec[Sequence[RuleRow]] = FeedSpec(
    RULES, partial(_ask, RULES), cadence.ALERTS
)
"""Every rule, switched off or not."""
