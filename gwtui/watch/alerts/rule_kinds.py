"""Each kind of rule: the figure it compares with its bounds, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.keys import limit_used_share
from gwtui.contract.request import field_rules
from gwtui.domain.alert_rules import (
    AlertRule,
    BoundRule,
    BudgetRule,
    ConditionRule,
    CreditsRule,
    GoneRule,
    GuardrailRule,
    KeyExpiryRule,
    KeyLimitRule,
    LatencyRule,
    PriceRule,
    RunwayRule,
    StatusRule,
    UnreadableRule,
    UptimeRule,
)
from gwtui.domain.money import percent_points, quantity, usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import duration, utc
from gwtui.watch.alerts.model import GATEWAY, GUARDED, Values
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import ACCOUNT, NAME, Fields, Subject, model_of

RUNWAY = "runway_days"
"""A figure of the credits that is worked out: days until they are gone."""
HEALTHY = "healthy_endpoints"
"""Of a model under a guardrail: the endpoints that remain and work."""
UNREADABLE = "unreadable"
"""Of a list of the gateway, or all of it: 1 when it cannot be read, else 0."""
FAR = Decimal(3650)
"""Days that stand for never."""

_DAY = timedelta(days=1)
_HUNDRED = Decimal(100)
_WINDOWS = {"5m": "5 min", "30m": "30 min", "1d": "1 day"}


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What is known of a subject at a moment."""

    values: Values
    facts: Fields
    at: datetime


@dataclass(frozen=True, slots=True)
class Signal:
    """What a kind of rule watches.

    ``figures`` are the recorded figures it needs. ``measure`` gives the one that is compared, None
    for no evidence. ``said`` words what is wrong, ``demand`` what the rule asks for.
    """

    figures: Callable[[Any], tuple[str, ...]]
    measure: Callable[[Any, RuleReading], Decimal | None]
    said: Callable[[Any, Decimal, RuleReading], str]
    demand: Callable[[Any], str]


def _just(figure: str) -> Callable[[Any], tuple[str, ...]]:
    return lambda _rule: (figure,)


def _value(figure: Callable[[Any], str]) -> Callable[[Any, RuleReading], Decimal | None]:
    return lambda rule, reading: reading.values.get(figure(rule))


def _bound(rule: BoundRule) -> str:
    side = "below" if rule.DIRECTION == "below" else "from"
    unit = field_rules(type(rule))["fires_at"].unit
    return f"{side} {quantity(rule.fires_at, unit)}{_lasting(rule)}"


def _lasting(rule: ConditionRule) -> str:
    return f" for {duration(rule.fire_after)}" if rule.fire_after else ""


# Endpoints --------------------------------------------------------------------------------------


def _uptime(rule: UptimeRule) -> str:
    return f"uptime_last_{rule.window}"


def _latency(rule: LatencyRule) -> str:
    return f"latency_{rule.percentile}"


def _uptime_said(rule: UptimeRule, value: Decimal, _reading: RuleReading) -> str:
    return f"{percent_points(value, places=2)} of the requests of {_WINDOWS[rule.window]} were good"


def _status(_rule: StatusRule, reading: RuleReading) -> Decimal | None:
    status = reading.values.get(figures.STATUS)
    return None if status is None else Decimal(bool(status))


def _status_said(_rule: StatusRule, _value: Decimal, reading: RuleReading) -> str:
    status = reading.values.get(figures.STATUS)
    return f"the gateway reports status {'—' if status is None else f'{status:f}'}"


def _healthy_said(_rule: GuardrailRule, value: Decimal, _reading: RuleReading) -> str:
    return f"{_endpoints(value)} left" if value else "no healthy endpoint left"


def _healthy_demand(rule: GuardrailRule) -> str:
    few = f"fewer than {_endpoints(rule.fires_at)}"
    return f"{'no healthy endpoint' if rule.fires_at <= 1 else few}{_lasting(rule)}"


def _endpoints(number: Decimal) -> str:
    return f"{number:f} healthy endpoint{'' if number == 1 else 's'}"


# Keys -------------------------------------------------------------------------------------------


def _limit_used(_rule: KeyLimitRule, reading: RuleReading) -> Decimal | None:
    """Percent; 0 where there is nothing to run into. A limit that is absent is none."""
    limit = _decimal(reading.facts.get("limit"))
    if limit is None or _refused(reading):
        return Decimal(0)
    share = limit_used_share(limit, reading.values.get(figures.LIMIT_REMAINING))
    return None if share is None else share * _HUNDRED


def _limit_said(_rule: KeyLimitRule, value: Decimal, reading: RuleReading) -> str:
    return f"{percent_points(value)} of {usd(_decimal(reading.facts.get('limit')))} is used"


def _days_left(_rule: KeyExpiryRule, reading: RuleReading) -> Decimal | None:
    """Days until the key stops working; unknown for a day after that, then never mind."""
    expires, at = _moment(reading.facts.get("expires_at")), reading.at
    if expires is None or reading.facts.get("disabled") is True or at - expires >= _DAY:
        return FAR
    return Decimal((expires - at) / _DAY) if at < expires else None


def _expiry_said(_rule: KeyExpiryRule, _value: Decimal, reading: RuleReading) -> str:
    return f"expires {utc(_moment(reading.facts.get('expires_at')))}"


def _refused(reading: RuleReading) -> bool:
    """Whether requests with a key are refused anyway."""
    expires = _moment(reading.facts.get("expires_at"))
    return reading.facts.get("disabled") is True or (expires is not None and expires <= reading.at)


# Budgets ----------------------------------------------------------------------------------------


def _intervals(rule: BudgetRule) -> tuple[str, ...]:
    return BUDGET_INTERVALS if rule.interval == "any" else (rule.interval,)


