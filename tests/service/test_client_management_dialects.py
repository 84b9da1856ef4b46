"""Guardrails and workspaces in each dialect: what is not sent, and under which names."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from management_calls import ID
from service_kit import data, rig

from gwtui.client import errors
from gwtui.contract.content_filters import BuiltinFilterRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, UpdateGuardrailRequest
from gwtui.contract.workspaces import UpdateWorkspaceRequest


async def test_what_the_dialect_refuses_is_not_sent() -> None:
    flagged = CreateGuardrailRequest(
        name="x", content_filter_builtins=[BuiltinFilterRequest(slug="email", action="flag")]
    )
    half_a_cap = CreateGuardrailRequest(name="x", limit_usd=Decimal(5))
    generic, live = rig(data({"id": ID})), rig(data({"id": ID}), dialect=OPENROUTER)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await generic.client.guardrails.create(flagged)
    assert [p.field for p in caught.value.problems] == ["content_filter_builtins.0.action"]
    with pytest.raises(errors.InvalidRequestError, match="together"):
        await live.client.guardrails.create(half_a_cap)
    assert generic.script.requests == live.script.requests == []
    await live.client.guardrails.create(flagged)
    await generic.client.guardrails.create(half_a_cap)
    assert len(generic.script.requests) == len(live.script.requests) == 1


async def test_filters_that_only_the_service_knows_go_back_to_it_unchanged() -> None:
    theirs = [
        BuiltinFilterRequest.model_construct(slug="iban", action="encrypt"),
        BuiltinFilterRequest.model_construct(slug="email", action="mask"),
        BuiltinFilterRequest(slug="email", action="block"),
    ]
    it = rig(data({"id": ID}))
    request = UpdateGuardrailRequest(content_filter_builtins=theirs)
    await it.client.guardrails.update(ID, request)
    assert json.loads(it.script.requests[0].content)["content_filter_builtins"] == [
        {"slug": "iban", "action": "encrypt"},
        {"slug": "email", "action": "mask"},
        {"slug": "email", "action": "block"},
    ]


async def test_a_field_that_the_service_does_not_have_is_not_sent() -> None:
    request = UpdateGuardrailRequest(enforce_zdr_xai=True, name="x")
    generic, live = rig(data({"id": ID})), rig(data({"id": ID}), dialect=OPENROUTER)
    with pytest.raises(errors.InvalidRequestError) as caught:
        await generic.client.guardrails.update(ID, request)
    assert [p.field for p in caught.value.problems] == ["enforce_zdr_xai"]
    assert generic.script.requests == []
    await live.client.guardrails.update(ID, request)
    assert json.loads(live.script.requests[0].content) == {"enforce_zdr_xai": True, "name": "x"}


@pytest.mark.parametrize("value", [True, False, None])
async def test_the_deprecated_switch_is_never_sent(value: bool | None) -> None:
    it = rig(data({"id": ID}))
    for act in (
        it.client.guardrails.create(CreateGuardrailRequest(name="x", enforce_zdr=value)),
        it.client.guardrails.update(ID, UpdateGuardrailRequest(enforce_zdr=value)),
    ):
        with pytest.raises(errors.InvalidRequestError, match="deprecated"):
            await act
    assert it.script.requests == []


async def test_openrouter_names_go_out_and_come_back_as_the_reference_s() -> None:
    answer = {"id": ID, "name": "x", "enforce_zdr_anthropic": True, "enforce_zdr_google": None}
    it = rig(data(answer), dialect=OPENROUTER)
    request = UpdateGuardrailRequest(enforce_zdr_vendor_b=False, enforce_zdr_vendor_c=None)
    guardrail = await it.client.guardrails.update(ID, request)
    assert json.loads(it.script.requests[0].content) == {
        "enforce_zdr_openai": False,
        "enforce_zdr_google": None,
    }
    assert guardrail.enforce_zdr_vendor_a is True
    assert guardrail.enforce_zdr_vendor_c is None
    tools = rig(data({"id": ID, "disabled_server_tools": ["openrouter:bash"]}), dialect=OPENROUTER)
    space = await tools.client.workspaces.update(
        ID, UpdateWorkspaceRequest(disabled_server_tools=["service:bash", "service:fusion"])
    )
    assert json.loads(tools.script.requests[0].content) == {
        "disabled_server_tools": ["openrouter:bash", "openrouter:fusion"]
    }
    assert space.disabled_server_tools == ["service:bash"]
