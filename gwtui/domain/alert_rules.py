"""Alert rules: a model for each kind of rule, with its metrics, thresholds and texts.

The thresholds and limits exist only here. Forms, ``alerts.toml``, the findings, ``gwtui check`` and
the shipped Prometheus rules use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, JsonValue, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.request import RequestModel, field_rules
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.alert_state import Bounds, Direction, Timing
from gwtui.domain.keys import EXPIRING_SOON, NEAR_LIMIT
from gwtui.domain.money import percent_points, quantity, usd
from gwtui.domain.runway import MAX_DAYS
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import duration, utc

Severity = Literal["warning", "critical"]
Scope = Literal["all", "model", "endpoint", "key", "workspace"]

USD, PERCENT, MILLISECONDS, DAYS = "USD", "%", "ms", "days"

GATEWAY = "gateway"
"""The resource of alerts about failed reads; other alerts are about a row, such as a key."""
RUNWAY = "runway_days"
"""A computed figure of the credits: days until they run out."""
UNREADABLE = "unreadable"
"""A figure of a list, or of the whole gateway: 1 if it cannot be read, else 0."""

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_LONGEST = timedelta(days=7)
_HUNDRED = Decimal(100)
_NAME = 80
_SCOPE = "everything, or only one resource"
_FIRE_AFTER = "how long the condition must last before the alert fires"
_CLEAR_AFTER = "how long the condition must be gone before the alert clears"
_SPENDING = "Buy credits, or find the top spenders."
_FALLBACK = "Requests fall back to other endpoints. Exclude this one if that takes too long."


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A kind of rule: ``id`` is its name in ``alerts.toml``.

    ``resource`` is what its alerts are about, such as "key", and ``figures`` are the recorded
    metrics that it needs. ``about`` describes the kind and ``advice`` how to fix the problem.
    ``message`` describes the problem and ``demand`` the condition; both are format strings for
    ``AlertRule.words``.
    """

    id: str
    title: str
    about: str
    advice: str
    resource: str
    figures: tuple[str, ...] = ()
    message: str = ""
    demand: str = "{bound}"
    direction: Direction = "above"


@dataclass(frozen=True, slots=True)
class RuleReading:
    """The known values of one subject, such as one key, at one moment.

    ``values`` are metrics; None is unknown. ``facts`` are its other recorded properties, such as
    name, limit and expiry; amounts are decimal text.
    """

    values: Mapping[str, Decimal | None]
    facts: Mapping[str, JsonValue]
    at: datetime


def _figure(description: str, unit: str, **options: Any) -> Any:
    return Field(description=description, json_schema_extra={"x-unit": unit}, **options)


def _wait(minutes: int, description: str) -> Any:
    return Field(timedelta(minutes=minutes), description=description)


OfEndpoints = Literal["all", "model", "endpoint"]
OfKeys = Literal["all", "key", "workspace"]
Wait = Annotated[timedelta, Field(ge=timedelta(), le=_LONGEST)]


class AlertRule(RequestModel):
    """The fields of every rule. ``only`` is the id of the key, model ... that ``scope`` names."""

    kind: ClassVar[RuleKind]

    name: str = Field(min_length=1, max_length=60, description="shown as the name of its alerts")
    enabled: bool = Field(True, description="whether the rule is evaluated")
    severity: Severity = Field("warning", description="severity of its alerts")
    scope: Scope = Field("all", description=_SCOPE)
    only: str | None = Field(
        None,
        max_length=300,
        validate_default=True,
        description="id of the resource to watch; empty if Watches is all",
    )
    profile: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        None, description="evaluate the rule on this profile only; empty for all profiles"
    )

    @field_validator("only")
    @classmethod
    def _named(cls, only: str | None, info: ValidationInfo) -> str | None:
        scope = info.data.get("scope", "all")
        if scope == "all" and only:
            raise PydanticCustomError("scope", "must be empty for a rule that watches all")
        if scope != "all" and not only:
            raise PydanticCustomError(
                "scope", "must be the id of the {scope} to watch", {"scope": scope}
            )
        return only or None

    @property
    def demand(self) -> str:
        """The condition under which the rule fires, such as "below 10 USD"."""
        return self.kind.demand.format(**self.words())

    def words(self) -> dict[str, str]:
        """The values for the format strings of the kind: every field as text, with its unit."""
        rules = field_rules(type(self))
        texts: dict[str, str] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            texts[name] = (
                quantity(value, rules[name].unit) if isinstance(value, Decimal) else str(value)
            )
        return texts

    def watches(self, subject: tuple[str, str], facts: Mapping[str, JsonValue]) -> bool:
        """Whether a subject (resource, id) with these facts is in the scope of the rule."""
        resource, identity = subject
        if self.scope == "all":
            return True
        if self.scope == "model":
            return self.only == model_name(subject)
        if self.scope == "workspace" and resource != "workspace":
            return self.only == facts.get("workspace_id")
        return self.only == identity