def _shares(rule: BudgetRule, reading: RuleReading) -> Iterator[tuple[str, Decimal]]:
    """The budgets that are there, with the percentage that is spent, as far as that is known."""
    for interval in _intervals(rule):
        limit = _decimal(reading.facts.get(figures.budget_figure(interval)))
        left = reading.values.get(figures.remaining_figure(interval))
        share = None if limit is None else limit_used_share(limit, left)
        if share is not None:
            yield interval, share * _HUNDRED


def _spent(rule: BudgetRule, reading: RuleReading) -> Decimal | None:
    """The highest percentage; 0 without any budget."""
    shares = [share for _, share in _shares(rule, reading)]
    if shares:
        return max(shares)
    limits = (reading.facts.get(figures.budget_figure(each)) for each in _intervals(rule))
    return Decimal(0) if all(limit is None for limit in limits) else None


def _spent_said(rule: BudgetRule, value: Decimal, reading: RuleReading) -> str:
    which = next((each for each, share in _shares(rule, reading) if share == value), "")
    limit = _decimal(reading.facts.get(figures.budget_figure(which))) if which else None
    return f"{percent_points(value)} of the {which} budget of {usd(limit)} is spent"


def _decimal(value: object) -> Decimal | None:
    """Amounts in facts are decimal text."""
    try:
        return None if value is None else Decimal(str(value))
    except ArithmeticError:
        return None


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _none(*_: object) -> None:
    return None


def _nothing(*_: object) -> str:
    return ""


SIGNALS: Mapping[type[AlertRule], Signal] = {
    CreditsRule: Signal(
        _just(figures.BALANCE),
        _value(lambda _: figures.BALANCE),
        lambda _rule, value, _: f"{usd(value)} left",
        _bound,
    ),
    RunwayRule: Signal(
        lambda _: (figures.BALANCE, figures.TOTAL_USAGE),
        _value(lambda _: RUNWAY),
        lambda _rule, value, _: f"gone in {value:.1f} days at the present rate",
        _bound,
    ),
    UptimeRule: Signal(
        lambda rule: (_uptime(rule),),
        _value(_uptime),
        _uptime_said,
        lambda rule: f"{_WINDOWS[rule.window]} uptime {_bound(rule)}",
    ),
    LatencyRule: Signal(
        lambda rule: (_latency(rule),),
        _value(_latency),
        lambda rule, value, _: f"{rule.percentile} latency {value:,.0f} ms",
        lambda rule: f"{rule.percentile} {_bound(rule)}",
    ),
    StatusRule: Signal(
        _just(figures.STATUS),
        _status,
        _status_said,
        lambda rule: f"a status other than 0{_lasting(rule)}",
    ),
    GoneRule: Signal(lambda _: (), _none, _nothing, lambda _: "not offered any more"),
    PriceRule: Signal(
        lambda _: (),
        _none,
        _nothing,
        lambda rule: (
            f"by {quantity(rule.at_least, '%')} or more" if rule.at_least else "any change"
        ),
    ),
    KeyLimitRule: Signal(_just(figures.LIMIT_REMAINING), _limit_used, _limit_said, _bound),
    KeyExpiryRule: Signal(
        _just(figures.USAGE),
        _days_left,
        _expiry_said,
        lambda rule: f"within {quantity(rule.within, 'days')}",
    ),
    GuardrailRule: Signal(
        _just(HEALTHY), _value(lambda _: HEALTHY), _healthy_said, _healthy_demand
    ),
    UnreadableRule: Signal(
        _just(UNREADABLE),
        _value(lambda _: UNREADABLE),
        lambda *_: "cannot be read",
        lambda rule: f"not readable{_lasting(rule)}",
    ),
    BudgetRule: Signal(
        lambda rule: tuple(figures.remaining_figure(each) for each in _intervals(rule)),
        _spent,
        _spent_said,
        lambda rule: f"{'' if rule.interval == 'any' else f'{rule.interval} '}{_bound(rule)}",
    ),
}
"""What every kind of rule watches."""


_NAME = 80


def signal_of(rule: AlertRule) -> Signal:
    """What a rule watches."""
    return SIGNALS[type(rule)]


def resource_of(rule: AlertRule) -> str:
    """What a rule's alerts are about, as the history calls it."""
    return GUARDED if isinstance(rule, GuardrailRule) else rule.RESOURCE


def watches(rule: AlertRule, subject: Subject, facts: Fields) -> bool:
    """Whether a subject is in a rule's scope."""
    if rule.scope == "all":
        return True
    if rule.scope == "model":
        return rule.only == model_name(subject)
    if rule.scope == "workspace" and subject.resource != "workspace":
        return rule.only == facts.get("workspace_id")
    return rule.only == subject.identity


def model_name(subject: Subject) -> str:
    """The model that a subject belongs to; empty where it belongs to none."""
    if subject.resource == GUARDED:
        return subject.identity.partition(" ")[2]
    return model_of(subject.identity) if subject.resource == "endpoint" else ""


def subject_name(subject: Subject, facts: Fields) -> str:
    """What a subject is called, fit to be shown."""
    called = safe_line(facts.get(NAME) or subject.identity, _NAME)
    match subject.resource:
        case "credits":
            return "account"
        case "endpoint":
            return safe_line(f"{model_name(subject)} at {called}", _NAME)
        case _ if subject.resource == GUARDED:
            return safe_line(f"{called} · {model_name(subject)}", _NAME)
        case _ if subject == Subject(GATEWAY, ACCOUNT):
            return "gateway"
        case _ if subject.resource == GATEWAY:
            return f"reading of {called.replace(':', ' of ')}"
    return called
