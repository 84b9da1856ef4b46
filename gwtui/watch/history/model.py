"""What a history holds: series of figures, facts that change seldom, and their changes.

Moments are aware, UTC, whole seconds. Amounts and figures are Decimal, kept to ``DIGITS``
significant digits. None is "the gateway gave no figure" (no traffic, unknown), never 0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple, get_args

from pydantic import JsonValue

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.models import PER_TOKEN_KEYS, PRICE_KEYS

Resource = Literal["credits", "endpoint", "key", "workspace", "guardrail"]
"""What figures and facts belong to."""
RESOURCES: tuple[Resource, ...] = get_args(Resource)

State = Literal["value", "null", "gap"]
"""A figure; the gateway had none (no traffic, unknown); nobody asked the gateway."""

ACCOUNT = "account"
"""The identity of the credits: there is one balance."""


class SeriesKey(NamedTuple):
    """Which figure of what.

    ``identity`` is a key's hash, a workspace's id, ``ACCOUNT`` or an ``endpoint_identity``.
    """

    resource: str
    identity: str
    figure: str


class Subject(NamedTuple):
    """One thing that is watched."""

    resource: str
    identity: str


@dataclass(frozen=True, slots=True)
class Series:
    """A figure over time; ``every`` is how many seconds lie between two readings."""

    key: SeriesKey
    unit: str = ""
    every: int = 60


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of a figure."""

    series: Series
    value: Decimal | None


Fields = Mapping[str, JsonValue]
"""The facts of one subject: field name -> value as on the wire."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one reading of the gateway said.

    ``source`` names the reading; ``every`` is its pace in seconds. ``covers`` is what the reading
    lists completely: a subject of that resource whose identity begins so and which ``facts`` lacks
    is gone. None: the reading says nothing about what exists. A field that a subject's facts lack
    stays as it was; null means that there is none.
    """

    source: str
    at: datetime
    every: int
    samples: tuple[Sample, ...] = ()
    facts: Mapping[Subject, Fields] = field(default_factory=dict)
    covers: Subject | None = None


@dataclass(frozen=True, slots=True)
class ReadingsSnapshot:
    """What is known at one moment.

    ``observations`` hold the readings that are fresh enough, by name; ``up`` says of every reading
    whether the last attempt succeeded. ``skew`` is the gateway's clock against this one, seconds.
    """

    observations: Mapping[str, Observation]
    up: Mapping[str, bool]
    skew: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A fact that changed. It was still ``before`` at ``not_before``, and ``after`` at ``at``.

    ``kind`` is "RESOURCE.EVENT", such as "endpoint.gone". ``field`` is empty for what came or went;
    then ``name`` still tells what it was called.
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
    """A figure as of a moment: ``measured_at`` is when it was read, None in a gap."""

    state: State
    value: Decimal | None = None
    measured_at: datetime | None = None


GAP = Reading("gap")


class Point(NamedTuple):
    """One slot of a curve: from ``at`` on, as long as the curve's ``width``.

    Figures are None in "null" and "gap" slots. ``last`` may be None in a "value" slot, too.
    """

    at: datetime
    state: State = "gap"
    low: Decimal | None = None
    high: Decimal | None = None
    mean: Decimal | None = None
    last: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over a span, in slots of equal width that begin at whole multiples of it."""

    series: Series
    width: timedelta
    points: tuple[Point, ...]


def endpoint_identity(model_id: str, row: str) -> str:
    """The identity of an endpoint: the model, a space, what tells it from the model's others."""
    return f"{model_id} {row}"


def endpoints_source(model_id: str) -> str:
    """The name of the reading of a model's endpoints."""
    return f"endpoints:{model_id}"


def model_of(identity: str) -> str:
    """The model of an endpoint's identity."""
    return identity.partition(" ")[0]


class HistoryError(Exception):
    """Base of this package's errors; the message is for a person."""


class HistoryUnusableError(HistoryError):
    """The file cannot be opened, belongs to another program or to a newer version of this one."""


class HistoryDamagedError(HistoryUnusableError):
    """The file is damaged; it is set aside when it is opened again."""


class HistoryMissingError(HistoryError):
    """Nothing was recorded for this gateway yet."""


DIGITS = 40
"""The wire's numbers are doubles or short decimal strings; a longer one is rounded to this."""

_KEPT = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LONGEST_PLAIN = 20


def kept(value: Decimal) -> Decimal:
    """The value as the history keeps it: rounded to ``DIGITS`` digits, without trailing zeros."""
    return value.normalize(_KEPT)


def text_of(value: Decimal) -> str:
    """The shortest text that reads back as the same number."""
    if not value:
        return "0"
    exponent = value.as_tuple().exponent
    plain = isinstance(exponent, int) and 0 < exponent <= _LONGEST_PLAIN
    return format(value, "f") if plain else str(value)


def gap_after(every: int) -> int:
    """Seconds without a reading after which there is a gap, for one reading in ``every``."""
    return every * 5 // 2 + 30


