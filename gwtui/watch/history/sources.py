"""The recorded feeds, how often they are recorded, and the conversion of their values.

Secrets are left out. A missing figure is None; a fact that was not read is left out, so that it
keeps its value. Amounts in facts are decimal text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from math import ceil
from typing import Any

from pydantic import JsonValue

from gwtui.client.errors import NotFoundError
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.models import PRICE_KEYS, Endpoint, Pricing
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.usage import Credits
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.clock import Clock
from gwtui.domain.pricing import discount_of
from gwtui.domain.safe_text import safe_text
from gwtui.watch import cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.guardrails import GuardrailRow, guardrails_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed, percentile
from gwtui.watch.feeds.workspaces import WorkspaceFigures, figures_feed
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import (
    ACCOUNT,
    NAME,
    Fields,
    Figures,
    Observation,
    ReadingsSnapshot,
    Resource,
    Subject,
    digest_of,
    endpoint_identity,
    endpoints_source,
    rounded,
    text_of,
)
from gwtui.watch.history.writer import most_used
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

_EARLY = 0.75
"""The share of the interval after which a reading is recorded; earlier ones are for screens."""
_BELIEVED = 2


OFTEN = 60
"""Seconds between two recorded readings of credits, keys and endpoints.

With W workspaces and M watched models, these are at most 1 + M + W + 1 requests per minute, and
every ``RARELY`` seconds 4 W + 2 for budgets and W + 1 for guardrails. In large accounts, readings
are rarer, because no feed exceeds ``REQUESTS_PER_SECOND``.
"""
RARELY = 300
"""Seconds between two recorded readings of workspaces and guardrails."""


@dataclass(frozen=True, slots=True)
class ObservedReading:
    """The time of a reading, and the interval between readings in seconds.

    ``complete`` is False if the list that was read lacks rows.
    """

    at: datetime
    every: int
    complete: bool = True


Build = Callable[[], Observation]
Convert = Callable[[Any, ObservedReading], Observation]
Arrived = Callable[[str, Build], None]


class Source:
    """Passes the readings of one feed on, from its creation until ``close``.

    ``convert`` converts a value of the feed to an ``Observation``. ``arrived`` is called for each
    reading, as in ``Sources``. With a ``clock``, a resource that is not found counts as an empty
    list.
    """

    def __init__(
        self,
        name: str,
        feed: Feed[Any],
        every: int,
        convert: Convert,
        arrived: Arrived,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.feed = feed
        self._clock = clock
        self._misses = 0
        self._every = every
        self._convert = convert
        self._arrived = arrived
        self._taken_at: datetime | None = None
        self.close = feed.watch(self.update, background=True, every=every)
        """Stop recording the feed."""

    def update(self, state: FeedState[Any]) -> None:
        """Record a successful read; a failed one leaves a gap.

        With a clock, two 404 responses in a row count as an empty list.
        """
        if state.refreshing:
            return
        self._misses = self._misses + 1 if isinstance(state.error, NotFoundError) else 0
        if self._clock is not None and self._misses >= _BELIEVED:
            self.record((), self._clock.now(), complete=True)
        elif state.fetched_at is not None and state.error is None:
            self.record(state.value, state.fetched_at, complete=not state.list_gaps)

    def record(self, value: Any, at: datetime, *, complete: bool) -> None:
        """Pass a reading on, unless the previous one is too recent."""
        if not self._is_due(at):
            return
        self._taken_at = at
        reading = ObservedReading(at, self._pace(), complete)
        self._arrived(self.name, lambda: self._convert(value, reading))

    def _pace(self) -> int:
        return max(self._every, ceil(self.feed.min_interval))

    def _is_due(self, at: datetime) -> bool:
        if self._taken_at is None:
            return True
        return not 0 <= (at - self._taken_at).total_seconds() < self._every * _EARLY


class Sources:
    """Watches all feeds that the history records.

    When a feed has been read and the reading is due to be recorded, ``arrived`` is called with the
    name of the reading, and a function that converts its value to an ``Observation``.
    """

    def __init__(self, hub: FeedHub, arrived: Arrived) -> None:
        self._hub = hub
        self._arrived = arrived
        self._account: list[Source] = []
        self._models: dict[str, Source] = {}

    def open(self) -> None:
        """Start reading the lists of the account. May be called again."""
        if self._account:
            return
        hub = self._hub
        feeds: tuple[tuple[str, int, Convert, Feed[Any]], ...] = (
            ("credits", OFTEN, observe_credits, credits_feed(hub)),
            ("keys", OFTEN, observe_keys, keys_feed(hub)),
            ("workspaces", RARELY, observe_workspaces, figures_feed(hub)),
            ("guardrails", RARELY, observe_guardrails, guardrails_feed(hub)),
        )
        self._account = [
            Source(name, feed, every, convert, self._arrived)
            for name, every, convert, feed in feeds
        ]

    def follow(self, models: Iterable[str]) -> None:
        """From now on, read the endpoints of these models, and no longer those of others."""
        chosen = tuple(models)
        for model in [model for model in self._models if model not in chosen]:
            self._models.pop(model).close()
        for model in chosen:
            if model not in self._models:
                name, convert = endpoints_source(model), partial(observe_endpoints, model)
                feed = endpoints_feed(self._hub, Scope(parent=model))
                source = Source(name, feed, OFTEN, convert, self._arrived, self._hub.clock)
                self._models[model] = source

    def close(self) -> None:
        """Stop reading all feeds; ``open`` starts again."""
        for source in (*self._account, *self._models.values()):
            source.close()
        self._account = []
        self._models = {}

    def states(self) -> dict[str, FeedState[Any]]:
        """The states of the feeds by the name of the reading."""
        every = (*self._account, *self._models.values())
        return {source.name: source.feed.state for source in every}

    async def settled(self) -> None:
        """Wait until every reading has succeeded or failed once."""
        # A failed first read does not call back.
        while any(state.unanswered for state in self.states().values()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def _most_used(reader: FeedReader, _scope: Scope) -> tuple[str, ...]:
    return most_used((await reader.client.activity.list()).items)


most_used_feed = FeedSpec("models:most-used", _most_used, cadence.ACTIVITY)
"""The most used models of the last 30 days."""


# The latest readings, for the exporter ------------------------------------------------------------

PATIENCE = 3
"""The number of missed readings after which a figure is dropped."""


class Readings(Sources):
    """Polls every list that the history records, and keeps the latest reading of each.

    The exporter serves these readings, without a recorded history.
    """

    def __init__(self, hub: FeedHub) -> None:
        self._latest: dict[str, Observation] = {}
        super().__init__(hub, self._keep)

    async def start(self, models: Iterable[str] | None = None) -> None:
        """Start polling; ``models`` are the watched models, None for the most used ones."""
        self.open()
        if models is None:
            models = (await most_used_feed(self._hub).refresh()).value or ()
        self.follow(models)

    def _keep(self, name: str, build: Build) -> None:
        self._latest[name] = build()

    def snapshot(self) -> ReadingsSnapshot:
        """The latest readings, and whether the last attempt of each succeeded.

        A reading is left out if it is older than ``PATIENCE`` of its intervals.
        """
        now, states = self._hub.clock.now(), self.states()
        fresh = {
            name: observation
            for name, observation in self._latest.items()
            if name in states
            and (now - observation.at).total_seconds() <= PATIENCE * observation.every
        }
        up = {
            name: state.error is None and state.fetched_at is not None
            for name, state in states.items()
        }
        return ReadingsSnapshot(fresh, up, self._hub.client.skew.seconds)


# Conversion of the values -------------------------------------------------------------------------

DIGESTS = frozenset({"content_filters"})
"""Fields stored as a digest, because filter patterns may contain confidential text."""


def fields_of(model: ResponseModel, names: Sequence[str]) -> dict[str, JsonValue]:
    """The fields ``names`` of a response as JSON; null means no value.

    Missing and malformed fields are left out.
    """
    fields: dict[str, JsonValue] = {}
    gaps = model.gaps
    for name in names:
        if name not in gaps:
            value = json_value(getattr(model, name))
            fields[name] = digest_of(value) if name in DIGESTS else value
    return fields


def json_value(value: Any) -> JsonValue:
    """A field value as JSON; amounts are decimal text, times ISO 8601."""
    match value:
        case Decimal():
            return text_of(rounded(value))
        case datetime():
            return timestamp_text(value)
        case ResponseModel():
            return {name: json_value(item) for name, item in value if item is not None}
        case list() | tuple():
            return [json_value(item) for item in value]
        case None | bool() | int() | str():
            return value
    return str(value)


LONGEST_IDENTITY = 200
"""The maximum length of an identity; those of the contract are far shorter."""

_KEY_FACTS = (
    "name",
    "disabled",
    "limit",
    "limit_reset",
    "expires_at",
    "workspace_id",
    "include_byok_in_limit",
)
_ENDPOINT_FACTS = ("status", "context_length", "max_completion_tokens", "quantization")
_WORKSPACE_FACTS = ("name", "slug", "default_guardrail_id", "include_byok_in_budgets")
_GUARDRAIL_OMITTED = frozenset({"id", "created_at", "updated_at", "description"})


Row = tuple[str, Figures, Fields]
"""The identity of a subject, its figures and its facts."""


def _observation(
    source: str,
    resource: Resource,
    rows: Iterable[Row],
    reading: ObservedReading,
    covers: str | None = "",
) -> Observation:
    # ``covers`` is the identity prefix that a complete reading lists.
    by_subject = {
        Subject(resource, safe_text(identity, LONGEST_IDENTITY)): (values, facts)
        for identity, values, facts in rows
    }
    return Observation(
        source,
        reading.at,
        reading.every,
        {subject: values for subject, (values, _) in by_subject.items()},
        {subject: facts for subject, (_, facts) in by_subject.items()},
        Subject(resource, covers) if covers is not None and reading.complete else None,
    )


def observe_credits(credits: Credits, reading: ObservedReading) -> Observation:
    """The observation of the credits."""
    values = {
        figures.TOTAL_CREDITS: credits.total_credits,
        figures.TOTAL_USAGE: credits.total_usage,
        figures.BALANCE: credits.balance,
    }
    facts = {NAME: "credits", **fields_of(credits, (figures.TOTAL_CREDITS,))}
    return _observation("credits", "credits", [(ACCOUNT, values, facts)], reading, covers=None)


def observe_endpoints(
    model_id: str, rows: Sequence[EndpointRow], reading: ObservedReading
) -> Observation:
    """The observation of a model's endpoints; no rows mean that the model is gone."""

    def of(row: EndpointRow) -> Row:
        facts = {
            NAME: safe_text(row.title or row.identity, LONGEST_IDENTITY),
            **fields_of(row.endpoint, _ENDPOINT_FACTS),
            **_price_facts(row.endpoint),
        }
        identity = endpoint_identity(model_id, row.identity)
        return identity, dict(endpoint_figures(row.endpoint)), facts

    prefix = endpoint_identity(model_id, "")
    return _observation(endpoints_source(model_id), "endpoint", map(of, rows), reading, prefix)


