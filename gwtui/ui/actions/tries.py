"""Test requests: a form, the plan with its maximum cost, the request and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.client.connection import InvalidConnectionError
from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.inference import Inference
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import Problem
from gwtui.crud.plan import Applied, Outcome, Refused
from gwtui.domain.known_secrets import Secret, Token, remember
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.tries.form import (
    IN_FORM,
    KeySource,
    TriedKey,
    TryForm,
    initial_source,
    key_sources,
    new_key_sources,
    try_form,
)
from gwtui.resources.tries.plan import (
    cap_problem,
    key_hash,
    models_of,
    read_key_facts,
    read_try_facts,
    try_plan,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import form_context, plain_facts, refresh
from gwtui.ui.screens.tries import AnswerScreen, ReadyTry, TryScreen
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import WorkspaceRow

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp

MOVED = ("key", "credits", "workspaces", "members")
"""Prefixes of the feeds to refresh after a request."""
_NAME = 40


async def _submit(
    context: ActionContext, sources: Sequence[KeySource], given: TryForm
) -> Outcome[str] | None:
    app = context.app
    key = chosen_key(app, sources, given.key_from, given.key)
    try:
        models = Inference(app.connection, key, allow_tries=app.tries.allowed, clock=app.clock)
        trial = await _ready_try(context, given, key)
    except InvalidConnectionError as error:
        trial = Problem("key", str(error))
    except GatewayError as error:
        return Refused(error)
    if isinstance(trial, Problem):
        return Refused(InvalidRequestError([trial]))
    generation = await app.push_screen_wait(AnswerScreen(trial, models, app.clock))
    return Applied(generation) if generation else None


async def _ready_try(context: ActionContext, given: TryForm, key: Secret) -> ReadyTry | Problem:
    app, request = context.app, given.chat_request()
    of_key = await read_key_facts(app.gateway, key_hash(key))
    facts = await read_try_facts(app.gateway, models_of(request), of_key, app.connection.dialect)
    if facts.unknown:
        meant = did_you_mean(facts.unknown[0], facts.known_models)
        return Problem("model", f"the catalog has no such model{meant}")
    plan = try_plan(request, facts, app.clock.now(), app.clock.chance)
    problem = cap_problem(plan, given.max_cost, IN_FORM)
    if problem is not None:
        return Problem("max_cost", problem)
    called = "a key" if of_key.key is None else f"key “{_key_name(of_key.key)}”"
    return ReadyTry(request, given.stream, plan, facts, called, partial(refresh, context, *MOVED))


def chosen_key(
    app: GwtuiApp, sources: Sequence[KeySource], key_from: str, typed: Secret | None
) -> Secret:
    """Return the chosen key, else the typed key, which is remembered until the program ends."""
    chosen = next((source.value for source in sources if source.id == key_from), None)
    if chosen is not None:
        return chosen
    key = typed or Token("")
    remember(key)
    app.tries.typed = key
    return key


def _key_name(key: ApiKey) -> str:
    return safe_line(key.name or key.label or key.hash or "without a name", _NAME)


async def try_it(context: ActionContext) -> None:
    """Show the form, filled from the selected row, and open the generation on request."""
    app = context.app
    if app.session is None:
        return
    sources = key_sources(app.tries)
    match await _fill_in(
        context, sources, _key_of_row(context.target), _defaults_from(context.target)
    ):
        case Applied(generation):
            await app.open_route(f"generation/{generation}")


async def try_made(context: ActionContext, name: str, value: Secret) -> None:
    """Show the form for a new key, above the screen with the value of that key."""
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

    def keep(typed: Mapping[str, Any]) -> None:
        app.tries.draft = typed

    submit = partial(_submit, context, sources)
    return await app.push_screen_wait(TryScreen(spec, plain_facts(context), submit, keep))


def _key_of_row(row: Any) -> TriedKey | None:
    if isinstance(row, KeyRow) and row.key.hash:
        return TriedKey(row.key.hash, _key_name(row.key))
    return None


def _defaults_from(row: Any) -> Mapping[str, Any]:
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


HANDLERS: Mapping[str, Handler] = {
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
}
