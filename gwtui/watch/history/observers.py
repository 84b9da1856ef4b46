"""Converts the rows of feeds to observations, one function per resource.

Secrets are left out. A missing figure is None; a fact that was not read is left out, so that it
keeps its value. Amounts in facts are decimal text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.guardrails import Guardrail
from gwtui.contract.models import PRICE_KEYS, Endpoint, Percentiles, Pricing
from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.usage import Credits
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.pricing import discount_of
from gwtui.domain.safe_text import safe_text
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import Figures as WorkspaceFigures
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import (
    ACCOUNT,
    NAME,
    Fields,
    Figures,
    Observation,
    Resource,
    Subject,
    digest_of,
    endpoint_identity,
    endpoints_source,
    rounded,
    text_of,
)

DIGESTS = frozenset({"content_filters"})
"""Fields stored as a digest, because filter patterns may contain confidential text."""


def fields_of(model: ResponseModel, names: Sequence[str]) -> dict[str, JsonValue]:
    """The readable fields of a model; null means none, a missing field is unknown."""
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
            return {name: json_value(each) for name, each in value if each is not None}
        case list() | tuple():
            return [json_value(each) for each in value]
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


@dataclass(frozen=True, slots=True)
class ObservedReading:
    """The time of a reading, the seconds between two, and whether its list is complete."""

    at: datetime
    every: int
    complete: bool = True


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
    """The observation of a model's endpoints; without rows, the model is gone."""

    def of(row: EndpointRow) -> Row:
        facts = {
            NAME: safe_text(row.title or row.identity, LONGEST_IDENTITY),
            **fields_of(row.endpoint, _ENDPOINT_FACTS),
            **_price_facts(row.endpoint),
        }
        identity = endpoint_identity(model_id, row.identity)
        return identity, dict(_endpoint_figures(row.endpoint)), facts

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


def _endpoint_figures(endpoint: Endpoint) -> Iterator[tuple[str, Decimal | None]]:
    for name in figures.UPTIMES:
        yield name, getattr(endpoint, name)
    for what, percentiles in (
        ("latency", endpoint.latency_last_30m),
        ("throughput", endpoint.throughput_last_30m),
    ):
        for which in figures.PERCENTILES:
            yield f"{what}_{which}", _percentile(percentiles, which)
    yield figures.STATUS, None if endpoint.status is None else Decimal(endpoint.status)
    if endpoint.pricing is not None:
        for key in PRICE_KEYS:
            if endpoint.pricing.price(key) is not None:
                yield figures.price_figure(key), _charged(endpoint.pricing, key)


def _percentile(percentiles: Percentiles | None, which: str) -> Decimal | None:
    value = None if percentiles is None else getattr(percentiles, which)
    return value if isinstance(value, Decimal) else None


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
