"""Trying a request, and comparing answers: a form, the plan with the maximum cost, the requests.

It is one request to one model, or one for each marked row, whose answers stand side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.screen import Screen

from gwtui.client.connection import InvalidConnectionError
from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.inference import Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import Problem
from gwtui.crud.plan import Applied, Outcome, Refused
from gwtui.domain.known_secrets import Secret, Token, remember
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
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
from gwtui.resources.tries.form import (
    IN_FORM,
    CompareForm,
    KeySource,
    TriedKey,
    TryForm,
    compare_form,
    initial_source,
    key_sources,
    new_key_sources,
    try_form,
)
from gwtui.resources.tries.plan import (
    KeyFacts,
    TryFacts,
    TryPlan,
    cap_problem,
    key_hash,
    models_of,
    read_key_facts,
    read_try_facts,
    try_plan,
)
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.actions.writing import form_context, plain_facts, refresh
from gwtui.ui.screens.compare import CompareRequestScreen, CompareScreen, ReadyComparison
from gwtui.ui.screens.tries import AnswerScreen, ReadyTry, TryScreen
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.endpoints import EndpointRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.workspaces import WorkspaceRow

MOVED = ("key", "credits", "workspaces", "members")
"""What the names of the feeds begin with that a request makes out of date."""
_NAME = 40
_CUT = 40


class TryFlow:
    """From the form's button to what came of the request."""

    def __init__(self, context: ActionContext, sources: Sequence[KeySource]) -> None:
        self._context = context
        self._sources = sources

    async def submit(self, given: TryForm) -> Outcome[str] | None:
        """Plan it, send it once, show what happens; gives back a generation to be opened."""
        app = self._context.app
        key = chosen_key(app, self._sources, given.key_from, given.key)
        try:
            models = Inference(app.connection, key, allow_tries=app.tries.allowed, clock=app.clock)
            screen = await self._screen(given, key, models)
        except InvalidConnectionError as error:
            screen = Problem("key", str(error))
        except GatewayError as error:
            return Refused(error)
        if isinstance(screen, Problem):
            return Refused(InvalidRequestError([screen]))
        generation = await app.push_screen_wait(screen)
        return Applied(generation) if generation else None

    async def _screen(
        self, given: TryForm, key: Secret, models: Inference
    ) -> Screen[Any] | Problem:
        """What sends it and shows what comes, or why nothing is sent. Raises GatewayError."""
        trial = await self._ready_try(given, key)
        if isinstance(trial, Problem):
            return trial
        return AnswerScreen(trial, models, self._context.app.clock)

    async def _ready_try(self, given: TryForm, key: Secret) -> ReadyTry | Problem:
        """What is ready to be sent, or why it is not sent. Raises GatewayError."""
        app = self._context.app
        request = given.chat_request()
        of_key = await read_key_facts(app.gateway, key_hash(key))
        facts = await read_try_facts(
            app.gateway, models_of(request), of_key, app.connection.dialect
        )
        if facts.unknown:
            meant = did_you_mean(facts.unknown[0], facts.known_models)
            return Problem("model", f"the catalog has no such model{meant}")
        plan = try_plan(request, facts, app.clock.now(), app.clock.chance)
        problem = cap_problem(plan, given.max_cost, IN_FORM)
        if problem is not None:
            return Problem("max_cost", problem)
        return ReadyTry(request, given.stream, plan, facts, _called(of_key), self._moved)

    async def _moved(self) -> None:
        await refresh(self._context, *MOVED)


def chosen_key(
    app: DashboardApp, sources: Sequence[KeySource], key_from: str, typed: Secret | None
) -> Secret:
    """The key that was chosen, else the typed one, which is remembered for this run."""
    chosen = next((source.value for source in sources if source.id == key_from), None)
    if chosen is not None:
        return chosen
    key = typed or Token("")
    remember(key)
    app.tries.typed = key
    return key


def _called(facts: KeyFacts) -> str:
    """The name of the key, as far as it is known."""
    return "a key" if facts.key is None else f"key {_key_name(facts.key)}"


def _key_name(key: ApiKey) -> str:
    return safe_line(key.name or key.label or key.hash or "without a name", _NAME)


async def try_it(context: ActionContext) -> None:
    """The form, begun from what is selected; then the generation, where that is asked for."""
    app = context.app
    if app.session is None:
        return
    sealed = await asyncio.to_thread(app.session.sealed.find, shown_elsewhere=True)
    if context.covered:
        return
    sources = key_sources(app.tries, sealed.keys)
    match await _fill_in(
        context, sources, _key_of_row(context.target), _defaults_from(context.target)
    ):
        case Applied(generation):
            await app.open_route(f"generation/{generation}")


