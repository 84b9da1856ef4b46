"""The sources of a check; one that cannot be read is UNKNOWN and stops no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TypeVar

from gwtui.cli.check_result import CheckedFigure, Finding, Judgement, Severity
from gwtui.cli.running import serve_recorded
from gwtui.cli.target import Connect
from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.domain import money
from gwtui.domain.alert_rules import (
    FAR,
    ConditionRule,
    CreditsRule,
    KeyExpiryRule,
    KeyLimitRule,
    RunwayRule,
    UptimeRule,
    key_reading,
)
from gwtui.domain.runway import credit_outlook
from gwtui.domain.safe_text import safe_line
from gwtui.local.check_thresholds import CheckThresholds
from gwtui.watch.alerts.store import alerts_at
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed, used_today
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed
from gwtui.watch.feeds.recorded import ask_history, credits_past_feed
from gwtui.watch.history.model import endpoint_identity
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.hub import FeedHub, Scope

T = TypeVar("T")

_DAY = timedelta(days=1)
_NAME = 60
_NAMED = 3
_TENTH = Decimal("0.1")


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The feeds, thresholds and rules for the sources."""

    hub: FeedHub
    thresholds: CheckThresholds
    rules: tuple[ConditionRule, ...]

    @property
    def now(self) -> datetime:
        """The current time."""
        return self.hub.clock.now()

    def judgement(self, kind: type[ConditionRule]) -> Judgement:
        """The rules of a kind."""
        return Judgement(tuple(rule for rule in self.rules if isinstance(rule, kind)))


Source = Callable[[CheckContext], Awaitable[Sequence[Finding]]]
"""Checks one thing; no findings if that was not requested. Raises GatewayError."""


async def check_gateway(
    connect: Connect, thresholds: CheckThresholds, rules: tuple[ConditionRule, ...]
) -> list[Finding]:
    """The findings of all sources at the gateway. Raises TimeoutError."""
    async with (
        asyncio.timeout(thresholds.timeout),
        connect() as connection,
        GatewayClient(connection) as gateway,
    ):
        hub = FeedHub(gateway)
        serve_recorded(hub)
        try:
            await hub.fill_past()
            return await check_all(CheckContext(hub, thresholds, rules))
        finally:
            await hub.close()


async def check_all(look: CheckContext) -> list[Finding]:
    """The findings of all sources. Never raises GatewayError."""
    results = await asyncio.gather(
        *(_findings_of(name, source, look) for name, source in SOURCES.items())
    )
    return [finding for findings in results for finding in findings]


async def _findings_of(name: str, source: Source, look: CheckContext) -> Sequence[Finding]:
    try:
        return await source(look)
    except GatewayError as error:
        return [Finding(Severity.UNKNOWN, f"{name} could not be read: {error.message}")]


async def _value(feed: Feed[T]) -> T:
    state = await feed.refresh()
    if state.error is not None or state.value is None:
        raise state.error or GatewayError("the gateway did not answer")
    return state.value


# Credits ----------------------------------------------------------------------------------------


async def _credits(look: CheckContext) -> Sequence[Finding]:
    judgement = look.judgement(CreditsRule)
    if not judgement.rules:
        return ()
    balance = (await _value(credits_feed(look.hub, Scope()))).balance
    figure = CheckedFigure("credits", balance, judgement)
    if balance is None:
        return [Finding(Severity.UNKNOWN, "credits: missing in the answer", (figure,))]
    severity = Severity.CRITICAL if balance <= 0 else judgement.severity(balance)
    return [Finding(severity, f"credits {money.usd(balance)}", (figure,))]