def observe_keys(rows: Sequence[KeyRow], reading: ObservedReading) -> Observation:
    """The observation of all keys. BYOK usage is left out while it is 0."""

    def of(row: KeyRow) -> Row:
        key = row.key
        values = {
            figures.USAGE: key.usage,
            figures.USAGE_DAILY: key.usage_daily,
            figures.LIMIT: key.limit,
            figures.LIMIT_REMAINING: key.limit_remaining,
        }
        if key.byok_usage:
            values[figures.BYOK_USAGE] = key.byok_usage
        return row.identity, values, fields_of(key, _KEY_FACTS)

    return _observation("keys", "key", map(of, rows), reading)


def observe_workspaces(
    workspaces: Mapping[str, WorkspaceFigures], reading: ObservedReading
) -> Observation:
    """The observation of all workspaces with their budgets and spending."""
    rows = (_workspace(identity, parts) for identity, parts in workspaces.items())
    return _observation("workspaces", "workspace", rows, reading)


def _workspace(identity: str, parts: WorkspaceFigures) -> Row:
    values: dict[str, Decimal | None] = {}
    space = parts.workspace
    facts = {} if space is None else fields_of(space, _WORKSPACE_FACTS)
    for interval in BUDGET_INTERVALS:
        spent = parts.spent.get(interval)
        if parts.keys is not None:
            values[figures.usage_figure(interval)] = spent
        if parts.budgets is None:
            continue
        budget = parts.budgets.get(interval)
        limit = None if budget is None else budget.limit_usd
        facts[figures.budget_figure(interval)] = json_value(limit)
        if budget is not None:
            left = None if limit is None or spent is None else limit - spent
            values[figures.budget_figure(interval)] = limit
            if parts.keys is not None:
                values[figures.remaining_figure(interval)] = left
    return identity, values, facts


