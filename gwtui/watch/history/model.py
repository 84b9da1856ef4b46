"""The contents of a history: figures, facts, and the changes of facts.

Figures are numbers over time, such as a latency. Facts are the other fields of a resource, such as
its name or expiry, which rarely change; the history stores them with the time span of each value.
Times are aware, UTC, whole seconds. Figures are Decimal, rounded to ``DIGITS`` significant digits;
None means that the gateway gave no figure (no traffic, unknown), never 0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple, get_args

from pydantic import JsonValue

from gwtui.domain.alert_rules import RuleReading

Resource = Literal["credits", "endpoint", "key", "workspace", "guardrail"]
"""The resources of figures and facts."""
RESOURCES: tuple[Resource, ...] = get_args(Resource)

State = Literal["value", "null", "gap"]
"""Of a figure: "value"; "null" if the gateway gave none; "gap" if nothing was read."""

ACCOUNT = "account"
"""The identity of the credits."""


class SeriesKey(NamedTuple):
    """The identity of a series of figures.

    ``identity`` is a key hash, a workspace id, ``ACCOUNT`` or an ``endpoint_identity``.
    """

    resource: str
    identity: str
    figure: str


class Subject(NamedTuple):
    """A resource with figures or facts, such as one key.

    ``identity`` is that of ``SeriesKey``, or the id of a guardrail.
    """

    resource: str
    identity: str


Figures = Mapping[str, Decimal | None]
"""The figures of a subject by name."""
Fields = Mapping[str, JsonValue]
"""The facts of a subject by field name, with values as on the wire."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The figures and facts from one reading of the gateway.

    ``source`` names the kind of reading; ``every`` is the number of seconds between two readings of
    this kind. In ``facts``, a missing field keeps its recorded value and null removes it.

    ``covers`` names a resource and a prefix of identities of which all subjects were read: a
    recorded subject with this resource and prefix is gone if ``facts`` lacks it. None if the
    reading is incomplete.
    """

    source: str
    at: datetime
    every: int
    values: Mapping[Subject, Figures] = field(default_factory=dict)
    facts: Mapping[Subject, Fields] = field(default_factory=dict)
    covers: Subject | None = None


def readings_of(
    observation: Observation, facts: Callable[[Subject], Fields] | None = None
) -> list[tuple[Subject, RuleReading]]:
    """The figures and facts of each subject of an observation, as input of alert rules.

    ``facts`` returns the known facts of a subject, by default those of the observation.
    """
    known = facts or observation.facts.__getitem__
    return [
        (subject, RuleReading(observation.values.get(subject, {}), known(subject), observation.at))
        for subject in dict.fromkeys((*observation.facts, *observation.values))
    ]


@dataclass(frozen=True, slots=True)
class ReadingsSnapshot:
    """The latest readings at one moment.

    ``observations`` are by name. ``up`` is whether the last attempt of each reading succeeded.
    ``skew`` is the clock skew of the gateway in seconds.
    """

    observations: Mapping[str, Observation]
    up: Mapping[str, bool]
    skew: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A changed fact: still ``before`` at ``not_before``, and ``after`` at ``at``.

    ``kind`` is "RESOURCE.EVENT", such as "endpoint.gone". ``field`` is empty for a subject that
    appeared or disappeared. ``name`` is the last name of the subject.
    """

    id: int
    at: datetime
    not_before: datetime | None
    kind: str
    subject: Subject
    name: str
    field: str = ""
    before: JsonValue = None
    after: JsonValue = None


class Reading(NamedTuple):
    """A figure at a moment; ``measured_at`` is when it was read, None in a gap."""

    state: State
    value: Decimal | None = None
    measured_at: datetime | None = None


GAP = Reading("gap")


class Point(NamedTuple):
    """One slot of a curve, which starts at ``at``.

    Figures are None in "null" and "gap" slots. ``last`` may also be None in a "value" slot.
    """

    at: datetime
    state: State = "gap"
    low: Decimal | None = None
    high: Decimal | None = None
    mean: Decimal | None = None
    last: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over a span, in slots of equal width that start at multiples of the width."""

    width: timedelta
    points: tuple[Point, ...]


def endpoint_identity(model_id: str, row: str) -> str:
    """The identity of an endpoint: "MODEL ROW"; ``row`` is its identity within the model."""
    return f"{model_id} {row}"


def endpoints_source(model_id: str) -> str:
    """The name of the reading of a model's endpoints."""
    return f"endpoints:{model_id}"


def model_of(identity: str) -> str:
    """The id of the model, from the identity of one of its endpoints."""
    return identity.partition(" ")[0]


class HistoryError(Exception):
    """Base of the errors of this package; the message can be shown."""


class HistoryUnusableError(HistoryError):
    """The file cannot be opened, or belongs to another program or a newer version."""


class HistoryDamagedError(HistoryUnusableError):
    """The file is damaged; it is moved aside when it is next opened."""


class HistoryMissingError(HistoryError):
    """Nothing is recorded for this gateway yet."""


DIGITS = 40
"""The number of significant digits of stored figures."""