class ConditionRule(AlertRule):
    """A rule about a condition that begins and ends, as opposed to an event."""

    fire_after: Wait = _wait(0, _FIRE_AFTER)
    clear_after: Wait = _wait(0, _CLEAR_AFTER)

    @property
    def timing(self) -> Timing:
        """How long the condition lasts before the alert fires, and is over before it clears."""
        return Timing(self.fire_after, self.clear_after)

    @property
    def bounds(self) -> Bounds:
        """The thresholds of ``measure``. By default, the rule fires at 1 and clears at 0."""
        return Bounds("above", Decimal(1), Decimal(0))

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the recorded metrics that the rule needs."""
        return tuple(figure.format(**vars(self)) for figure in self.kind.figures)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """The value to compare with the thresholds; None if the reading has none."""
        return reading.values.get(self.figures[0])

    def is_bad(self, reading: RuleReading) -> bool:
        """Whether a reading is beyond the threshold that fires, however long it lasts."""
        value = self.measure(reading)
        return value is not None and self.bounds.evidence(value) == "bad"

    def overrides(self, other: ConditionRule) -> bool:
        """Whether ``other`` is not reported for a subject while both rules fire for it."""
        same = type(self) is type(other) and self.figures == other.figures
        return same and self.enabled and self.severity == "critical" != other.severity

    def message(self, value: Decimal, reading: RuleReading) -> str:
        """The problem in a few words, for the alert; ``value`` is from ``measure``."""
        status = reading.values.get("status")
        return self.kind.message.format(
            **self.words(),
            value=value,
            usd=usd(value),
            percent=percent_points(value, places=1),
            limit=usd(_amount(reading.facts.get("limit"))),
            expires=utc(_expiry(reading)),
            status="—" if status is None else f"{status:f}",
        )

    def words(self) -> dict[str, str]:
        """Also ``lasting``: " for 5 min", or "" if the rule fires at once."""
        lasting = f" for {duration(self.fire_after)}" if self.fire_after else ""
        return {**super().words(), "lasting": lasting}


class BoundRule(ConditionRule):
    """A condition on a metric, with the thresholds ``fires_at`` and ``clears_at``."""

    fires_at: Decimal
    clears_at: Decimal

    @field_validator("clears_at", check_fields=False)
    @classmethod
    def _apart(cls, clears_at: Decimal, info: ValidationInfo) -> Decimal:
        fires_at = info.data.get("fires_at")
        if fires_at is None:
            return clears_at
        if cls.kind.direction == "below" and clears_at < fires_at:
            raise PydanticCustomError("bounds", "must not be lower than the threshold that fires")
        if cls.kind.direction == "above" and clears_at > fires_at:
            raise PydanticCustomError("bounds", "must not be higher than the threshold that fires")
        return clears_at

    @property
    def bounds(self) -> Bounds:
        """The thresholds as typed by the user."""
        return Bounds(self.kind.direction, self.fires_at, self.clears_at)

    def words(self) -> dict[str, str]:
        """Also ``bound``: the threshold that fires and the duration."""
        words = super().words()
        side = "below" if self.kind.direction == "below" else "from"
        return {**words, "bound": f"{side} {words['fires_at']}{words['lasting']}"}


class EventRule(AlertRule):
    """A rule about an event. Its alert fires until it is acknowledged or expires."""

    keep_for: Annotated[timedelta, Field(ge=_MINUTE, le=timedelta(days=30))] = Field(
        timedelta(days=1), description="how long it fires unless acknowledged"
    )


# Kinds ------------------------------------------------------------------------------------------


class CreditsRule(BoundRule):
    """The account's balance."""

    kind = RuleKind(
        "credits-below",
        "Credits below an amount",
        "the balance of the account is low",
        _SPENDING,
        "credits",
        ("balance",),
        "{usd} left",
        direction="below",
    )
    severity: Severity = Field("critical", description="severity of its alerts")
    scope: Literal["all"] = Field("all", description=_SCOPE)
    fires_at: Decimal = _figure("fires when the balance falls below this", USD, ge=0, le=10**9)
    clears_at: Decimal = _figure("clears when it is at least this", USD, ge=0, le=10**9)


