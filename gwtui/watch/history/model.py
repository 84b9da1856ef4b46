"""What a history holds: series of figures, facts that change seldom, and their changes.

Moments are aware, UTC, whole seconds. Amounts and figures are Decimal, kept to ``numbers.DIGITS``
significant digits. None is "the gateway gave no figure" (no traffic, unknown), never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from pydantic import JsonValue

Resource = Literal["credits", "endpoint", "key", "workspace", "guardrail"]
"""What figures and facts belong to."""

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
class Change:
    """A fact that changed. It was still ``before`` at ``not_before``, and ``after`` at ``at``.

    ``kind`` is ``RESOURCE.EVENT`` (see ``kinds``). ``field`` is empty for what came or went; then
    ``name`` still tells what it was called.
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


class Run(NamedTuple):
    """Samples that follow each other without a gap, from the first to the last moment.

    ``low`` and ``high`` are None when none had a figure; ``last`` may be. ``flat``: all said the
    same.
    """

    start: datetime
    until: datetime
    low: Decimal | None
    high: Decimal | None
    last: Decimal | None
    flat: bool


class Point(NamedTuple):
    """One slot of a curve: from ``at`` on, as long as the curve's ``width``.

    ``samples`` readings had a figure, ``nulls`` had none. A "value" slot without samples lies
    between two readings and repeats the one before it. Figures are None in "null" and "gap" slots.
    """

    at: datetime
    state: State = "gap"
    low: Decimal | None = None
    high: Decimal | None = None
    mean: Decimal | None = None
    last: Decimal | None = None
    samples: int = 0
    nulls: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over a span, in slots of equal width that begin at whole multiples of it."""

    series: Series
    width: timedelta
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Retention:
    """How long what is kept. Raises ValueError unless each is longer than the one before."""

    raw: timedelta = timedelta(hours=48)
    five_minutes: timedelta = timedelta(days=30)
    hours: timedelta = timedelta(days=365)
    """Also the age at which changes and facts are forgotten."""

    def __post_init__(self) -> None:
        if not timedelta(hours=2) <= self.raw <= self.five_minutes <= self.hours:
            raise ValueError(
                "raw samples must be kept for 2 hours at least, and coarser ones no shorter"
            )


def endpoint_identity(model_id: str, row: str) -> str:
    """The identity of an endpoint: the model, a space, what tells it from the model's others."""
    return f"{model_id} {row}"


def model_of(identity: str) -> str:
    """The model of an endpoint's identity."""
    return identity.partition(" ")[0]