def seconds_of(moment: datetime) -> int:
    """Whole seconds since 1970."""
    return int(moment.timestamp() // 1)


def moment_of(seconds: int) -> datetime:
    """The moment of whole seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


USD = "USD"
PERCENT = "%"
MILLISECONDS = "ms"
TOKENS_PER_SECOND = "tokens/s"

TOTAL_CREDITS = "total_credits"
TOTAL_USAGE = "total_usage"
BALANCE = "balance"

UPTIMES = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")
PERCENTILES = ("p50", "p90", "p99")
SPARKS = ("uptime_last_5m", "latency_p50", "throughput_p50")
"""The figures of an endpoint that have a small curve."""
CURVES = (
    *(f"latency_{which}" for which in PERCENTILES),
    *(f"throughput_{which}" for which in PERCENTILES),
    *UPTIMES,
)
"""The figures of an endpoint that can be drawn."""

STATUS = "status"

USAGE = "usage"
USAGE_DAILY = "usage_daily"
BYOK_USAGE = "byok_usage"
"""List price of what a key used of the customer's own provider keys, all time."""
LIMIT = "limit"
LIMIT_REMAINING = "limit_remaining"


def price_figure(key: str) -> str:
    """The figure of a price key: what is charged per unit, discount taken off."""
    return f"price_{key}"


def usage_figure(interval: str) -> str:
    """What a workspace used in the present window of a budget."""
    return "usage" if interval == "lifetime" else f"usage_{interval}"


def budget_figure(interval: str) -> str:
    """The cap of a workspace's budget."""
    return f"budget_{interval}"


def remaining_figure(interval: str) -> str:
    """What is left of a workspace's budget; negative when overdrawn."""
    return f"budget_{interval}_remaining"


UNITS: Mapping[str, Mapping[str, str]] = {
    "credits": {TOTAL_CREDITS: USD, TOTAL_USAGE: USD, BALANCE: USD},
    "endpoint": {
        **dict.fromkeys(UPTIMES, PERCENT),
        **{f"latency_{which}": MILLISECONDS for which in PERCENTILES},
        **{f"throughput_{which}": TOKENS_PER_SECOND for which in PERCENTILES},
        STATUS: "",
        **{
            price_figure(key): "USD/token" if key in PER_TOKEN_KEYS else "USD" for key in PRICE_KEYS
        },
    },
    "key": {
        USAGE: USD,
        USAGE_DAILY: USD,
        BYOK_USAGE: USD,
        LIMIT: USD,
        LIMIT_REMAINING: USD,
    },
    "workspace": {
        figure(interval): USD
        for interval in BUDGET_INTERVALS
        for figure in (usage_figure, budget_figure, remaining_figure)
    },
}
"""Resource -> figure -> unit: everything that can be a series."""


ENDPOINT_APPEARED = "endpoint.appeared"
ENDPOINT_GONE = "endpoint.gone"
ENDPOINT_PRICE = "endpoint.price"
ENDPOINT_STATUS = "endpoint.status"
KEY_DISABLED = "key.disabled"
KEY_ENABLED = "key.enabled"
WORKSPACE_BUDGET = "workspace.budget"
CREDITS_PURCHASED = "credits.purchased"
"""Kinds with a meaning of their own; every other one is what ``came``, ``went`` or ``changed``."""

PRICE_FIELDS = ("price_", "discount", "overrides")
"""Facts of an endpoint whose names begin so are about what it costs."""
BUDGET_FIELDS = ("budget_",)
"""Facts of a workspace whose names begin so are about its budgets."""


def came(resource: str) -> str:
    """The kind of a subject that is there now and was not."""
    return f"{resource}.appeared" if resource == "endpoint" else f"{resource}.created"


def went(resource: str) -> str:
    """The kind of a subject that was there and is not."""
    return f"{resource}.gone" if resource == "endpoint" else f"{resource}.deleted"


def changed(resource: str, field: str, after: JsonValue) -> str:
    """The kind of a field that is another one now."""
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
"""The field of a subject's facts that says what it is called."""
LONGEST_VALUE = 1000
"""Characters of a field's value that are kept; of a longer one only what tells it from others."""

_DIGEST = 16
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode
_SURELY_SHORT = 80
"""Characters of a text whose JSON is not long, whatever they are: 12 are the most for one."""


def short(value: JsonValue) -> JsonValue:
    """A value; a long one as its size and digest."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < _SURELY_SHORT:
        return value
    return value if len(json_of(value)) <= LONGEST_VALUE else digest_of(value)


def digest_of(value: JsonValue) -> JsonValue:
    """What tells a value from others without repeating it: "3 entries, digest 1f0c…"."""
    if value is None:
        return None
    text = json_of(value)
    size = f"{len(value)} entries" if isinstance(value, list | dict) else f"{len(text)} characters"
    return f"{size}, digest {hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"


def json_of(value: Any) -> str:
    """Compact JSON in ASCII, which holds any text that a gateway may send."""
    return _encode(value)


def amount(value: Any) -> Decimal | None:
    """A fact as an amount; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        found = Decimal(value)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
