"""Comparing answers: a form, one maximum cost for all, one request each, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.screen import Screen

from gwtui.client.inference import Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.request import Problem
from gwtui.domain.known_secrets import Secret
from gwtui.domain.safe_text import safe_line
from gwtui.resources.tries.comparison import (
    LEAST,
    MOST,
    Comparison,
    ComparisonError,
    Contender,
    comparison_problem,
    model_contender,
    pinned_contender,
)
from gwtui.resources.tries.comparison_form import CompareForm, compare_form
from gwtui.resources.tries.facts import TryFacts, key_hash, read_key_facts, read_try_facts
from gwtui.resources.tries.form import IN_FORM, TryForm
from gwtui.resources.tries.keys import KeySource, key_sources
from gwtui.resources.tries.plan import TryPlan, models_of, try_plan
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.tries import Trying
from gwtui.ui.actions.writing import covered, plain_facts
from gwtui.ui.screens.compare import CompareRequestScreen, CompareScreen, ReadyComparison
from gwtui.watch.feeds.endpoints import EndpointRow

_NAME = 40


class Comparing(Trying):
    """From the form's button to what each of the rows answered."""

    def __init__(
        self, context: ActionContext, sources: Sequence[KeySource], rows: Sequence[Any]
    ) -> None:
        super().__init__(context, sources)
        self._rows = rows

    async def _screen(
        self, given: TryForm, key: Secret, models: Inference
    ) -> Screen[Any] | Problem:
        try:
            ready = await self._ready(given, key)
        except ComparisonError as error:
            return Problem("prompt", str(error))
        if isinstance(ready, Problem):
            return ready
        return CompareScreen(ready, models, self._context.app.clock)

    async def _ready(self, given: TryForm, key: Secret) -> ReadyComparison | Problem:
        """What is ready to be sent, or why it is not. Raises GatewayError, ComparisonError."""
        app = self._context.app
        of_key = await read_key_facts(app.gateway, key_hash(key))
        named = tuple(dict.fromkeys(_model(row) for row in self._rows))
        facts = await read_try_facts(app.gateway, named, of_key, app.connection.dialect)
        if facts.unknown:
            return Problem("prompt", f"the catalog has no model {', '.join(facts.unknown)}")
        chosen = _contenders(given.chat_request(), self._rows, facts)
        plans = tuple(self._plan(each.request, facts) for each in chosen)
        problem = comparison_problem(plans, given.max_cost, IN_FORM)
        if problem is not None:
            return Problem("max_cost", problem)
        at_once = not isinstance(given, CompareForm) or given.at_once
        return ReadyComparison(Comparison(chosen, at_once=at_once), plans, self._moved)

    def _plan(self, request: ChatRequest, facts: TryFacts) -> TryPlan:
        """Of one request alone: the other models are not its fallbacks."""
        clock, wanted = self._context.app.clock, models_of(request)
        own = tuple(offers for offers in facts.offers if offers.model.id in wanted)
        return try_plan(request, replace(facts, offers=own), clock.now(), clock.chance)


async def compare_answers(context: ActionContext) -> None:
    """The form, for the marked rows."""
    app, rows = context.app, tuple(context.chosen)
    if app.session is None:
        return
    if not LEAST <= len(rows) <= MOST:
        app.say(f"Mark {LEAST} to {MOST} rows to compare their answers: Space marks one")
        return
    sealed = await asyncio.to_thread(app.session.sealed.find, shown_elsewhere=True)
    if covered(context):
        return
    sources = key_sources(app.tries, sealed.keys)
    draft = {**app.tries.draft, "key_from": sources[0].id}
    spec = compare_form(sources, _model(rows[0]), _names(rows), draft)

    def keep(typed: Mapping[str, Any]) -> None:
        app.tries.draft = {**app.tries.draft, **typed}

    comparing = Comparing(context, sources, rows)
    await app.push_screen_wait(
        CompareRequestScreen(spec, plain_facts(context), comparing.submit, keep)
    )


def _contenders(
    request: ChatRequest, rows: Sequence[Any], facts: TryFacts
) -> tuple[Contender, ...]:
    return tuple(
        _pinned(request, name, row, facts)
        if isinstance(row, EndpointRow)
        else model_contender(request, _model(row))
        for row, name in zip(rows, _names(rows), strict=True)
    )


def _pinned(request: ChatRequest, name: str, row: EndpointRow, facts: TryFacts) -> Contender:
    """The request to the row's own model, which may be another for each."""
    model = _model(row)
    own = (offers for offers in facts.offers if offers.model.id == model)
    others = [endpoint for offers in own for endpoint in offers.endpoints or ()]
    of_model = request.model_copy(update={"model": model})
    return pinned_contender(of_model, name, row.endpoint, others)


def _model(row: Any) -> str:
    found = row.model_id if isinstance(row, EndpointRow) else getattr(row, "id", None)
    return found or ""


def _names(rows: Sequence[Any]) -> list[str]:
    """What each is called: endpoints of several models with their model."""
    several = len({_model(row) for row in rows}) > 1
    return [_name(row, with_model=several) for row in rows]


def _name(row: Any, *, with_model: bool) -> str:
    if not isinstance(row, EndpointRow):
        return safe_line(_model(row), _NAME)
    named = row.title or row.identity
    return safe_line(f"{_model(row)} at {named}" if with_model else named, _NAME)


HANDLERS: Mapping[str, Handler] = {
    f"{resource}.compare": compare_answers for resource in ("models", "endpoints", "all-endpoints")
}
