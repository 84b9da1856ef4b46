"""Feeds of alerts, alert events and alert rules, which are read from this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError
from gwtui.domain.alert_rules import AlertRule, default_rules, distinct_names
from gwtui.watch import cadence
from gwtui.watch.alerts.model import Alert, AlertEvent
from gwtui.watch.history.model import HistoryError
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.local.alerts import AlertBook
    from gwtui.watch.alerts.session import Alerts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule with its id and a unique ``name``.

    ``built_in``: a default rule. ``edited``: the file contains it. ``here``: it applies to the
    profile in use.
    """

    id: str
    name: str
    rule: AlertRule
    built_in: bool
    edited: bool
    here: bool


def attach_alerts(hub: FeedHub, alerts: Alerts) -> None:
    """Let the alert feeds of the hub read ``alerts``, and read again when alerts change."""
    hub.alerts = alerts
    feeds = (alerts_feed(hub), alert_history_feed(hub), alert_rules_feed(hub))
    alerts.listen(lambda: [feed.invalidate() for feed in feeds])


async def _rules(alerts: Alerts) -> Sequence[RuleRow]:
    return rule_rows(await asyncio.to_thread(alerts.load_book), alerts.profile)


def rule_rows(book: AlertBook, profile: str) -> Sequence[RuleRow]:
    """All rules; ``here`` is relative to ``profile``."""
    built_in, names = default_rules(), distinct_names(book.rules)
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


async def _ask(question: Callable[[Alerts], Awaitable[T]], reader: FeedReader, _scope: Scope) -> T:
    from gwtui.local.alerts import AlertFileError  # noqa: PLC0415 - loads a TOML reader

    await reader.hub.wait_until_open()
    alerts = reader.hub.alerts
    if alerts is None:
        raise cadence.NothingRecordedError("Alerts are off: this session records no history")
    try:
        return await question(alerts)
    except (HistoryError, AlertFileError) as error:
        raise GatewayError(str(error)) from None


alerts_feed: FeedSpec[Sequence[Alert]] = FeedSpec(
    "alerts", partial(_ask, lambda alerts: alerts.active()), cadence.ALERTS
)
"""The pending and firing alerts."""
alert_history_feed: FeedSpec[Sequence[AlertEvent]] = FeedSpec(
    "alert-history", partial(_ask, lambda alerts: alerts.events()), cadence.ALERTS
)
"""The alert events, newest first."""
alert_rules_feed = FeedSpec("alert-rules", partial(_ask, _rules), cadence.ALERTS)
"""All rules, including disabled ones."""