async def _runway(look: CheckContext) -> Sequence[Finding]:
    judgement = look.judgement(RunwayRule)
    if not judgement.rules:
        return ()
    credits = await _value(credits_feed(look.hub, Scope()))
    if credits.balance is not None and credits.balance <= 0:
        return [Finding(Severity.CRITICAL, "credits are used up", (_days(Decimal(0), judgement),))]
    days, source = await _days_left(look, credits.balance)
    figure = _days(days, judgement)
    if days is None:
        return [Finding(Severity.OK, f"runway unlimited{source}", (figure,))]
    return [Finding(judgement.severity(days), f"runway {_shown(days)} days{source}", (figure,))]


async def _days_left(look: CheckContext, balance: Decimal | None) -> tuple[Decimal | None, str]:
    """The days left, None for no end in sight; and the basis of the estimate."""
    past = (await credits_past_feed(look.hub, Scope()).refresh()).value
    recorded = None if past is None else past.state.outlook
    used = None
    if recorded is None:
        used = used_today(await _value(keys_feed(look.hub, Scope())))
    outlook = credit_outlook(balance, recorded, used, look.now)
    end = None if outlook is None else outlook.likely
    source = "" if recorded is not None else " at today's rate"
    return (None if end is None else _in_days(end - look.now)), source


def _in_days(length: timedelta) -> Decimal:
    return max(Decimal(length / _DAY), Decimal(0))


def _shown(days: Decimal) -> str:
    return f"{days.quantize(_TENTH):f}"


def _days(days: Decimal | None, judgement: Judgement) -> CheckedFigure:
    shown = None if days is None else days.quantize(_TENTH)
    return CheckedFigure("runway_days", shown, judgement)


# Endpoints --------------------------------------------------------------------------------------


async def _uptime(look: CheckContext) -> Sequence[Finding]:
    models = [*look.thresholds.models]
    if look.thresholds.watched:
        models += await ask_history(look.hub, HistoryReader.watched_models, ())
        if not models:
            return [Finding(Severity.UNKNOWN, "no models are watched on this machine")]
    results = await asyncio.gather(*(_of_model(look, model) for model in dict.fromkeys(models)))
    return [finding for findings in results for finding in findings]


async def _of_model(look: CheckContext, model: str) -> Sequence[Finding]:
    called = safe_line(model, _NAME)
    try:
        rows = await _value(endpoints_feed(look.hub, Scope(parent=model)))
    except NotFoundError:
        return [Finding(Severity.CRITICAL, f"{called} is not in the catalog")]
    except GatewayError as error:
        return [Finding(Severity.UNKNOWN, f"{called} could not be read: {error.message}")]
    if not rows:
        return [Finding(Severity.CRITICAL, f"{called} has no endpoint")]
    findings = [_of_endpoint(look, model, row) for row in rows]
    return (_best if look.thresholds.uptime_of == "best" else _worst)(called, findings)


def _best(_model: str, findings: Sequence[Finding]) -> Sequence[Finding]:
    """The finding of the best endpoint that has an uptime, with the figures of all."""
    known = [one for one in findings if one.figures[0].value is not None] or findings
    best = min(known, key=lambda one: (one.severity, -(one.figures[0].value or Decimal(0))))
    return [Finding(best.severity, best.text, _figures(findings))]


def _worst(model: str, findings: Sequence[Finding]) -> Sequence[Finding]:
    """A finding for each failing endpoint, and one that counts the others."""
    bad = [one for one in findings if one.severity is not Severity.OK]
    good = [one for one in findings if one.severity is Severity.OK]
    if not good:
        return bad
    of = f" of {len(findings)}" if bad else ""
    text = f"{model}: {len(good)}{of} endpoints OK"
    return [*bad, Finding(Severity.OK, text, _figures(good))]


def _figures(findings: Sequence[Finding]) -> tuple[CheckedFigure, ...]:
    return tuple(figure for finding in findings for figure in finding.figures)


