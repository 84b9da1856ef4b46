"""The sources of a check: account data, judged by the same rules as alerts.

A source that cannot be read is UNKNOWN; the others are still checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from enum import IntEnum
from functools import partial
from typing import NamedTuple, TypeVar

from gwtui.cli.target import attach_history
from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.domain.alert_rules import (
    RUNWAY,
    AlertRule,
    ConditionRule,
    CreditsRule,
    KeyExpiryRule,
    KeyLimitRule,
    RuleReading,
    RunwayRule,
    UptimeRule,
    subject_name,
)
from gwtui.domain.alert_state import Direction
from gwtui.domain.runway import MAX_DAYS, Runway, runway
from gwtui.domain.safe_text import safe_line
from gwtui.local.profiles import TIME_LIMIT, WINDOW, Thresholds
from gwtui.local.targets import Connect
from gwtui.watch.alerts.store import alerts_at
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.credits import credits_feed, rate_today
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.models import endpoints_feed
from gwtui.watch.feeds.recorded import ask_history, credits_past_feed
from gwtui.watch.history.model import ACCOUNT, Subject, readings_of
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import (
    ObservedReading,
    observe_credits,
    observe_endpoints,
    observe_keys,
)
from gwtui.watch.hub import FeedHub, Scope

_TEXT = 300
_LABEL = 120
_LONGEST = 8000
"""Maximum length of the status line; monitoring systems cut longer lines."""


class Severity(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_WORST_FIRST = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure with the rules that judge it; ``value`` is None if unknown.

    ``least`` and ``most`` are the bounds of possible values, "" if there are none.
    """

    label: str
    value: Decimal | None = None
    rules: Sequence[ConditionRule] = ()
    unit: str = ""
    least: str = ""
    most: str = ""

    def perfdata(self) -> str:
        """Return the figure as performance data for monitoring systems.

        The format is 'label'=value;warning;critical;least;most, with a unit after the value.
        """
        label = safe_line(self.label, _LABEL)
        for special in "'=|":
            label = label.replace(special, "_")
        value = "U" if self.value is None else f"{self.value:f}{self.unit}"
        bounds = f"{self._bound('warning')};{self._bound('critical')}"
        return f"'{label}'={value};{bounds};{self.least};{self.most}".rstrip(";")

    def _bound(self, severity: str) -> str:
        # In the range notation of monitoring plugins, "50:" alerts below 50.
        bounds = [rule.bounds for rule in self.rules if rule.severity == severity]
        if not bounds:
            return ""
        limits = [bound.fires_at for bound in bounds]
        return f"{max(limits):f}:" if bounds[0].direction == "below" else f"{min(limits):f}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    ``bad`` maps each kind of rule and subject with a problem to the severity of the problem.
    """

    severity: Severity
    text: str
    figures: tuple[CheckedFigure, ...] = ()
    bad: Mapping[tuple[type, Subject], Severity] = field(default_factory=dict)


def worst_of(findings: Sequence[Finding]) -> Severity:
    """Return the worst severity: critical, unknown, warning, ok. UNKNOWN without findings."""
    present = {finding.severity for finding in findings}
    return next((severity for severity in _WORST_FIRST if severity in present), Severity.UNKNOWN)


def status_line(findings: Sequence[Finding]) -> str:
    """Return the status line: the worst findings first, then the performance data."""
    severity = worst_of(findings)
    ranked = sorted(findings, key=lambda finding: _WORST_FIRST.index(finding.severity))
    texts = [_plain(finding.text) for finding in ranked] or ["nothing was checked"]
    line = f"GWTUI {severity.name}: {'; '.join(texts)}"
    drawn = " ".join(figure.perfdata() for finding in findings for figure in finding.figures)
    return f"{line[:_LONGEST]} | {drawn}" if drawn else line[:_LONGEST]


def _plain(text: str) -> str:
    # A bar would start the performance data.
    return safe_line(text, _TEXT).replace("|", "/")


T = TypeVar("T")

_NAME = 60
_NAMED = 3
_KEPT = Context(prec=12)
_PLACES = 3


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The feeds, thresholds and rules for a check.

    ``rules`` judge the readings of the sources. ``alert_rules`` are the active alert rules by id,
    used to report each problem only once.
    """

    hub: FeedHub
    thresholds: Thresholds
    rules: tuple[ConditionRule, ...]
    alert_rules: Mapping[str, AlertRule] = field(default_factory=dict)

    @property
    def reading(self) -> ObservedReading:
        """The time stamp and interval of values that are read now."""
        return ObservedReading(self.hub.clock.now(), 60)