class RunwayRule(BoundRule):
    """The days until the credits run out."""

    kind = RuleKind(
        "runway-below",
        "Credits running out",
        "at the current rate, the credits last only a few days",
        _SPENDING,
        "credits",
        (RUNWAY,),
        "gone in {value:.1f} days at the current rate",
        direction="below",
    )
    scope: Literal["all"] = Field("all", description=_SCOPE)
    fires_at: Decimal = _figure(
        "fires when the credits last fewer days than this", DAYS, gt=0, le=365
    )
    clears_at: Decimal = _figure(
        "clears when they last at least this many days", DAYS, gt=0, le=365
    )
    fire_after: Wait = _wait(30, _FIRE_AFTER)
    clear_after: Wait = _wait(30, _CLEAR_AFTER)


class UptimeRule(BoundRule):
    """The share of successful requests of an endpoint."""

    kind = RuleKind(
        "uptime-below",
        "Endpoint uptime low",
        "too many requests fail; no traffic does not count",
        _FALLBACK,
        "endpoint",
        ("uptime_last_{window}",),
        "{percent} of the requests of the last {window} succeeded",
        "{window} uptime {bound}",
        direction="below",
    )
    scope: OfEndpoints = Field("all", description=_SCOPE)
    window: Literal["5m", "30m", "1d"] = Field("30m", description="the window of the uptime")
    fires_at: Decimal = _figure("fires when the share falls below this", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure("clears when it is at least this", PERCENT, gt=0, le=100)
    fire_after: Wait = _wait(5, _FIRE_AFTER)
    clear_after: Wait = _wait(5, _CLEAR_AFTER)


class LatencyRule(BoundRule):
    """The latency of an endpoint."""

    kind = RuleKind(
        "latency-above",
        "Endpoint latency high",
        "the first token takes too long; no traffic does not count",
        "Prefer other endpoints of the model in requests, or sort them by latency.",
        "endpoint",
        ("latency_{percentile}",),
        "{percentile} latency {value:,.0f} ms",
        "{percentile} {bound}",
    )
    scope: OfEndpoints = Field("all", description=_SCOPE)
    percentile: Literal["p50", "p90", "p99"] = Field("p90", description="of the last 30 minutes")
    fires_at: Decimal = _figure("fires when it reaches this", MILLISECONDS, gt=0, le=600_000)
    clears_at: Decimal = _figure("clears when it is at most this", MILLISECONDS, gt=0, le=600_000)
    fire_after: Wait = _wait(10, _FIRE_AFTER)
    clear_after: Wait = _wait(5, _CLEAR_AFTER)


class StatusRule(ConditionRule):
    """The status that the gateway reports for an endpoint."""

    kind = RuleKind(
        "endpoint-status",
        "Endpoint status not normal",
        "the gateway reports a status other than 0",
        _FALLBACK,
        "endpoint",
        ("status",),
        "the gateway reports status {status}",
        "a status other than 0{lasting}",
    )
    scope: OfEndpoints = Field("all", description=_SCOPE)
    fire_after: Wait = _wait(5, _FIRE_AFTER)
    clear_after: Wait = _wait(5, _CLEAR_AFTER)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """1 for any status other than 0, 0 for status 0; None if unknown."""
        status = reading.values.get("status")
        return None if status is None else Decimal(bool(status))


class GoneRule(EventRule):
    """An endpoint that is no longer offered."""

    kind = RuleKind(
        "endpoint-gone",
        "Endpoint gone",
        "an endpoint of a watched model is no longer offered",
        "Check which endpoints are left, and whether your guardrails allow them.",
        "endpoint",
        demand="no longer offered",
    )
    scope: OfEndpoints = Field("all", description=_SCOPE)


class PriceRule(EventRule):
    """A changed price."""

    kind = RuleKind(
        "price-changed",
        "Endpoint price changed",
        "the price of an endpoint of a watched model changed",
        "Compare the endpoints of the model. Requests can set a maximum price.",
        "endpoint",
        demand="changed by {at_least} or more",
    )
    scope: OfEndpoints = Field("all", description=_SCOPE)
    at_least: Decimal = _figure(
        "the smallest change; a discount or override always counts",
        PERCENT,
        default=Decimal(0),
        ge=0,
    )

    @property
    def demand(self) -> str:
        """The condition in words."""
        return super().demand if self.at_least else "any change"


class KeyLimitRule(BoundRule):
    """A key that has used most of its limit."""

    kind = RuleKind(
        "key-near-limit",
        "Key close to its limit",
        "a key has used most of its limit",
        "Raise the limit, or find out what is spending.",
        "key",
        ("limit_remaining",),
        "{percent} of {limit} is used",
    )
    scope: OfKeys = Field("all", description=_SCOPE)
    fires_at: Decimal = _figure("fires when this share of the limit is used", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure(
        "clears when no more than this share is used", PERCENT, ge=0, le=100
    )

    def measure(self, reading: RuleReading) -> Decimal | None:
        """The used percentage of the limit; 0 for a key without limit, expired or disabled."""
        limit, expires = _amount(reading.facts.get("limit")), _expiry(reading)
        expired = expires is not None and expires <= reading.at
        if limit is None or expired or reading.facts.get("disabled") is True:
            return Decimal(0)
        share = limit_used_share(limit, reading.values.get("limit_remaining"))
        return None if share is None else share * _HUNDRED


class KeyExpiryRule(ConditionRule):
    """A key that stops working soon."""

    kind = RuleKind(
        "key-expires",
        "Key expires soon",
        "a key stops working within days; the alert stays for a day after that",
        "Rotate the key: a successor with the same limits takes over.",
        "key",
        ("usage",),
        "expires {expires}",
        "within {within}",
    )
    scope: OfKeys = Field("all", description=_SCOPE)
    within: Decimal = _figure(
        "fires when the key expires within this many days",
        DAYS,
        default=Decimal(EXPIRING_SOON.days),
        gt=0,
        le=365,
    )

    @property
    def bounds(self) -> Bounds:
        """The thresholds, in days until the key expires."""
        return Bounds("below", self.within, self.within)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """Days until the key expires; None on the day after that.

        ``MAX_DAYS``, so that the alert clears, after that day and for a key that is disabled or
        never expires.
        """
        expires, at = _expiry(reading), reading.at
        if expires is None or reading.facts.get("disabled") is True or at - expires >= _DAY:
            return MAX_DAYS
        return Decimal((expires - at) / _DAY) if at < expires else None


class UnreadableRule(ConditionRule):
    """The gateway or one of its lists cannot be read, so that other rules get no data."""

    kind = RuleKind(
        "unreadable",
        "Gateway cannot be read",
        "all reads fail, or those of one list; other rules get no data until then",
        "Run gwtui doctor to check the connection and the permissions of your key.",
        GATEWAY,
        (UNREADABLE,),
        "cannot be read",
        "not readable{lasting}",
    )
    scope: Literal["all"] = Field("all", description=_SCOPE)
    fire_after: Wait = _wait(5, _FIRE_AFTER)


class BudgetRule(BoundRule):
    """A workspace that has spent most of a budget."""

    kind = RuleKind(
        "budget-over",
        "Workspace close to its budget",
        "a workspace has spent most of a budget",
        "Raise the budget, or find out which of its keys is spending.",
        "workspace",
        demand="{bound} of {interval} budget",
    )
    scope: Literal["all", "workspace"] = Field("all", description=_SCOPE)
    interval: Literal["any", "daily", "weekly", "monthly", "lifetime"] = Field(
        "any", description="which budget"
    )
    fires_at: Decimal = _figure(
        "fires when this share of the budget is spent", PERCENT, gt=0, le=1000
    )
    clears_at: Decimal = _figure(
        "clears when no more than this share is spent", PERCENT, ge=0, le=1000
    )

    @property
    def figures(self) -> tuple[str, ...]:
        """The metric with the remaining amount of each budget that the rule watches."""
        return tuple(f"budget_{interval}_remaining" for interval in self._intervals)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """The spent percentage of the budget closest to its limit.

        0 without a budget; None if there is one, but its limit or spend is unknown.
        """
        shares = [share for _, share in self._shares(reading)]
        if shares:
            return max(shares)
        limits = (reading.facts.get(f"budget_{interval}") for interval in self._intervals)
        return Decimal(0) if all(limit is None for limit in limits) else None

    def message(self, value: Decimal, reading: RuleReading) -> str:
        """Name the budget with the highest spent share, and that share."""
        which = next((budget for budget, share in self._shares(reading) if share == value), "")
        limit = _amount(reading.facts.get(f"budget_{which}"))
        return f"{percent_points(value)} of the {which} budget of {usd(limit)} is spent"

    @property
    def _intervals(self) -> tuple[str, ...]:
        return BUDGET_INTERVALS if self.interval == "any" else (self.interval,)

    def _shares(self, reading: RuleReading) -> Iterator[tuple[str, Decimal]]:
        """Yield interval and spent percentage of each budget whose limit and spend are known."""
        for interval in self._intervals:
            limit = _amount(reading.facts.get(f"budget_{interval}"))
            share = limit_used_share(limit, reading.values.get(f"budget_{interval}_remaining"))
            if share is not None:
                yield interval, share * _HUNDRED


def key_reading(key: ApiKey, workspace_id: str | None, now: datetime) -> RuleReading:
    """Convert a key to a reading for KeyLimitRule and KeyExpiryRule, without the history."""
    return RuleReading(
        {"limit_remaining": key.limit_remaining},
        {
            "limit": None if key.limit is None else str(key.limit),
            "disabled": key.disabled,
            "expires_at": None if key.expires_at is None else timestamp_text(key.expires_at),
            "workspace_id": workspace_id,
        },
        now,
    )


def _expiry(reading: RuleReading) -> datetime | None:
    value = reading.facts.get("expires_at")
    return datetime.fromisoformat(value) if isinstance(value, str) else None


def _amount(value: JsonValue) -> Decimal | None:
    """Parse an amount from ``RuleReading.facts``; None stays None."""
    return None if value is None else Decimal(str(value))


def model_name(subject: tuple[str, str]) -> str:
    """The model id of an endpoint (resource, id); "" for every other subject."""
    resource, identity = subject
    return identity.partition(" ")[0] if resource == "endpoint" else ""


def subject_name(subject: tuple[str, str], facts: Mapping[str, JsonValue]) -> str:
    """The display name of a subject (resource, id), such as "MODEL at PROVIDER"; escaped."""
    resource, identity = subject
    called = safe_line(facts.get("name") or identity, _NAME)
    match resource:
        case "credits":
            return "account"
        case "endpoint":
            return safe_line(f"{model_name(subject)} at {called}", _NAME)
        case _ if resource == GATEWAY:
            whole = identity == "account"
            return "gateway" if whole else f"reading of {called.replace(':', ' of ')}"
    return called


KINDS: Mapping[str, type[AlertRule]] = MappingProxyType(
    {
        model.kind.id: model
        for model in (
            CreditsRule,
            RunwayRule,
            UptimeRule,
            LatencyRule,
            StatusRule,
            GoneRule,
            PriceRule,
            KeyLimitRule,
            KeyExpiryRule,
            UnreadableRule,
            BudgetRule,
        )
    }
)
"""The kinds of rules by their names in the file."""


def distinct_names(rules: Mapping[str, AlertRule]) -> dict[str, str]:
    """The display name of each rule, by id. Rules of the same name get their id appended."""
    count = Counter(rule.name for rule in rules.values())
    return {
        identity: rule.name if count[rule.name] == 1 else f"{rule.name} ({identity})"
        for identity, rule in rules.items()
    }


def default_rules() -> dict[str, AlertRule]:
    """The rules, by id, that apply if there is no ``alerts.toml``."""

    def bounds(fires_at: int, clears_at: int) -> dict[str, Any]:
        return {"fires_at": Decimal(fires_at), "clears_at": Decimal(clears_at)}

    return {
        "credits-low": CreditsRule(name="Credits low", **bounds(10, 12)),
        "credits-soon-gone": RunwayRule(name="Credits running out", **bounds(7, 8)),
        "endpoint-failing": UptimeRule(name="Endpoint failing", **bounds(90, 95)),
        "endpoint-slow": LatencyRule(name="Endpoint slow", enabled=False, **bounds(10000, 8000)),
        "endpoint-status": StatusRule(name="Endpoint status not normal"),
        "endpoint-gone": GoneRule(name="Endpoint gone"),
        "price-changed": PriceRule(name="Price changed"),
        "key-near-limit": KeyLimitRule(
            name="Key close to its limit", **bounds(int(NEAR_LIMIT * 100), 75)
        ),
        "key-limit-used-up": KeyLimitRule(
            name="Limit of a key used up", severity="critical", **bounds(100, 99)
        ),
        "key-expires": KeyExpiryRule(name="Key expires soon"),
        "key-expires-today": KeyExpiryRule(
            name="Key expires within a day", severity="critical", within=Decimal(1)
        ),
        "gateway-unreadable": UnreadableRule(name="Gateway cannot be read", severity="critical"),
        "budget-nearly-spent": BudgetRule(name="Budget nearly spent", **bounds(90, 85)),
    }
