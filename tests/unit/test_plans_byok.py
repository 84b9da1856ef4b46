"""The plans of writes to provider credentials: what they say, what they send, what they hide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from fake_clock import FakeClock
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.models import Provider
from gwtui.contract.request import MASK
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Plan
from gwtui.local.ledger import Ledger
from gwtui.resources.byok import check_provider
from plan_kit import byok_plans, changes, everything_said, sent

ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
SECRET = "sk-SENTINEL-provider-key"
HASH = "ab" * 32


def credential(**more: Any) -> ByokCredential:
    whole = {
        "id": ID,
        "name": "main",
        "label": "sk-...abc",
        "provider": "openai",
        "disabled": False,
        "is_fallback": False,
        "sort_order": 0,
        "allowed_models": None,
        "allowed_user_ids": [],
        "allowed_api_key_hashes": [HASH],
        "workspace_id": None,
        **more,
    }
    return ByokCredential.model_validate(whole)


async def test_a_creation_shows_everything_but_the_key() -> None:
    request = CreateByokRequest(
        provider="openai", key=SecretStr(SECRET), name="new", is_fallback=True, allowed_models=[]
    )
    plan = byok_plans.plan_create(request)
    assert changes(plan) == {
        "Name": (None, "new"),
        "Provider": (None, "openai"),
        "Workspace": (None, "the default workspace"),
        "Key": (None, "a new key, as typed"),
        "Fallback": (None, "yes"),
        "Only for models": (None, "none at all"),
    }
    assert plan.summary["key"] == MASK
    assert await sent(plan) == ("byok.create", {**request.body(), "key": SECRET})


async def test_an_update_tells_no_restriction_from_an_empty_one() -> None:
    request = UpdateByokRequest(
        allowed_models=["a/one"], allowed_user_ids=None, allowed_api_key_hashes=[HASH]
    )
    plan = byok_plans.plan_update(credential(), request, {HASH: "ci"})
    assert changes(plan) == {
        "Only for models": ("no restriction", "a/one"),
        "Only for members": ("none at all", "no restriction"),
        "Only for keys": ("ci", "ci"),
    }
    assert plan.danger == "low"
    assert await sent(plan) == ("byok.update", ID, request.body())


def test_what_an_update_leads_to() -> None:
    only = UpdateByokRequest(is_byok_only=True, is_required=True, allowed_models=[])
    said = "\n".join(byok_plans.plan_update(credential(), only).effects)
    assert "not tried on the gateway's own key" in said
    assert "with this credential only" in said
    assert "nothing may use it" in said
    off = UpdateByokRequest(is_byok_only=False, is_required=False, allowed_models=None)
    assert byok_plans.plan_update(credential(), off).effects == ()


async def test_a_rotation_cannot_be_undone() -> None:
    plan = byok_plans.plan_rotate(credential(), SecretStr(SECRET))
    assert changes(plan) == {"Key": ("sk-...abc", "a new key, as typed")}
    assert plan.danger == "high"
    assert any("cannot be undone" in line for line in plan.effects)
    assert plan.action == "byok.rotate"
    assert await sent(plan) == ("byok.update", ID, {"key": SECRET})


@pytest.mark.parametrize(
    "plan",
    [
        byok_plans.plan_create(CreateByokRequest(provider="openai", key=SecretStr(SECRET))),
        byok_plans.plan_rotate(credential(), SecretStr(SECRET)),
        byok_plans.plan_update(credential(), UpdateByokRequest(key=SecretStr(SECRET), name="x")),
    ],
)
def test_no_plan_holds_a_key(plan: Plan[Any]) -> None:
    assert SECRET not in everything_said(plan)


async def test_a_key_goes_out_but_not_into_the_ledger(tmp_path: Path) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"data": dict(credential().raw)})

    clock = FakeClock().clock
    where = Connection("https://gateway.test")
    transport = Transport(where, clock=clock, http=httpx.MockTransport(answer))
    ledger = Ledger(tmp_path / "audit.jsonl")
    plan = byok_plans.plan_rotate(credential(), SecretStr(SECRET))
    async with GatewayClient(where, clock=clock, transport=transport) as client:
        outcome = await WriteExecutor(client, ledger, clock).execute(Confirmation(plan, "dialog"))
    assert isinstance(outcome, Applied)
    (request,) = requests
    assert json.loads(request.content) == {"key": SECRET}
    written = ledger.path.read_text()
    assert SECRET not in written
    intent, *_ = map(json.loads, written.splitlines())
    assert intent["summary"] == {"key": MASK}


async def test_disabling_says_what_remains() -> None:
    second = credential(id="other", name="second")
    plan = byok_plans.plan_set_disabled(credential(), True, [credential(), second])
    assert changes(plan) == {"State": ("enabled", "disabled")}
    assert plan.effects[1] == "1 enabled credential of openai remains: “second”."
    alone = byok_plans.plan_set_disabled(
        credential(), True, [credential(id="other", disabled=True)]
    )
    assert "the gateway's own key" in alone.effects[1]
    unread = byok_plans.plan_set_disabled(credential(), True).effects
    assert "could not be read" in unread[1]
    assert await sent(plan) == ("byok.update", ID, {"disabled": True})


async def test_a_deletion_wipes_the_key() -> None:
    plan = byok_plans.plan_delete(credential(), [])
    said = "\n".join(plan.effects)
    assert "wiped" in said
    assert "cannot be undone" in said
    assert "sk-...abc" in said
    assert plan.danger == "high"
    assert await sent(plan) == ("byok.delete", ID)
    # What is off already takes nothing away from requests.
    quiet = byok_plans.plan_delete(credential(disabled=True), [])
    assert not any("own key" in line for line in quiet.effects)


PROVIDERS = [
    Provider.model_validate({"slug": "openai", "name": "OpenAI"}),
    Provider.model_validate({"slug": "kestrel", "name": "Kestrel Inference"}),
    Provider.model_validate({"slug": None, "name": "No slug"}),
]


@pytest.mark.parametrize(
    ("provider", "listed", "said"),
    [
        ("openai", True, ""),
        ("opneai", False, "The gateway lists no provider 'opneai'; did you mean 'openai'?"),
        ("OpenAI", False, "The gateway lists no provider 'OpenAI'; did you mean 'openai'?"),
        ("kestrel inference", False, "no provider 'kestrel inference'; did you mean 'kestrel'?"),
        ("No slug", False, "The gateway lists no provider 'No slug'."),
        ("zzz", False, "The gateway lists no provider 'zzz'."),
    ],
)
def test_a_provider_is_compared_with_those_of_the_gateway(
    provider: str, listed: bool, said: str
) -> None:
    check = check_provider(provider, PROVIDERS)
    assert check.serious is not listed
    assert check.text.endswith(said)
    assert bool(check.text) is not listed


@pytest.mark.parametrize("known", [None, [], PROVIDERS[2:]])
def test_a_list_that_does_not_come_or_is_empty_tells_nothing(known: list[Provider] | None) -> None:
    check = check_provider("openai", known)
    assert not check.serious
    assert check.text == "Whether the gateway has a provider 'openai' is not known."
    plan = byok_plans.plan_create(
        CreateByokRequest(provider="openai", key=SecretStr(SECRET)), warning=check
    )
    assert check.text in plan.effects
