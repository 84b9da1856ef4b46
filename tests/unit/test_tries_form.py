"""The form of a test request: its first values, the offered keys, and its request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from gwtui.cli import dashboard
from gwtui.cli.commands import DASHBOARD
from gwtui.contract.byok import ByokCredential
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.request import problems
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import Facts, no_choices
from gwtui.domain.known_secrets import Token
from gwtui.local.paths import Paths
from gwtui.resources.session import TryMemory
from gwtui.resources.tries.form import (
    KeyAtHand,
    TriedKey,
    TryForm,
    key_at_hand,
    try_form,
)
from gwtui.resources.tries.plan import key_hash
from gwtui.ui.actions.tries import _defaults_from
from gwtui.ui.forms.form_state import FormState
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import WorkspaceRow

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FACTS = Facts(now=lambda: NOW)
KEY = SecretStr("gw-v1-0123456789abcdef0123456789abcdef")
SPACE = Workspace.model_validate({"id": "w", "default_text_model": "a/default"})
ROWS: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "model": (Model.model_validate({"id": "a/b"}), {"only": None, "model": "a/b"}),
    "endpoint": (
        EndpointRow(Endpoint.model_validate({"tag": "one/fp8"}), "x", "a/b"),
        {"only": ["one/fp8"], "model": "a/b"},
    ),
    "credential": (
        ByokRow(ByokCredential.model_validate({"provider": "one", "allowed_models": ["a/b"]})),
        {"only": ["one"], "model": "a/b"},
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
    "key of nowhere": (KeyRow(ApiKey.model_validate({"hash": "h"})), {"only": None}),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_form_begins_with_what_the_row_says(name: str) -> None:
    row, begun = ROWS[name]
    assert _defaults_from(row) == begun


def test_an_empty_key_stands_for_the_one_of_the_row_or_the_newest() -> None:
    memory = TryMemory(given=SecretStr("given-key"), typed=SecretStr("typed-key"))
    newest = key_at_hand(memory, None)
    assert newest == KeyAtHand("the one typed before", SecretStr("typed-key"))
    assert "typed-key" not in repr(newest)
    given = key_at_hand(memory, TriedKey(key_hash(SecretStr("given-key")), "ci"))
    assert given == KeyAtHand("that of GWTUI_TRY_KEY", SecretStr("given-key"))
    assert key_at_hand(memory, TriedKey(key_hash(SecretStr("another")), "ci")) is None
    assert key_at_hand(TryMemory(), None) is None


def state(memory: TryMemory | None = None, wanted: TriedKey | None = None) -> FormState:
    known = key_at_hand(memory or TryMemory(), wanted)
    return FormState(try_form(known, no_choices, no_choices, {"model": "a/b"}, wanted), FACTS)


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


def test_beside_a_key_stands_whose_it_is() -> None:
    form = state(wanted=TriedKey(key_hash(KEY), "ci"))
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
    assert memory.given == Token(KEY.get_secret_value())
    assert memory.allowed
    assert "GWTUI_TRY_KEY" not in os.environ
    memory.forget()
    assert memory.given is None