_KEPT = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LONGEST_PLAIN = 20


def rounded(value: Decimal) -> Decimal:
    """Round a figure to ``DIGITS`` digits, without trailing zeros."""
    return value.normalize(_KEPT)


def text_of(value: Decimal) -> str:
    """The shortest text of a number that reads back as the same number."""
    if not value:
        return "0"
    exponent = value.as_tuple().exponent
    plain = isinstance(exponent, int) and 0 < exponent <= _LONGEST_PLAIN
    return format(value, "f") if plain else str(value)


def gap_after(every: int) -> int:
    """Seconds without a reading that count as a gap, for a reading every ``every`` seconds."""
    return every * 5 // 2 + 30


def seconds_of(moment: datetime) -> int:
    """The whole seconds since 1970 of a time."""
    return int(moment.timestamp() // 1)


def moment_of(seconds: int) -> datetime:
    """The UTC time of whole seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


TOTAL_CREDITS = "total_credits"
TOTAL_USAGE = "total_usage"
BALANCE = "balance"

UPTIMES = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")
PERCENTILES = ("p50", "p90", "p99")
SPARKS = ("uptime_last_5m", "latency_p50", "throughput_p50")
"""The figures of an endpoint that have a sparkline."""
CURVES = (
    *(f"latency_{which}" for which in PERCENTILES),
    *(f"throughput_{which}" for which in PERCENTILES),
    *UPTIMES,
)
"""The figures of an endpoint that have a plot."""

STATUS = "status"

USAGE = "usage"
USAGE_DAILY = "usage_daily"
BYOK_USAGE = "byok_usage"
"""The list price of a key's usage of BYOK credentials."""
LIMIT = "limit"
LIMIT_REMAINING = "limit_remaining"


def price_figure(key: str) -> str:
    """The name of the figure for a price, which is per unit and after the discount."""
    return f"price_{key}"


def usage_figure(interval: str) -> str:
    """The name of the figure for a workspace's usage in the current period of a budget."""
    return "usage" if interval == "lifetime" else f"usage_{interval}"


def budget_figure(interval: str) -> str:
    """The name of the figure for a workspace's budget."""
    return f"budget_{interval}"


def remaining_figure(interval: str) -> str:
    """The name of the figure for the rest of a budget, which is negative when overdrawn."""
    return f"budget_{interval}_remaining"


ENDPOINT_APPEARED = "endpoint.appeared"
ENDPOINT_GONE = "endpoint.gone"
ENDPOINT_PRICE = "endpoint.price"
ENDPOINT_STATUS = "endpoint.status"
KEY_DISABLED = "key.disabled"
KEY_ENABLED = "key.enabled"
WORKSPACE_BUDGET = "workspace.budget"
CREDITS_PURCHASED = "credits.purchased"
"""The specific kinds of changes; the others come from the functions below."""

PRICE_FIELDS = ("price_", "discount", "overrides")
"""Prefixes of the facts about the price of an endpoint."""
BUDGET_FIELDS = ("budget_",)
"""Prefixes of the facts about the budgets of a workspace."""


def appeared(resource: str) -> str:
    """The kind of change for a subject that appeared."""
    return f"{resource}.appeared" if resource == "endpoint" else f"{resource}.created"


def disappeared(resource: str) -> str:
    """The kind of change for a subject that disappeared."""
    return f"{resource}.gone" if resource == "endpoint" else f"{resource}.deleted"


def changed(resource: str, field: str, after: JsonValue) -> str:
    """The kind of change for a field whose value changed to ``after``."""
    match resource, field:
        case "endpoint", "status":
            return ENDPOINT_STATUS
        case "endpoint", _ if field.startswith(PRICE_FIELDS):
            return ENDPOINT_PRICE
        case "key", "disabled":
            return KEY_DISABLED if after is True else KEY_ENABLED
        case "workspace", _ if field.startswith(BUDGET_FIELDS):
            return WORKSPACE_BUDGET
        case "credits", "total_credits":
            return CREDITS_PURCHASED
    return f"{resource}.changed"


NAME = "name"
"""The fact with the name of a subject."""
LONGEST_VALUE = 1000
"""The maximum length of a stored value as JSON; a digest replaces longer ones."""

_DIGEST = 16
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode
_SURELY_SHORT = 80
"""Shorter texts have short JSON, as a character takes at most 12."""


def shortened(value: JsonValue) -> JsonValue:
    """The value, or its size and digest if it is long."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < _SURELY_SHORT:
        return value
    return value if len(json_of(value)) <= LONGEST_VALUE else digest_of(value)


def digest_of(value: JsonValue) -> JsonValue:
    """The size and digest of a value: "3 entries, digest 1f0c…"."""
    if value is None:
        return None
    text = json_of(value)
    size = f"{len(value)} entries" if isinstance(value, list | dict) else f"{len(text)} characters"
    return f"{size}, digest {hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"


def json_of(value: Any) -> str:
    """Compact ASCII JSON of a value."""
    return _encode(value)


def amount(value: Any) -> Decimal | None:
    """A fact as a number, None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
