"""Alerts, their history and their rules, as feeds: read from this machine, not from the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.domain.alert_rules import AlertRule, default_rules, names_apart
from gwtui.watch import cadence
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertSource
from gwtui.watch.feed import Feed
from gwtui.watch.history.model import HistoryError
from gwtui.watch.hub import FeedHub
from gwtui.watch.shared_reads import FeedKey

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

T = TypeVar("T")

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


class _AlertsReader:
    """Asks the alerts of the connection that the hub serves, if any are."""

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._events: tuple[AlertEvent, ...] | None = None
        self._newest = 0

    async def present(self, _client: GatewayClient) -> Sequence[Alert]:
        """Every condition that is not quiet. Raises GatewayError."""
        return await self._ask(lambda alerts: alerts.present())

    async def history(self, _client: GatewayClient) -> Sequence[AlertEvent]:
        """What happened, newest first; read only when something did. Raises GatewayError."""
        newest = await self._ask(lambda alerts: alerts.last_event())
        if self._events is None or newest != self._newest:
            self._events = await self._ask(lambda alerts: alerts.events(MOST))
            self._newest = newest
        return self._events

    async def rules(self, _client: GatewayClient) -> Sequence[RuleRow]:
        """Every rule. Raises GatewayError."""
        from gwtui.local.alerts import AlertFileError  # noqa: PLC0415 - loads a TOML reader

        alerts = await self._served()
        try:
            book = await asyncio.to_thread(alerts.book)
        except AlertFileError as error:
            raise GatewayError(str(error)) from None
        built_in, names = default_rules(), names_apart(book.rules)
        return tuple(
            RuleRow(
                identity,
                names[identity],
                rule,
                identity in built_in,
                identity in book.own,
                rule.profile in (None, alerts.profile),
            )
            for identity, rule in book.rules.items()
        )

    async def _ask(self, question: Callable[[AlertSource], Awaitable[T]]) -> T:
        try:
            return await question(await self._served())
        except HistoryError as error:
            raise GatewayError(str(error)) from None

    async def _served(self) -> AlertSource:
        await self._hub.complete()
        if self._hub.alerts is None:
            raise GatewayError("Nothing is recorded here, so nothing is watched")
        return self._hub.alerts


def serve_alerts(hub: FeedHub, alerts: AlertSource) -> None:
    """Let the hub's feeds show the alerts of this connection."""
    hub.alerts = alerts
    feeds = (alerts_feed(hub), alert_history_feed(hub), alert_rules_feed(hub))
    alerts.listen(lambda: [feed.invalidate() for feed in feeds])


def alerts_feed(hub: FeedHub) -> Feed[Sequence[Alert]]:
    """Every condition that is not quiet, as far as it is served."""
    return hub.feed(FeedKey(NOW), _AlertsReader(hub).present, cadence.ALERTS)


def alert_history_feed(hub: FeedHub) -> Feed[Sequence[AlertEvent]]:
    """What happened with alerts, newest first."""
    return hub.feed(FeedKey(HISTORY), _AlertsReader(hub).history, cadence.ALERTS)


def alert_rules_feed(hub: FeedHub) -> Feed[Sequence[RuleRow]]:
    """Every rule, switched off or not."""
    return hub.feed(FeedKey(RULES), _AlertsReader(hub).rules, cadence.ALERTS)