async def try_made(context: ActionContext, name: str, value: Secret) -> None:
    """The form, above the screen that shows a new key, to be sent with that key."""
    sources = new_key_sources(name, value)
    match await _fill_in(context, sources, TriedKey(key_hash(value), safe_line(name, _NAME)), {}):
        case Applied(generation):
            context.app.say(f"Generation {generation}: store the key first, then look it up.")


async def _fill_in(
    context: ActionContext,
    sources: Sequence[KeySource],
    preselected: TriedKey | None,
    begun: Mapping[str, Any],
) -> Outcome[str] | None:
    """The form and what it leads to; the generation that is to be opened, if any."""
    app = context.app
    at_hand = form_context(context)
    source = initial_source(sources, None if preselected is None else preselected.hash)
    spec = try_form(
        sources,
        choices.models(at_hand, giving="text"),
        choices.providers(at_hand),
        {**app.tries.draft, "key_from": source.id, **begun},
        preselected,
    )
    form = TryScreen(spec, plain_facts(context), TryFlow(context, sources).submit, _keep(context))
    return await app.push_screen_wait(form)


def _keep(context: ActionContext) -> Any:
    def keep(typed: Mapping[str, Any]) -> None:
        context.app.tries.draft = typed

    return keep


def _key_of_row(row: Any) -> TriedKey | None:
    """The key of the row; the value is not known, the hash is."""
    if isinstance(row, KeyRow) and row.key.hash:
        return TriedKey(row.key.hash, _key_name(row.key))
    return None


def _defaults_from(row: Any) -> Mapping[str, Any]:
    """What the selected row says of the request; a pin of an earlier one is not kept."""
    pin: list[str] | None = None
    model: str | None = None
    match row:
        case EndpointRow():
            model = row.model_id
            pin = [row.endpoint.tag] if row.endpoint.tag else None
        case ByokRow():
            pin = [row.credential.provider] if row.credential.provider else None
            model = _first(row.credential.allowed_models)
        case GuardrailRow():
            model = _first(row.guardrail.allowed_models)
        case WorkspaceRow():
            model = row.workspace.default_text_model
        case KeyRow():
            model = None if row.workspace is None else row.workspace.default_text_model
        case _:
            model = getattr(row, "id", None)
    return {"only": pin, **({"model": model} if model else {})}


def _first(names: Sequence[str] | None) -> str | None:
    return names[0] if names else None


class ComparisonFlow(TryFlow):
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
        named = tuple(dict.fromkeys(_model_of(row) for row in self._rows))
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
        clock, named = self._context.app.clock, models_of(request)
        own = tuple(offers for offers in facts.offers if offers.model.id in named)
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
    if context.covered:
        return
    sources = key_sources(app.tries, sealed.keys)
    draft = {**app.tries.draft, "key_from": sources[0].id}
    spec = compare_form(sources, _model_of(rows[0]), _row_names(rows), draft)

    def keep(typed: Mapping[str, Any]) -> None:
        app.tries.draft = {**app.tries.draft, **typed}

    comparing = ComparisonFlow(context, sources, rows)
    await app.push_screen_wait(
        CompareRequestScreen(spec, plain_facts(context), comparing.submit, keep)
    )


def _contenders(
    request: ChatRequest, rows: Sequence[Any], facts: TryFacts
) -> tuple[Contender, ...]:
    return tuple(
        _pinned(request, name, row, facts)
        if isinstance(row, EndpointRow)
        else model_contender(request, _model_of(row))
        for row, name in zip(rows, _row_names(rows), strict=True)
    )


def _pinned(request: ChatRequest, name: str, row: EndpointRow, facts: TryFacts) -> Contender:
    """The request to the row's own model, which may be another for each."""
    model = _model_of(row)
    own = (offers for offers in facts.offers if offers.model.id == model)
    others = [endpoint for offers in own for endpoint in offers.endpoints or ()]
    of_model = request.model_copy(update={"model": model})
    return pinned_contender(of_model, name, row.endpoint, others)


def _model_of(row: Any) -> str:
    found = row.model_id if isinstance(row, EndpointRow) else getattr(row, "id", None)
    return found or ""


def _row_names(rows: Sequence[Any]) -> list[str]:
    """What each is called: endpoints of several models with their model."""
    several = len({_model_of(row) for row in rows}) > 1
    return [_row_name(row, with_model=several) for row in rows]


def _row_name(row: Any, *, with_model: bool) -> str:
    if not isinstance(row, EndpointRow):
        return safe_line(_model_of(row), _CUT)
    named = row.title or row.identity
    return safe_line(f"{_model_of(row)} at {named}" if with_model else named, _CUT)


HANDLERS: Mapping[str, Handler] = {
    **{
        f"{resource}.try": try_it
        for resource in (
            "keys",
            "guardrails",
            "models",
            "endpoints",
            "all-endpoints",
            "byok",
            "workspaces",
        )
    },
    **{
        f"{resource}.compare": compare_answers
        for resource in ("models", "endpoints", "all-endpoints")
    },
}