def _of_endpoint(look: CheckContext, model: str, row: EndpointRow) -> Finding:
    called, window = safe_line(model, _NAME), f"uptime_last_{look.thresholds.uptime_window}"
    subject = ("endpoint", endpoint_identity(model, row.identity))
    judgement = look.judgement(UptimeRule).watching(subject, {}, window)
    value: Decimal | None = getattr(row.endpoint, window)
    name = f"{called} at {safe_line(row.title or row.identity, _NAME)}"
    figure = CheckedFigure(f"uptime {called} {row.identity}", value, judgement, "%", "0", "100")
    if value is not None:
        text = f"{name} {money.percent_points(value, places=3)}"
        return Finding(judgement.severity(value), text, (figure,))
    if window in row.endpoint.gaps:
        return Finding(Severity.UNKNOWN, f"{name}: uptime missing in the answer", (figure,))
    return Finding(Severity.OK, f"{name}: no traffic", (figure,))


# Keys -------------------------------------------------------------------------------------------


async def _keys(
    look: CheckContext,
    kind: type[KeyLimitRule | KeyExpiryRule],
    figure: CheckedFigure,
    shown: Callable[[Decimal], str],
    words: tuple[str, str],
) -> Sequence[Finding]:
    """One finding for all keys that names the worst ones; ``words`` are for some and for none."""
    judgement = look.judgement(kind)
    if not judgement.rules:
        return ()
    judged: list[tuple[Severity, Decimal, KeyRow]] = []
    for row in await _value(keys_feed(look.hub, Scope())):
        reading = key_reading(row.key, row.key.workspace_id, look.now)
        value = judgement.rules[0].measure(reading)
        if value is not None and value < FAR:
            own = judgement.watching(("key", row.identity), reading.facts)
            judged.append((own.severity(value), value, row))
    judged.sort(key=lambda one: one[1], reverse=kind is KeyLimitRule)
    worst = judged[0][1].quantize(_TENTH) if judged else None
    figure = replace(figure, value=worst, judgement=judgement)
    bad = sorted((one for one in judged if one[0]), key=lambda one: -one[0])
    if not bad:
        return [Finding(Severity.OK, words[1], (figure,))]
    names = [f"{_called(row)} {shown(value)}" for _, value, row in bad[:_NAMED]]
    more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
    return [Finding(bad[0][0], f"{words[0]}: {', '.join(names)}{more}", (figure,))]


def _called(row: KeyRow) -> str:
    return safe_line(row.key.name or row.key.label or row.identity, _NAME)


_limits = partial(
    _keys,
    kind=KeyLimitRule,
    figure=CheckedFigure("keys_most_used", unit="%", least="0"),
    shown=lambda share: f"{_shown(share)}%",
    words=("keys near their limits", "no key near its limit"),
)
_expiry = partial(
    _keys,
    kind=KeyExpiryRule,
    figure=CheckedFigure("keys_first_expiry_days"),
    shown=lambda days: f"{_shown(days)} days",
    words=("keys expire soon", "no key expires soon"),
)


# Alerts -----------------------------------------------------------------------------------------


async def _alerts(look: CheckContext) -> Sequence[Finding]:
    """The alerts of a dashboard that records on this machine."""
    if not look.thresholds.alerts:
        return ()
    present = await ask_history(look.hub, partial(alerts_at, now=look.now), None)
    if present is None or not present.watching:
        return [Finding(Severity.UNKNOWN, "alerts: no dashboard is watching on this machine")]
    loud = [alert for alert in present.firing if alert.loud]
    findings = [
        Finding(
            Severity.CRITICAL if alert.severity == "critical" else Severity.WARNING,
            safe_line(f"{alert.title}: {alert.name} {alert.message}", 2 * _NAME),
        )
        for alert in loud
    ]
    return findings or [Finding(Severity.OK, "no alerts")]


SOURCES: Mapping[str, Source] = {
    "credits": _credits,
    "runway": _runway,
    "uptime": _uptime,
    "limits of keys": _limits,
    "expiry of keys": _expiry,
    "alerts": _alerts,
}
"""The sources by the name in their error message."""