class Checked(NamedTuple):
    """The readings of a source, and findings that need no rule, such as a missing model."""

    readings: Sequence[tuple[Subject, RuleReading]]
    findings: Sequence[Finding] = ()


class CheckSource(NamedTuple):
    """A source of readings for the rules of one ``kind``.

    ``label`` names the figure in the performance data. With the placeholder "{}" for the identity,
    every subject gets a figure; without it, only the worst subject does. ``things`` is the plural
    noun of the subjects, "" for the account. If ``required``, a missing figure is UNKNOWN, not OK.
    ``unit``, ``least`` and ``most`` are those of the ``CheckedFigure``.
    """

    kind: type[ConditionRule]
    read: Callable[[CheckContext], Awaitable[Checked]]
    label: str
    things: str = ""
    required: bool = False
    unit: str = ""
    least: str = ""
    most: str = ""


async def check_gateway(
    connect: Connect,
    thresholds: Thresholds,
    rules: tuple[ConditionRule, ...],
    alert_rules: Mapping[str, AlertRule],
) -> list[Finding]:
    """Connect and check all sources; return the findings. Raises TimeoutError."""
    async with (
        asyncio.timeout(float(thresholds.get("timeout", TIME_LIMIT))),
        connect() as connection,
        GatewayClient(connection) as gateway,
    ):
        hub = FeedHub(gateway)
        attach_history(hub)
        try:
            await hub.fill_past()
            return await check_all(CheckContext(hub, thresholds, rules, alert_rules))
        finally:
            await hub.close()


async def check_all(context: CheckContext) -> list[Finding]:
    """Check all sources; return the findings. Never raises GatewayError."""
    sources = (_findings_of(name, source, context) for name, source in SOURCES.items())
    findings = [finding for part in await asyncio.gather(*sources) for finding in part]
    return [*findings, *await _alerts(context, findings)]


async def _findings_of(name: str, source: CheckSource, context: CheckContext) -> Sequence[Finding]:
    rules = [rule for rule in context.rules if isinstance(rule, source.kind)]
    if not rules:
        return ()
    try:
        checked = await source.read(context)
    except GatewayError as error:
        return [Finding(Severity.UNKNOWN, f"{name} could not be read: {error.message}")]
    judged = [_judge(source, rules, *reading) for reading in checked.readings]
    return [*checked.findings, *_summary(source, judged, rules[0].bounds.direction)]


def _judge(
    source: CheckSource, rules: Sequence[ConditionRule], subject: Subject, reading: RuleReading
) -> Finding:
    watching = [rule for rule in rules if rule.watches(subject, reading.facts)]
    value = watching[0].measure(reading) if watching else None
    shown = None if value is None or value >= MAX_DAYS else _rounded(value)
    label = source.label.format(safe_line(subject.identity, 2 * _NAME))
    figure = CheckedFigure(label, shown, watching, source.unit, source.least, source.most)
    name = subject_name(subject, reading.facts) if source.things else subject.resource
    if value is None:
        missing = bool(watching) and source.required
        severity = Severity.UNKNOWN if missing else Severity.OK
        return Finding(severity, f"{name}: missing in the response", (figure,))
    severities = (Severity[rule.severity.upper()] for rule in watching if rule.is_bad(reading))
    text = f"{safe_line(name, _NAME)} {watching[0].message(value, reading)}"
    severity = max(severities, default=Severity.OK)
    bad = severity is not Severity.OK
    return Finding(severity, text, (figure,), {(source.kind, subject): severity} if bad else {})


def _rounded(value: Decimal) -> Decimal:
    number = value.normalize(_KEPT)
    return round(number, _PLACES).normalize() if number.adjusted() < _KEPT.prec else number


def _summary(
    source: CheckSource, judged: Sequence[Finding], direction: Direction
) -> Sequence[Finding]:
    if not judged:
        return ()
    ranked = sorted(judged, key=partial(_rank, direction))
    bad = [finding.text for finding in ranked if finding.severity is not Severity.OK]
    figures = [figure for finding in ranked for figure in finding.figures]
    if source.label.format("") == source.label:
        figures = figures[:1]
    if not source.things:
        text = ranked[0].text
    elif bad:
        more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
        text = f"{source.kind.kind.title}: {', '.join(bad[:_NAMED])}{more}"
    else:
        text = f"{source.kind.kind.title}: none of {len(ranked)} {source.things}"
    bad_subjects = {key: severity for finding in judged for key, severity in finding.bad.items()}
    return [Finding(worst_of(ranked), text, tuple(figures), bad_subjects)]


def _rank(direction: Direction, finding: Finding) -> tuple[bool, Decimal]:
    value = finding.figures[0].value
    if value is None:
        return True, Decimal(0)
    return False, value if direction == "below" else -value


