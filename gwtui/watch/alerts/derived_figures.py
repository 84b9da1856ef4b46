"""Computed figures: unreadable lists, and the healthy endpoints that guardrails leave of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from gwtui.client.errors import ForbiddenError, NotFoundError
from gwtui.contract.models import Endpoint
from gwtui.domain.alert_rules import GATEWAY, GUARDED, HEALTHY, UNREADABLE
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.guardrail_effect import (
    GuardrailRestrictions,
    ModelEffect,
    effect_on_model,
    restrictions_of,
)
from gwtui.domain.uptime import verdict
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.guardrails import GuardrailRow, guardrails_feed
from gwtui.watch.feeds.models import EndpointRow, Routing, endpoints_feed
from gwtui.watch.history.model import ACCOUNT, Figures, Observation, Subject
from gwtui.watch.hub import FeedHub, Scope

EVERY = 30
"""Seconds between two computations."""
RECENT = timedelta(seconds=180)
"""While reads fail, the gateway counts as readable for this long after the last success."""
MOST_GUARDED = 500
"""The maximum number of models under guardrails."""

_ALL = Scope()
_UNKNOWN = frozenset({"no traffic", "unknown"})


def readability(states: Mapping[str, FeedState[Any]], at: datetime) -> Observation:
    """Whether the gateway, or else each recorded list, can be read.

    A list that this key may not read is not an error. While nothing can be read at all, single
    lists are unknown.
    """
    faulty = {name: _faulty(state) for name, state in states.items()}
    newest = max((state.fetched_at for state in states.values() if state.fetched_at), default=None)
    failing = any(state.error is not None for state in states.values())
    # Lists that are read rarely may not have failed yet.
    well = newest is not None and at - newest <= RECENT
    unreadable = failing and not well if failing or newest is not None else None
    values = {ACCOUNT: unreadable}
    values.update({name: None if unreadable else values for name, values in faulty.items()})
    figures = {
        Subject(GATEWAY, name): {UNREADABLE: None if bad is None else Decimal(bad)}
        for name, bad in values.items()
    }
    return Observation(GATEWAY, at, EVERY, figures, covers=Subject(GATEWAY, ""))


def _faulty(state: FeedState[Any]) -> bool | None:
    """None if it was not read yet, or this key may not read it."""
    if state.error is None:
        return None if state.fetched_at is None else False
    return None if isinstance(state.error, ForbiddenError | NotFoundError) else True


def guarded(
    hub: FeedHub, models: Iterable[str], routing: Routing | None, at: datetime
) -> Observation | None:
    """The healthy endpoints of each watched model under each guardrail that blocks some of them.

    None while any of the data is unknown.
    """
    guardrails = guardrails_feed(hub, _ALL).state
    known = dict(_endpoints(hub, models))
    if routing is None or guardrails.value is None or guardrails.error is not None or not known:
        return None
    view = routing.view(known)
    offers = [offer for offer in view.offers if offer.endpoints is not None]
    figures = dict(islice(_figures(guardrails.value, offers, view), MOST_GUARDED))
    return Observation(GUARDED, at, EVERY, figures, covers=Subject(GUARDED, ""))


def _endpoints(hub: FeedHub, models: Iterable[str]) -> Iterator[tuple[str, tuple[Endpoint, ...]]]:
    for model in models:
        state: FeedState[Sequence[EndpointRow]] = endpoints_feed(hub, Scope(parent=model)).state
        if state.value is not None and state.error is None:
            yield model, tuple(row.endpoint for row in state.value)


def _figures(
    rows: Sequence[GuardrailRow], offers: Sequence[ModelWithEndpoints], view: CatalogView
) -> Iterator[tuple[Subject, Figures]]:
    rules = {row.identity: restrictions_of(row.guardrail) for row in rows}
    for row in rows:
        applied = tuple(_applied(row, rules))
        if all(rule == GuardrailRestrictions() for rule in applied):
            continue
        for offer in offers:
            effect = effect_on_model(offer, applied, view, row.dialect)
            if effect.blocked and not effect.excluded:
                subject = Subject(GUARDED, f"{row.identity} {offer.model.id}")
                yield subject, {HEALTHY: _healthy(effect)}


def _applied(
    row: GuardrailRow, rules: Mapping[str, GuardrailRestrictions]
) -> Iterator[GuardrailRestrictions]:
    """A guardrail and the workspace default, which applies to all traffic of the workspace."""
    yield rules[row.identity]
    default = None if row.workspace is None else row.workspace.default_guardrail_id
    if default is not None and default != row.identity and default in rules:
        yield rules[default]


def _healthy(effect: ModelEffect) -> Decimal | None:
    """The healthy endpoints that remain; None if unknown, or if the guardrail is not the cause.

    It is unknown with an unreadable restriction or without traffic. The guardrail is not the cause
    if the blocked endpoints do not work either.
    """
    if effect.unreadable:
        return None
    if effect.healthy:
        return Decimal(effect.healthy)
    if any(verdict(endpoint).word in _UNKNOWN for endpoint in effect.remaining):
        return None
    lost = any(verdict(each.endpoint).word == "healthy" for each in effect.blocked)
    return Decimal(0) if lost else None
