"""What can be an alert: one model for each kind of rule, with its bounds, units and defaults.

The models are the only place where limits of rules stand: forms and the file of rules read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel
from gwtui.domain.alert_state import Bounds, Direction, Timing

Severity = Literal["warning", "critical"]
Scope = Literal["all", "model", "endpoint", "key", "workspace"]

USD, PERCENT, MILLISECONDS, DAYS, ENDPOINTS = "USD", "%", "ms", "days", "endpoints"

_MINUTE = timedelta(minutes=1)
_LONGEST = timedelta(days=7)


def _figure(description: str, unit: str, **limits: Any) -> Any:
    return Field(description=description, json_schema_extra={"x-unit": unit}, **limits)


def _default(value: Any, description: str, unit: str, **limits: Any) -> Any:
    return Field(value, description=description, json_schema_extra={"x-unit": unit}, **limits)


Wait = Annotated[timedelta, Field(ge=timedelta(), le=_LONGEST)]


class AlertRule(RequestModel):
    """What every rule has. ``profile`` None is every profile, ``only`` names what ``scope`` says.

    ``KIND`` stands in the file of rules; ``TITLE`` and ``ABOUT`` are for people; ``RESOURCE`` is
    what its alerts are about.
    """

    KIND: ClassVar[str]
    TITLE: ClassVar[str]
    ABOUT: ClassVar[str]
    RESOURCE: ClassVar[str]

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


class BoundRule(ConditionRule):
    """A rule on a figure with a bound that fires and another one that clears."""

    DIRECTION: ClassVar[Direction]

    fires_at: Decimal
    clears_at: Decimal

    @field_validator("clears_at", check_fields=False)
    @classmethod
    def _apart(cls, clears_at: Decimal, info: ValidationInfo) -> Decimal:
        fires_at = info.data.get("fires_at")
        if fires_at is None:
            return clears_at
        if cls.DIRECTION == "below" and clears_at < fires_at:
            raise PydanticCustomError("bounds", "must not be lower than the bound that fires")
        if cls.DIRECTION == "above" and clears_at > fires_at:
            raise PydanticCustomError("bounds", "must not be higher than the bound that fires")
        return clears_at

    @property
    def bounds(self) -> Bounds:
        """Where its figure is bad."""
        return Bounds(self.DIRECTION, self.fires_at, self.clears_at)


class EventRule(AlertRule):
    """A rule on something that happens: it is an alert until acknowledged, or for a time."""

    keep_for: Annotated[timedelta, Field(ge=_MINUTE, le=timedelta(days=30))] = Field(
        timedelta(days=1), description="how long it is shown unless somebody acknowledges it"
    )


# Kinds ------------------------------------------------------------------------------------------


class CreditsRule(BoundRule):
    """The account's balance."""

    KIND = "credits-below"
    TITLE = "Credits below an amount"
    ABOUT = "the balance of the account is low"
    RESOURCE = "credits"
    DIRECTION = "below"

    severity: Severity = Field("critical", description="how loud it is")
    scope: Literal["all"] = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when the balance is below", USD, ge=0, le=10**9)
    clears_at: Decimal = _figure("clears when it is back at", USD, ge=0, le=10**9)


class RunwayRule(BoundRule):
    """How long the credits last."""

    KIND = "runway-below"
    TITLE = "Credits soon gone"
    ABOUT = "at the present rate the credits last for a few days only"
    RESOURCE = "credits"
    DIRECTION = "below"

    scope: Literal["all"] = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when they last for fewer days than", DAYS, gt=0, le=365)
    clears_at: Decimal = _figure("clears when they last for", DAYS, gt=0, le=365)
    fire_after: Wait = Field(timedelta(minutes=30), description="how long that must hold")
    clear_after: Wait = Field(timedelta(minutes=30), description="how long it must be well")