async def _value(feed: Feed[T]) -> T:
    state = await feed.refresh()
    if state.error is not None or state.value is None:
        raise state.error or GatewayError("the gateway did not respond")
    return state.value


# Sources ----------------------------------------------------------------------------------------


async def _credits(context: CheckContext) -> Checked:
    credits = await _value(credits_feed(context.hub))
    return Checked(readings_of(observe_credits(credits, context.reading)))


async def _runway(context: CheckContext) -> Checked:
    balance, now = (await _value(credits_feed(context.hub))).balance, context.reading.at
    past = (await credits_past_feed(context.hub).refresh()).value
    left = runway(balance, () if past is None else past.state.rates)
    if left is None and balance is not None:
        today = rate_today(await _value(keys_feed(context.hub)), now)
        left = runway(balance, (), today) or Runway(MAX_DAYS)
    days = None if left is None else left.days
    return Checked([(Subject("credits", ACCOUNT), RuleReading({RUNWAY: days}, {}, now))])


async def _keys(context: CheckContext) -> Checked:
    return Checked(readings_of(observe_keys(await _value(keys_feed(context.hub)), context.reading)))


async def _endpoints(context: CheckContext) -> Checked:
    models = [*context.thresholds.get("models", ())]
    if context.thresholds.get("watched"):
        models += await ask_history(context.hub, HistoryReader.watched_models, ())
        if not models:
            return Checked((), [Finding(Severity.UNKNOWN, "no models are watched on this machine")])
    parts = await asyncio.gather(*(_of_model(context, model) for model in dict.fromkeys(models)))
    return Checked(
        [reading for part in parts for reading in part.readings],
        [finding for part in parts for finding in part.findings],
    )


async def _of_model(context: CheckContext, model: str) -> Checked:
    called = safe_line(model, _NAME)
    window = f"uptime_last_{context.thresholds.get('uptime_window', WINDOW)}"
    try:
        rows = await _value(endpoints_feed(context.hub, Scope(parent=model)))
    except NotFoundError:
        return Checked((), [Finding(Severity.CRITICAL, f"{called} is not in the catalog")])
    except GatewayError as error:
        why = f"{called} could not be read: {error.message}"
        return Checked((), [Finding(Severity.UNKNOWN, why)])
    if not rows:
        return Checked((), [Finding(Severity.CRITICAL, f"{called} has no endpoint")])
    missing = [row for row in rows if window in row.endpoint.gaps]
    if context.thresholds.get("uptime_of") == "best":
        known = [row for row in rows if getattr(row.endpoint, window) is not None]
        rows = [max(known or rows, key=lambda row: getattr(row.endpoint, window) or 0)]
    return Checked(
        readings_of(observe_endpoints(model, rows, context.reading)),
        [Finding(Severity.UNKNOWN, f"{called}: uptime missing in the response")] if missing else (),
    )


async def _alerts(context: CheckContext, checked: Sequence[Finding]) -> Sequence[Finding]:
    # Without alerts that a rule of the same kind has reported as at least as severe.
    if not context.thresholds.get("alerts"):
        return ()
    try:
        present = await ask_history(context.hub, partial(alerts_at, now=context.reading.at), None)
    except GatewayError as error:
        return [Finding(Severity.UNKNOWN, f"alerts could not be read: {error.message}")]
    if present is None or not present.watching:
        return [Finding(Severity.UNKNOWN, "alerts: no dashboard is watching on this machine")]
    reported = {key: severity for finding in checked for key, severity in finding.bad.items()}
    alerts = [alert for alert in present.firing if alert.loud]
    findings: list[Finding] = []
    for alert in alerts:
        rule, severity = context.alert_rules.get(alert.key.rule), Severity[alert.severity.upper()]
        if reported.get((type(rule), alert.key.subject), Severity.OK) < severity:
            text = safe_line(f"{alert.title}: {alert.name} {alert.message}", 2 * _NAME)
            findings.append(Finding(severity, text))
    return findings if alerts else [Finding(Severity.OK, "no alerts")]


SOURCES: Mapping[str, CheckSource] = {
    "credits": CheckSource(CreditsRule, _credits, "credits", required=True),
    "runway": CheckSource(RunwayRule, _runway, "runway_days", required=True),
    "uptime": CheckSource(
        UptimeRule, _endpoints, "uptime {}", "endpoints", unit="%", least="0", most="100"
    ),
    "limits of keys": CheckSource(
        KeyLimitRule, _keys, "keys_most_used", "keys", required=True, unit="%", least="0"
    ),
    "expiry of keys": CheckSource(KeyExpiryRule, _keys, "keys_first_expiry_days", "keys"),
}
"""The sources, by the name used in error messages."""
