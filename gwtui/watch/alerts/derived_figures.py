"""Figures that no reading gives by itself: what cannot be read, what guardrails leave of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
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
from gwtui.watch.history.model import ACCOUNT, Observation, Sample, Series, SeriesKey, Subject
from gwtui.watch.hub import FeedHub, Scope

EVERY = 30
"""Seconds between two looks."""
RECENT = timedelta(seconds=180)
"""While something fails, the gateway counts as readable for so long after the last success."""
MOST_GUARDED = 500
"""Models under guardrails that are looked at, at most."""

_ALL = Scope()
_UNTOLD = frozenset({"no traffic", "unknown"})


def readability(states: Mapping[str, FeedState[Any]], at: datetime) -> Observation:
    """Whether what is recorded can be read: all of it, else each list by itself.

    A list that this key may not read is no fault. While nothing at all can be read, only that is
    told.
    """
    faulty = {name: _faulty(state) for name, state in states.items()}
    newest = max((state.fetched_at for state in states.values() if state.fetched_at), default=None)
    failing = any(state.error is not None for state in states.values())
    # What is read seldom does not know yet that nothing can be read any more.
    well = newest is not None and at - newest <= RECENT
    whole = failing and not well if failing or newest is not None else None
    found = {ACCOUNT: whole}
    found.update({name: None if whole else found for name, found in faulty.items()})
    samples = (
        _sample(Subject(GATEWAY, name), UNREADABLE, "", None if bad is None else Decimal(bad))
        for name, bad in found.items()
    )
    return Observation(GATEWAY, at, EVERY, tuple(samples), covers=Subject(GATEWAY, ""))


def _faulty(state: FeedState[Any]) -> bool | None:
    """None: nobody read it yet, or this key may not."""
    if state.error is None:
        return None if state.fetched_at is None else False
    return None if isinstance(state.error, ForbiddenError | NotFoundError) else True


def guarded(
    hub: FeedHub, models: Iterable[str], routing: Routing | None, at: datetime
) -> Observation | None:
    """What is left healthy of each watched model under each guardrail that takes some of it away.

    None while anything that decides it is not known.
    """
    guardrails = guardrails_feed(hub, _ALL).state
    known = dict(_endpoints(hub, models))
    if routing is None or guardrails.value is None or guardrails.error is not None or not known:
        return None
    view = routing.view(known)
    offers = [offer for offer in view.offers if offer.endpoints is not None]
    samples = tuple(_left(guardrails.value, offers, view))[:MOST_GUARDED]
    return Observation(GUARDED, at, EVERY, samples, covers=Subject(GUARDED, ""))


def _endpoints(hub: FeedHub, models: Iterable[str]) -> Iterator[tuple[str, tuple[Endpoint, ...]]]:
    for model in models:
        state: FeedState[Sequence[EndpointRow]] = endpoints_feed(hub, Scope(parent=model)).state
        if state.value is not None and state.error is None:
            yield model, tuple(row.endpoint for row in state.value)


def _left(
    rows: Sequence[GuardrailRow], offers: Sequence[ModelWithEndpoints], view: CatalogView
) -> Iterator[Sample]:
    rules = {row.identity: restrictions_of(row.guardrail) for row in rows}
    for row in rows:
        applied = tuple(_applied(row, rules))
        if all(rule == GuardrailRestrictions() for rule in applied):
            continue
        for offer in offers:
            effect = effect_on_model(offer, applied, view, row.dialect)
            if effect.blocked and not effect.excluded:
                subject = Subject(GUARDED, f"{row.identity} {offer.model.id}")
                yield _sample(subject, HEALTHY, "endpoints", _healthy(effect))


def _applied(
    row: GuardrailRow, rules: Mapping[str, GuardrailRestrictions]
) -> Iterator[GuardrailRestrictions]:
    """A guardrail, and the default one of its workspace, which holds for all of its traffic."""
    yield rules[row.identity]
    default = None if row.workspace is None else row.workspace.default_guardrail_id
    if default is not None and default != row.identity and default in rules:
        yield rules[default]


def _healthy(effect: ModelEffect) -> Decimal | None:
    """Healthy endpoints that remain; None where it cannot be told or is not the guardrail's doing.

    Under a rule that could not be read nobody knows what remains, and without traffic whether an
    endpoint works. Where none that is blocked works either, the guardrail takes nothing away.
    """
    if effect.unreadable:
        return None
    if effect.healthy:
        return Decimal(effect.healthy)
    if any(verdict(endpoint).word in _UNTOLD for endpoint in effect.remaining):
        return None
    lost = any(verdict(each.endpoint).word == "healthy" for each in effect.blocked)
    return Decimal(0) if lost else None


def _sample(subject: Subject, figure: str, unit: str, value: Decimal | None) -> Sample:
    return Sample(Series(SeriesKey(*subject, figure), unit, EVERY), value)