def observe_guardrails(rows: Sequence[GuardrailRow], reading: ObservedReading) -> Observation:
    """The observation of all existing guardrails."""
    names = tuple(name for name in Guardrail.model_fields if name not in _GUARDRAIL_OMITTED)

    def of(row: GuardrailRow) -> Row:
        return row.identity, {}, fields_of(row.guardrail, names)

    existing = (row for row in rows if row.exists)
    return _observation("guardrails", "guardrail", map(of, existing), reading)


# Parts ------------------------------------------------------------------------------------------


def endpoint_figures(endpoint: Endpoint) -> Iterator[tuple[str, Decimal | None]]:
    """Yield the recorded figures of an endpoint with their values; None for unknown ones."""
    for name in figures.UPTIMES:
        yield name, getattr(endpoint, name)
    for what, percentiles in (
        ("latency", endpoint.latency_last_30m),
        ("throughput", endpoint.throughput_last_30m),
    ):
        for which in figures.PERCENTILES:
            yield f"{what}_{which}", percentile(percentiles, which)
    yield figures.STATUS, None if endpoint.status is None else Decimal(endpoint.status)
    if endpoint.pricing is not None:
        for key in PRICE_KEYS:
            if endpoint.pricing.price(key) is not None:
                yield figures.price_figure(key), _charged(endpoint.pricing, key)


def _charged(pricing: Pricing, key: str) -> Decimal | None:
    # A negative price is variable.
    price = pricing.price(key)
    return None if price is None or price < 0 else price * (1 - discount_of(pricing))


def _price_facts(endpoint: Endpoint) -> dict[str, JsonValue]:
    pricing = endpoint.pricing
    if pricing is None:
        return {}
    facts: dict[str, JsonValue] = {
        figures.price_figure(key): json_value(pricing.price(key))
        for key in PRICE_KEYS
        if key not in pricing.gaps
    }
    for name in ("discount", "overrides"):
        if name not in pricing.gaps:
            facts[name] = json_value(getattr(pricing, name))
    return facts
