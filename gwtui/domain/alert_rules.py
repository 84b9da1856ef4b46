"""What can be an alert: a model for each kind of rule, with what it compares and how it is worded.

The models are the only place where limits of rules stand: forms, the file of rules, the findings,
``gwtui check`` and the shipped rules of Prometheus read them.
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

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.request import RequestModel, field_rules
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.alert_state import Bounds, Direction, Timing
from gwtui.domain.money import percent_points, quantity, usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import duration, utc

Severity = Literal["warning", "critical"]
Scope = Literal["all", "model", "endpoint", "key", "workspace"]

USD, PERCENT, MILLISECONDS, DAYS, ENDPOINTS = "USD", "%", "ms", "days", "endpoints"

GATEWAY = "gateway"
"""The resource of what is about the reading of the gateway itself."""
GUARDED = "guarded"
"""The resource of a model under a guardrail; its identity is both, with a space between."""
RUNWAY = "runway_days"
"""A figure of the credits that is worked out: days until they are gone."""
HEALTHY = "healthy_endpoints"
"""Of a model under a guardrail: the endpoints that remain and work."""
UNREADABLE = "unreadable"
"""Of a list of the gateway, or all of it: 1 when it cannot be read, else 0."""
FAR = Decimal(3650)
"""Days that stand for never."""

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_LONGEST = timedelta(days=7)
_HUNDRED = Decimal(100)
_NAME = 80
_SPENDING = "Buy credits, or find out what is spending so much."
_FALLBACK = "Requests fall back to other endpoints; exclude this one where that takes too long."


@dataclass(frozen=True, slots=True)
class RuleKind:
    """What all rules of a kind share: its name in the file, its words, and what it compares.

    ``advice`` says what to do. ``resource`` is what its alerts are about, ``figures`` are those
    that it compares. The words of the rule are put into ``said``, what is wrong, and ``demand``,
    what must be so for it to fire.
    """

    id: str
    title: str
    about: str
    advice: str
    resource: str
    figures: tuple[str, ...] = ()
    said: str = ""
    demand: str = "{bound}"
    direction: Direction = "above"


@dataclass(frozen=True, slots=True)
class RuleReading:
    """A subject at one moment: its figures (None is unknown) and its facts."""

    values: Mapping[str, Decimal | None]
    facts: Mapping[str, JsonValue]
    at: datetime


def _figure(description: str, unit: str, **limits: Any) -> Any:
    return Field(description=description, json_schema_extra={"x-unit": unit}, **limits)


def _default(value: Any, description: str, unit: str, **limits: Any) -> Any:
    return Field(value, description=description, json_schema_extra={"x-unit": unit}, **limits)


def _must_last(minutes: int) -> Any:
    return Field(timedelta(minutes=minutes), description="how long that must hold")


def _must_be_well(minutes: int) -> Any:
    return Field(timedelta(minutes=minutes), description="how long it must be well")


OfEndpoints = Literal["all", "model", "endpoint"]
OfKeys = Literal["all", "key", "workspace"]
Wait = Annotated[timedelta, Field(ge=timedelta(), le=_LONGEST)]


class AlertRule(RequestModel):
    """What every rule has.

    ``only`` names what ``scope`` says; it holds on every profile unless ``profile`` names one.
    """

    kind: ClassVar[RuleKind]

    name: str = Field(min_length=1, max_length=60, description="what its alerts are called")
    enabled: bool = Field(True, description="whether it is watched")
    severity: Severity = Field("warning", description="how loud it is")
    scope: Scope = Field("all", description="what it watches")
    only: str | None = Field(
        None, max_length=300, validate_default=True, description="which one, by its identifier"
    )
    profile: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        None, description="only on this profile"
    )

    @field_validator("only")
    @classmethod
    def _named(cls, only: str | None, info: ValidationInfo) -> str | None:
        scope = info.data.get("scope", "all")
        if scope == "all" and only:
            raise PydanticCustomError("scope", "matters only when not everything is watched")
        if scope != "all" and not only:
            raise PydanticCustomError("scope", "say which one")
        return only or None

    @property
    def demand(self) -> str:
        """What must be so for it to fire, in words."""
        return self.kind.demand.format(**self.words())

    def words(self) -> dict[str, str]:
        """Its fields with their units, and how long it must last."""
        rules = field_rules(type(self))
        found: dict[str, str] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            found[name] = (
                quantity(value, rules[name].unit) if isinstance(value, Decimal) else str(value)
            )
        return found

    def watches(self, subject: tuple[str, str], facts: Mapping[str, JsonValue]) -> bool:
        """Whether a subject (resource and identity) is in its scope."""
        resource, identity = subject
        if self.scope == "all":
            return True
        if self.scope == "model":
            return self.only == model_name(subject)
        if self.scope == "workspace" and resource != "workspace":
            return self.only == facts.get("workspace_id")
        return self.only == identity


class ConditionRule(AlertRule):
    """A rule on something that lasts."""

    fire_after: Wait = Field(timedelta(), description="how long it must last before it is told")
    clear_after: Wait = Field(timedelta(), description="how long it must be well before it is over")

    @property
    def timing(self) -> Timing:
        """How long it must last."""
        return Timing(self.fire_after, self.clear_after)

    @property
    def bounds(self) -> Bounds:
        """Where its figure is bad: 1 or more, unless the kind has bounds of its own."""
        return Bounds("above", Decimal(1), Decimal(0))

    @property
    def figures(self) -> tuple[str, ...]:
        """The recorded figures that it needs."""
        return self.kind.figures

    def measure(self, reading: RuleReading) -> Decimal | None:
        """The figure that is compared, None for no evidence."""
        return reading.values.get(self.figures[0])

    def is_bad(self, reading: RuleReading) -> bool:
        """Whether one reading is beyond the bound that fires."""
        value = self.measure(reading)
        return value is not None and self.bounds.evidence(value) == "bad"

    def is_graver(self, other: ConditionRule) -> bool:
        """Whether it is told instead of another one on the same figure."""
        same = type(self) is type(other) and self.figures == other.figures
        return same and self.enabled and self.severity == "critical" != other.severity

    def said(self, value: Decimal, reading: RuleReading) -> str:
        """The problem in one sentence, for the alert."""
        status = reading.values.get("status")
        return self.kind.said.format(
            **self.words(),
            value=value,
            usd=usd(value),
            percent=percent_points(value, places=1),
            limit=usd(_amount(reading.facts.get("limit"))),
            expires=utc(_expiry(reading)),
            status="—" if status is None else f"{status:f}",
        )

    def words(self) -> dict[str, str]:
        """Its fields with their units, and how long it must last."""
        lasting = f" for {duration(self.fire_after)}" if self.fire_after else ""
        return {**super().words(), "lasting": lasting}


class BoundRule(ConditionRule):
    """A rule on a figure with a bound that fires and another one that clears."""

    fires_at: Decimal
    clears_at: Decimal

    @field_validator("clears_at", check_fields=False)
    @classmethod
    def _apart(cls, clears_at: Decimal, info: ValidationInfo) -> Decimal:
        fires_at = info.data.get("fires_at")
        if fires_at is None:
            return clears_at
        if cls.kind.direction == "below" and clears_at < fires_at:
            raise PydanticCustomError("bounds", "must not be lower than the bound that fires")
        if cls.kind.direction == "above" and clears_at > fires_at:
            raise PydanticCustomError("bounds", "must not be higher than the bound that fires")
        return clears_at

    @property
    def bounds(self) -> Bounds:
        """Where its figure is bad."""
        return Bounds(self.kind.direction, self.fires_at, self.clears_at)

    def words(self) -> dict[str, str]:
        """Its fields with their units, how long it must last, and the bound that fires."""
        words = super().words()
        side = "below" if self.kind.direction == "below" else "from"
        return {**words, "bound": f"{side} {words['fires_at']}{words['lasting']}"}


class EventRule(AlertRule):
    """A rule on something that happens: it is an alert until acknowledged, or for a time."""

    keep_for: Annotated[timedelta, Field(ge=_MINUTE, le=timedelta(days=30))] = Field(
        timedelta(days=1), description="how long it is shown unless somebody acknowledges it"
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
    severity: Severity = Field("critical", description="how loud it is")
    scope: Literal["all"] = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when the balance is below", USD, ge=0, le=10**9)
    clears_at: Decimal = _figure("clears when it is back at", USD, ge=0, le=10**9)


class RunwayRule(BoundRule):
    """How long the credits last."""

    kind = RuleKind(
        "runway-below",
        "Credits soon gone",
        "at the present rate the credits last for a few days only",
        _SPENDING,
        "credits",
        (RUNWAY,),
        "gone in {value:.1f} days at the present rate",
        direction="below",
    )
    scope: Literal["all"] = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when they last for fewer days than", DAYS, gt=0, le=365)
    clears_at: Decimal = _figure("clears when they last for", DAYS, gt=0, le=365)
    fire_after: Wait = _must_last(30)
    clear_after: Wait = _must_be_well(30)


class UptimeRule(BoundRule):
    """The share of good requests of an endpoint."""

    kind = RuleKind(
        "uptime-below",
        "Uptime of an endpoint low",
        "too many requests fail; no traffic is no failure",
        _FALLBACK,
        "endpoint",
        said="{percent} of the requests of the last {window} were good",
        demand="{window} uptime {bound}",
        direction="below",
    )
    scope: OfEndpoints = Field("all", description="what it watches")
    window: Literal["5m", "30m", "1d"] = Field("30m", description="over which time it is counted")
    fires_at: Decimal = _figure("fires below", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure("clears from", PERCENT, gt=0, le=100)
    fire_after: Wait = _must_last(5)
    clear_after: Wait = _must_be_well(5)

    @property
    def figures(self) -> tuple[str, ...]:
        """That of its window."""
        return (f"uptime_last_{self.window}",)


class LatencyRule(BoundRule):
    """How long an endpoint takes."""

    kind = RuleKind(
        "latency-above",
        "Latency of an endpoint high",
        "the first token takes long; no traffic is not slow",
        "Prefer other endpoints of the model in requests, or sort them by latency.",
        "endpoint",
        said="{percentile} latency {value:,.0f} ms",
        demand="{percentile} {bound}",
    )
    scope: OfEndpoints = Field("all", description="what it watches")
    percentile: Literal["p50", "p90", "p99"] = Field("p90", description="of the last 30 minutes")
    fires_at: Decimal = _figure("fires from", MILLISECONDS, gt=0, le=600_000)
    clears_at: Decimal = _figure("clears down to", MILLISECONDS, gt=0, le=600_000)
    fire_after: Wait = _must_last(10)
    clear_after: Wait = _must_be_well(5)

    @property
    def figures(self) -> tuple[str, ...]:
        """That of its percentile."""
        return (f"latency_{self.percentile}",)


class StatusRule(ConditionRule):
    """What the gateway itself says of an endpoint."""

    kind = RuleKind(
        "endpoint-status",
        "Status of an endpoint not normal",
        "the gateway reports another status than 0",
        _FALLBACK,
        "endpoint",
        ("status",),
        "the gateway reports status {status}",
        "a status other than 0{lasting}",
    )
    scope: OfEndpoints = Field("all", description="what it watches")
    fire_after: Wait = _must_last(5)
    clear_after: Wait = _must_be_well(5)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """1 for any status but 0."""
        status = reading.values.get("status")
        return None if status is None else Decimal(bool(status))


class GoneRule(EventRule):
    """An endpoint that was offered and is not any more."""

    kind = RuleKind(
        "endpoint-gone",
        "Endpoint gone",
        "an endpoint of a watched model is not offered any more",
        "See which endpoints remain, and whether guardrails let any of them through.",
        "endpoint",
        demand="not offered any more",
    )
    scope: OfEndpoints = Field("all", description="what it watches")


class PriceRule(EventRule):
    """A price that is another one."""

    kind = RuleKind(
        "price-changed",
        "Price of an endpoint changed",
        "an endpoint of a watched model costs something else than before",
        "Compare the endpoints of the model; requests can bound the price they pay.",
        "endpoint",
        demand="changed by {at_least} or more",
    )
    scope: OfEndpoints = Field("all", description="what it watches")
    at_least: Decimal = _default(
        Decimal(0), "only changes of at least; a discount or override always counts", PERCENT, ge=0
    )


class KeyLimitRule(BoundRule):
    """A key that has used most of its limit."""

    kind = RuleKind(
        "key-near-limit",
        "Key close to its limit",
        "most of what a key may spend is spent",
        "Raise its limit, or find out what is spending so much.",
        "key",
        ("limit_remaining",),
        "{percent} of {limit} is used",
    )
    scope: OfKeys = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when so much of the limit is used", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure("clears down to", PERCENT, ge=0, le=100)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """Percent; 0 where there is nothing to run into. A limit that is absent is none."""
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
        "a key stops working within days; it stays an alert for a day after that",
        "Rotate it: a successor with the same limits takes over.",
        "key",
        ("usage",),
        "expires {expires}",
        "within {within}",
    )
    scope: OfKeys = Field("all", description="what it watches")
    within: Decimal = _default(Decimal(7), "fires when it expires within", DAYS, gt=0, le=365)

    @property
    def bounds(self) -> Bounds:
        """Days that are left."""
        return Bounds("below", self.within, self.within)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """Days until the key stops working; unknown for a day after that, then never mind."""
        expires, at = _expiry(reading), reading.at
        if expires is None or reading.facts.get("disabled") is True or at - expires >= _DAY:
            return FAR
        return Decimal((expires - at) / _DAY) if at < expires else None


class GuardrailRule(BoundRule):
    """A guardrail that lets nothing healthy through."""

    kind = RuleKind(
        "guardrail-leaves-none",
        "Guardrail leaves no healthy endpoint",
        "requests under a guardrail find no working endpoint of a watched model",
        "Allow another provider of the model until this one works again.",
        GUARDED,
        (HEALTHY,),
        "healthy endpoints left: {value:f}",
        "fewer than {fires_at}{lasting}",
        "below",
    )
    scope: Literal["all", "model", "workspace"] = Field("all", description="what it watches")
    fires_at: Decimal = _default(
        Decimal(1), "fires with fewer healthy endpoints than", ENDPOINTS, ge=1, le=100
    )
    clears_at: Decimal = _default(Decimal(1), "clears with", ENDPOINTS, ge=1, le=100)
    fire_after: Wait = _must_last(5)
    clear_after: Wait = _must_be_well(5)


class UnreadableRule(ConditionRule):
    """A gateway that cannot be read: every other rule is blind then."""

    kind = RuleKind(
        "unreadable",
        "Gateway cannot be read",
        "readings fail, all of them or those of one list; other rules see nothing meanwhile",
        "gwtui doctor tells what the gateway answers, and what its key may read.",
        GATEWAY,
        (UNREADABLE,),
        "cannot be read",
        "not readable{lasting}",
    )
    scope: Literal["all"] = Field("all", description="what it watches")
    fire_after: Wait = _must_last(5)


class BudgetRule(BoundRule):
    """A workspace that has spent most of a budget."""

    kind = RuleKind(
        "budget-over",
        "Workspace close to its budget",
        "most of a budget of a workspace is spent",
        "Raise the budget, or find out which of its keys is spending so much.",
        "workspace",
        demand="{bound} of {interval} budget",
    )
    scope: Literal["all", "workspace"] = Field("all", description="what it watches")
    interval: Literal["any", "daily", "weekly", "monthly", "lifetime"] = Field(
        "any", description="which budget"
    )
    fires_at: Decimal = _figure("fires when so much of it is spent", PERCENT, gt=0, le=1000)
    clears_at: Decimal = _figure("clears down to", PERCENT, ge=0, le=1000)

    @property
    def figures(self) -> tuple[str, ...]:
        """The remainder of each budget."""
        return tuple(f"budget_{interval}_remaining" for interval in self._intervals)

    def measure(self, reading: RuleReading) -> Decimal | None:
        """The highest percentage; 0 without any budget."""
        shares = [share for _, share in self._shares(reading)]
        if shares:
            return max(shares)
        limits = (reading.facts.get(f"budget_{interval}") for interval in self._intervals)
        return Decimal(0) if all(limit is None for limit in limits) else None

    def said(self, value: Decimal, reading: RuleReading) -> str:
        """Which budget it is, and how much of it is spent."""
        which = next((each for each, share in self._shares(reading) if share == value), "")
        limit = _amount(reading.facts.get(f"budget_{which}"))
        return f"{percent_points(value)} of the {which} budget of {usd(limit)} is spent"

    @property
    def _intervals(self) -> tuple[str, ...]:
        return BUDGET_INTERVALS if self.interval == "any" else (self.interval,)

    def _shares(self, reading: RuleReading) -> Iterator[tuple[str, Decimal]]:
        """The budgets that are there, with the percentage that is spent, as far as it is known."""
        for interval in self._intervals:
            limit = _amount(reading.facts.get(f"budget_{interval}"))
            share = limit_used_share(limit, reading.values.get(f"budget_{interval}_remaining"))
            if share is not None:
                yield interval, share * _HUNDRED


def key_reading(key: ApiKey, workspace_id: str | None, now: datetime) -> RuleReading:
    """A key that was just read."""
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
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _amount(value: JsonValue) -> Decimal | None:
    """Amounts in facts are decimal text."""
    try:
        return None if value is None else Decimal(str(value))
    except ArithmeticError:
        return None


def model_name(subject: tuple[str, str]) -> str:
    """The model that a subject belongs to; empty where it belongs to none."""
    resource, identity = subject
    if resource == GUARDED:
        return identity.partition(" ")[2]
    return identity.partition(" ")[0] if resource == "endpoint" else ""


def subject_name(subject: tuple[str, str], facts: Mapping[str, JsonValue]) -> str:
    """The name of a subject, safe to display."""
    resource, identity = subject
    called = safe_line(facts.get("name") or identity, _NAME)
    match resource:
        case "credits":
            return "account"
        case "endpoint":
            return safe_line(f"{model_name(subject)} at {called}", _NAME)
        case _ if resource == GUARDED:
            return safe_line(f"{called} · {model_name(subject)}", _NAME)
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
            GuardrailRule,
            UnreadableRule,
            BudgetRule,
        )
    }
)
"""Every kind of rule by its name in the file."""

RETIRED = frozenset({"probe-slow", "probe-failed", "probe-ttft-above"})
"""Rules and kinds of an earlier version: the file may still name them."""


def names_apart(rules: Mapping[str, AlertRule]) -> dict[str, str]:
    """What rules are called, by id: their names, each with its id where several have the same."""
    count = Counter(rule.name for rule in rules.values())
    return {
        identity: rule.name if count[rule.name] == 1 else f"{rule.name} ({identity})"
        for identity, rule in rules.items()
    }


def default_rules() -> dict[str, AlertRule]:
    """The rules that hold unless the person's file says otherwise, by id."""

    def bounds(fires_at: int, clears_at: int) -> dict[str, Any]:
        return {"fires_at": Decimal(fires_at), "clears_at": Decimal(clears_at)}

    return {
        "credits-low": CreditsRule(name="Credits low", **bounds(10, 12)),
        "credits-soon-gone": RunwayRule(name="Credits soon gone", **bounds(7, 8)),
        "endpoint-failing": UptimeRule(name="Endpoint failing", **bounds(90, 95)),
        "endpoint-slow": LatencyRule(name="Endpoint slow", enabled=False, **bounds(10000, 8000)),
        "endpoint-status": StatusRule(name="Endpoint status not normal"),
        "endpoint-gone": GoneRule(name="Endpoint gone"),
        "price-changed": PriceRule(name="Price changed"),
        "key-near-limit": KeyLimitRule(name="Key close to its limit", **bounds(80, 75)),
        "key-limit-used-up": KeyLimitRule(
            name="Limit of a key used up", severity="critical", **bounds(100, 99)
        ),
        "key-expires": KeyExpiryRule(name="Key expires soon"),
        "key-expires-today": KeyExpiryRule(
            name="Key expires within a day", severity="critical", within=Decimal(1)
        ),
        "guardrail-leaves-none": GuardrailRule(name="Guardrail leaves no healthy endpoint"),
        "gateway-unreadable": UnreadableRule(name="Gateway cannot be read", severity="critical"),
        "budget-nearly-spent": BudgetRule(name="Budget nearly spent", **bounds(90, 85)),
    }
