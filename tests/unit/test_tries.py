"""Test requests: the form with its first values and offered keys, and the plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pricing_kit import SATURDAY
from pydantic import SecretStr, ValidationError

from gwtui.cli import dashboard
from gwtui.cli.commands import DASHBOARD
from gwtui.client.connection import Connection
from gwtui.contract.byok import ByokCredential
from gwtui.contract.chat import ChatRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.request import problems
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import PreviewContext, no_choices
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.clock import Clock
from gwtui.domain.routing import Router
from gwtui.local.paths import Paths
from gwtui.resources.session import TryMemory
from gwtui.resources.tries.form import (
    KnownKey,
    SelectedKey,
    TryForm,
    find_known_key,
    try_form,
)
from gwtui.resources.tries.plan import (
    KeyFacts,
    TryFacts,
    TryPlan,
    cap_problem,
    exclusion_reasons,
    key_hash,
    models_of,
    try_plan,
)
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.tries import try_it
from gwtui.ui.forms.form_state import FormState
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import WorkspaceRow
from gwtui.watch.hub import FeedHub, Scope

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FACTS = PreviewContext(now=lambda: NOW)
KEY = SecretStr("gw-v1-0123456789abcdef0123456789abcdef")
SPACE = Workspace.model_validate({"id": "w", "default_text_model": "a/default"})
ROWS: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "model": (Model.model_validate({"id": "a/b"}), {"only": None, "model": "a/b"}),
    "endpoint": (
        EndpointRow(Endpoint.model_validate({"tag": "one/fp8"}), "x", "a/b"),
        {"only": ("one/fp8",), "model": "a/b"},
    ),
    "credential": (
        ByokRow(ByokCredential.model_validate({"provider": "one", "allowed_models": ["a/b"]})),
        {"only": ("one",), "model": "a/b"},
    ),
    "guardrail": (
        GuardrailRow(Guardrail.model_validate({"allowed_models": ["a/b", "a/c"]})),
        {"only": None, "model": "a/b"},
    ),
    "workspace": (WorkspaceRow(SPACE), {"only": None, "model": "a/default"}),
    "key": (
        KeyRow(ApiKey.model_validate({"hash": "h"}), SPACE),
        {"only": None, "model": "a/default"},
    ),
    "key without a workspace": (
        KeyRow(ApiKey.model_validate({"hash": "h"})),
        {"only": None, "model": "a/typed-before"},
    ),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_try_form_starts_with_values_of_the_row(name: str) -> None:
    row, expected = ROWS[name]
    forms: list[Any] = []

    async def push(form: Any) -> None:
        forms.append(form)

    connection = Connection("https://gateway.example")
    app: Any = SimpleNamespace(
        session=SimpleNamespace(connection=connection),
        connection=connection,
        gateway=None,
        hub=FeedHub(cast("Any", None)),
        tries=TryMemory(draft={"model": "a/typed-before"}),
        clock=Clock(now=lambda: NOW),
        local_zone=UTC,
        scope=Scope(),
        push_screen_wait=push,
    )
    await try_it(ActionContext(app, None, row, None, cast("Any", None)))
    (form,) = forms
    assert {name: form.state.typed(name) for name in expected} == expected


def test_an_empty_key_uses_the_rows_or_the_newest_key() -> None:
    memory = TryMemory(given=SecretStr("given-key"), typed=SecretStr("typed-key"))
    newest = find_known_key(memory, None)
    assert newest == KnownKey("the one typed before", SecretStr("typed-key"))
    assert "typed-key" not in repr(newest)
    given = find_known_key(memory, SelectedKey(key_hash(SecretStr("given-key")), "ci"))
    assert given == KnownKey("that of GWTUI_TRY_KEY", SecretStr("given-key"))
    assert find_known_key(memory, SelectedKey(key_hash(SecretStr("another")), "ci")) is None
    assert find_known_key(TryMemory(), None) is None


def state(memory: TryMemory | None = None, preselected: SelectedKey | None = None) -> FormState:
    known = find_known_key(memory or TryMemory(), preselected)
    return FormState(try_form(known, no_choices, no_choices, {"model": "a/b"}, preselected), FACTS)


def test_fields_become_the_request() -> None:
    form = state()
    form.put("prompt", "Hello")
    form.put("system", "Be short")
    form.put("only", ("one", "two/fp8"))
    form.put("temperature", "0.5")
    form.put("max_tokens", "64")
    form.put("key", KEY)
    request = form.request()
    assert isinstance(request, TryForm)
    assert request.max_cost == Decimal("0.05")
    assert request.chat_request().body() == {
        "model": "a/b",
        "messages": [
            {"role": "system", "content": "Be short"},
            {"role": "user", "content": "Hello"},
        ],
        "provider": {"only": ["one", "two/fp8"]},
        "max_tokens": 64,
        "temperature": 0.5,
    }
    assert "Hello" not in repr(request)
    assert KEY.get_secret_value() not in repr(request)


@pytest.mark.parametrize(
    ("name", "typed", "wrong"),
    [
        ("prompt", "  \n ", "must not be empty"),
        ("max_tokens", "0", "must be at least 1"),
        ("max_tokens", "1.5", "must be a whole number"),
        ("temperature", "2.1", "must be from 0 to 2"),
        ("temperature", "warm", "expected a number such as 12.5"),
        ("max_cost", "-1", "must not be negative"),
        ("key", SecretStr(""), "type or paste the inference key"),
    ],
)
def test_bounds_are_the_contracts_and_are_said_at_the_field(
    name: str, typed: Any, wrong: str
) -> None:
    form = state()
    for field, value in {"prompt": "Hello", "key": KEY, name: typed}.items():
        form.put(field, value)
    assert not form.attempt()
    problem = form.problem(name)
    assert wrong in problem.text


def test_a_blank_prompt_is_refused_wherever_it_comes_from() -> None:
    with pytest.raises(ValidationError) as error:
        TryForm.model_validate({"model": "a/b", "prompt": " \n"})
    assert "must not be blank" in problems(error.value)[0].message


def test_the_key_field_names_its_source() -> None:
    form = state(preselected=SelectedKey(key_hash(KEY), "ci"))
    form.put("key", SecretStr("gw-v1-another"))
    note = form.note("key")
    assert note.text.startswith("not the value of key “ci”")
    form.put("key", KEY)
    note = form.note("key")
    assert (note.text, note.tone) == ("the value of key “ci”", "good")


def test_a_key_at_hand_need_not_be_typed() -> None:
    form = state(TryMemory(given=KEY))
    form.put("prompt", "Hello")
    assert form.attempt()


def test_the_dashboard_takes_the_key_out_of_the_environment(
    private_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GWTUI_TRY_KEY", f" {KEY.get_secret_value()} ")
    arguments = DASHBOARD.parse(["--demo", "--allow-tries"])
    memory = dashboard._app(arguments, "keys", Paths.of_user()).tries
    assert memory.given == SecretStr(KEY.get_secret_value())
    assert memory.allowed
    assert "GWTUI_TRY_KEY" not in os.environ
    memory.forget()
    assert memory.given is None


# The plan -----------------------------------------------------------------------------------------


MODEL = "author/slug"


def endpoint(tag: str, **fields: Any) -> Endpoint:
    return Endpoint.model_validate(
        {
            "tag": tag,
            "provider_name": tag.title(),
            "model_id": MODEL,
            "context_length": 10_000,
            "max_completion_tokens": 1000,
            "supported_parameters": ["max_tokens", "temperature"],
            "pricing": {"prompt": "0.000001", "completion": "0.00001"},
            **fields,
        }
    )


def facts(*endpoints: Endpoint, credentials: tuple[ByokCredential, ...] = ()) -> TryFacts:
    model = Model.model_validate({"id": MODEL, "canonical_slug": MODEL})
    offers = (ModelWithEndpoints(model, endpoints),)
    view = CatalogView(offers, {item.provider_name or "": item.tag or "" for item in endpoints})
    return TryFacts(offers, Router(view, GENERIC, (), credentials), KeyFacts())


def asks(**fields: Any) -> ChatRequest:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "x"}], **fields}
    return ChatRequest.model_validate(body)


def planned(request: ChatRequest | EmbeddingRequest, try_facts: TryFacts) -> TryPlan:
    return try_plan(request, try_facts, SATURDAY, lambda: 0.5)


def test_the_worst_case_cost_is_that_of_the_dearest_endpoint() -> None:
    dear = endpoint("dear", pricing={"prompt": "0.000001", "completion": "0.0001"})
    plan = planned(asks(max_tokens=100), facts(endpoint("cheap"), dear))
    assert plan.most_cost is not None
    assert Decimal("0.01") < plan.most_cost < Decimal("0.0102")
    only = planned(
        asks(max_tokens=100, provider={"only": ["cheap"]}), facts(endpoint("cheap"), dear)
    )
    assert only.most_cost < Decimal("0.0012")
    assert [exclusion_reasons(item) for item in only.excluded] == [("provider not allowed",)]


def test_the_limit_of_the_endpoint_applies_without_a_maximum() -> None:
    plan = planned(asks(), facts(endpoint("one")))
    assert plan.most_cost > Decimal("0.01")


def test_an_unknown_cost_stops_a_try_with_a_maximum() -> None:
    plan = planned(asks(max_tokens=1), facts(endpoint("one", pricing={"prompt": "-1"})))
    assert plan.most_cost is None
    problem = cap_problem(plan, Decimal(1000))
    assert "unknown" in problem
    assert cap_problem(plan, None) is None
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    result = planned(asks(messages=[{"role": "user", "content": image}]), facts(endpoint("one")))
    assert result.most_cost is None


def test_a_try_is_sent_up_to_the_maximum_cost() -> None:
    plan = planned(asks(max_tokens=100), facts(endpoint("one")))
    assert plan.most_cost is not None
    assert cap_problem(plan, plan.most_cost) is None
    problem = cap_problem(plan, plan.most_cost - Decimal("0.0000001"))
    assert "more than the maximum" in problem


def test_a_try_without_endpoints_is_refused_and_free() -> None:
    plan = planned(asks(provider={"only": ["nobody"]}), facts(endpoint("one")))
    assert not plan.order
    assert plan.endpoint_count == 1
    assert cap_problem(plan, Decimal(0)) is None


def test_byok_costs_the_provider_price_plus_the_fee() -> None:
    credential = ByokCredential.model_validate({"id": "c", "provider": "one", "is_required": True})
    plan = planned(asks(max_tokens=100), facts(endpoint("one"), credentials=(credential,)))
    assert [item.attempt.credential for item in plan.order] == [credential]
    assert plan.most_cost is not None
    other = planned(asks(max_tokens=100), facts(endpoint("one")))
    assert other.most_cost is not None
    assert plan.most_cost == other.most_cost * Decimal("1.05")


def test_vectors_cost_their_prompt() -> None:
    plan = planned(EmbeddingRequest(model=MODEL, input=["x" * 932]), facts(endpoint("one")))
    assert plan.most_cost == Decimal("0.001")


def test_the_models_of_a_request_in_order_and_once() -> None:
    assert models_of(asks(models=["a/b", MODEL, "c/d"])) == (MODEL, "a/b", "c/d")
    assert models_of(EmbeddingRequest(model="a/b", input="x")) == ("a/b",)