class UptimeRule(BoundRule):
    """The share of good requests of an endpoint."""

    KIND = "uptime-below"
    TITLE = "Uptime of an endpoint low"
    ABOUT = "too many requests fail; no traffic is no failure"
    RESOURCE = "endpoint"
    DIRECTION = "below"

    scope: Literal["all", "model", "endpoint"] = Field("all", description="what it watches")
    window: Literal["5m", "30m", "1d"] = Field("30m", description="over which time it is counted")
    fires_at: Decimal = _figure("fires below", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure("clears from", PERCENT, gt=0, le=100)
    fire_after: Wait = Field(timedelta(minutes=5), description="how long that must hold")
    clear_after: Wait = Field(timedelta(minutes=5), description="how long it must be well")


class LatencyRule(BoundRule):
    """How long an endpoint takes."""

    KIND = "latency-above"
    TITLE = "Latency of an endpoint high"
    ABOUT = "the first token takes long; no traffic is not slow"
    RESOURCE = "endpoint"
    DIRECTION = "above"

    scope: Literal["all", "model", "endpoint"] = Field("all", description="what it watches")
    percentile: Literal["p50", "p90", "p99"] = Field("p90", description="of the last 30 minutes")
    fires_at: Decimal = _figure("fires from", MILLISECONDS, gt=0, le=600_000)
    clears_at: Decimal = _figure("clears down to", MILLISECONDS, gt=0, le=600_000)
    fire_after: Wait = Field(timedelta(minutes=10), description="how long that must hold")
    clear_after: Wait = Field(timedelta(minutes=5), description="how long it must be well")


class StatusRule(ConditionRule):
    """What the gateway itself says of an endpoint."""

    KIND = "endpoint-status"
    TITLE = "Status of an endpoint not normal"
    ABOUT = "the gateway reports another status than 0"
    RESOURCE = "endpoint"

    scope: Literal["all", "model", "endpoint"] = Field("all", description="what it watches")
    fire_after: Wait = Field(timedelta(minutes=5), description="how long that must hold")
    clear_after: Wait = Field(timedelta(minutes=5), description="how long it must be well")


class GoneRule(EventRule):
    """An endpoint that was offered and is not any more."""

    KIND = "endpoint-gone"
    TITLE = "Endpoint gone"
    ABOUT = "an endpoint of a watched model is not offered any more"
    RESOURCE = "endpoint"

    scope: Literal["all", "model", "endpoint"] = Field("all", description="what it watches")


class PriceRule(EventRule):
    """A price that is another one."""

    KIND = "price-changed"
    TITLE = "Price of an endpoint changed"
    ABOUT = "an endpoint of a watched model costs something else than before"
    RESOURCE = "endpoint"

    scope: Literal["all", "model", "endpoint"] = Field("all", description="what it watches")
    at_least: Decimal = _default(
        Decimal(0), "only changes of at least; a discount or override always counts", PERCENT, ge=0
    )


class KeyLimitRule(BoundRule):
    """A key that has used most of its limit."""

    KIND = "key-near-limit"
    TITLE = "Key close to its limit"
    ABOUT = "most of what a key may spend is spent"
    RESOURCE = "key"
    DIRECTION = "above"

    scope: Literal["all", "key", "workspace"] = Field("all", description="what it watches")
    fires_at: Decimal = _figure("fires when so much of the limit is used", PERCENT, gt=0, le=100)
    clears_at: Decimal = _figure("clears down to", PERCENT, ge=0, le=100)


class KeyExpiryRule(ConditionRule):
    """A key that stops working soon."""

    KIND = "key-expires"
    TITLE = "Key expires soon"
    ABOUT = "a key stops working within days; it stays an alert for a day after that"
    RESOURCE = "key"

    scope: Literal["all", "key", "workspace"] = Field("all", description="what it watches")
    within: Decimal = _default(Decimal(7), "fires when it expires within", DAYS, gt=0, le=365)

    @property
    def bounds(self) -> Bounds:
        """Days that are left."""
        return Bounds("below", self.within, self.within)


class GuardrailRule(BoundRule):
    """A guardrail that lets nothing healthy through."""

    KIND = "guardrail-leaves-none"
    TITLE = "Guardrail leaves no healthy endpoint"
    ABOUT = "requests under a guardrail find no working endpoint of a watched model"
    RESOURCE = "guardrail"
    DIRECTION = "below"

    scope: Literal["all", "model", "workspace"] = Field("all", description="what it watches")
    fires_at: Decimal = _default(
        Decimal(1), "fires with fewer healthy endpoints than", ENDPOINTS, ge=1, le=100
    )
    clears_at: Decimal = _default(Decimal(1), "clears with", ENDPOINTS, ge=1, le=100)
    fire_after: Wait = Field(timedelta(minutes=5), description="how long that must hold")
    clear_after: Wait = Field(timedelta(minutes=5), description="how long it must be well")


class UnreadableRule(ConditionRule):
    """A gateway that cannot be read: every other rule is blind then."""

    KIND = "unreadable"
    TITLE = "Gateway cannot be read"
    ABOUT = "readings fail, all of them or those of one list; other rules see nothing meanwhile"
    RESOURCE = "gateway"

    scope: Literal["all"] = Field("all", description="what it watches")
    fire_after: Wait = Field(timedelta(minutes=5), description="how long that must hold")


class BudgetRule(BoundRule):
    """A workspace that has spent most of a budget."""

    KIND = "budget-over"
    TITLE = "Workspace close to its budget"
    ABOUT = "most of a budget of a workspace is spent"
    RESOURCE = "workspace"
    DIRECTION = "above"

    scope: Literal["all", "workspace"] = Field("all", description="what it watches")
    interval: Literal["any", "daily", "weekly", "monthly", "lifetime"] = Field(
        "any", description="which budget"
    )
    fires_at: Decimal = _figure("fires when so much of it is spent", PERCENT, gt=0, le=1000)
    clears_at: Decimal = _figure("clears down to", PERCENT, ge=0, le=1000)


KINDS: Mapping[str, type[AlertRule]] = MappingProxyType(
    {
        model.KIND: model
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
        "key-expires": KeyExpiryRule(name="Key expires soon"),
        "guardrail-leaves-none": GuardrailRule(name="Guardrail leaves no healthy endpoint"),
        "gateway-unreadable": UnreadableRule(name="Gateway cannot be read", severity="critical"),
        "budget-nearly-spent": BudgetRule(name="Budget nearly spent", **bounds(90, 85)),
    }
