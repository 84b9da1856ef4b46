"""What other people write reaches the screen only as harmless, plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest

from declaration_reader import every_text
from gwtui.contract.budgets import Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint, Model, Provider
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.contract.workspaces import Workspace
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.members import MEMBERS
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.models.resource import MODELS, PROVIDERS
from gwtui.resources.organization import ORGANIZATION
from gwtui.resources.workspaces.resource import WORKSPACES
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow, rows_of
from gwtui.watch.feeds.workspaces import Belonging, Figures, MemberRow, PersonRow, WorkspaceRow
from resource_samples import (
    HOSTILE,
    NOW,
    endpoint_body,
    key,
    model,
    model_endpoints,
    nulls,
    provider,
    workspace,
)

BAD_CATEGORIES = {"Cc", "Cs", "Cf", "Zl", "Zp"}


def poisoned(value: Any, name: str = "") -> Any:
    """Every string of an answer, and every name of a map that is not the contract's, made evil."""
    if isinstance(value, str) and not name.endswith("_at") and name not in {"prompt", "completion"}:
        return HOSTILE
    if isinstance(value, Mapping):
        return {
            (HOSTILE if name in {"native_tools", "perf_last_30m_by_workload"} else key_): poisoned(
                item, key_
            )
            for key_, item in value.items()
        } | {HOSTILE: HOSTILE}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value


POISONED_MEMBER = WorkspaceMember.model_validate(dict.fromkeys(("user_id", "id", "role"), HOSTILE))
POISONED_PERSON = OrganizationMember.model_validate(
    dict.fromkeys(("id", "email", "first_name", "last_name", "role"), HOSTILE)
)
FAULTY = Figures(
    budgets={HOSTILE: Budget.model_validate({"limit_usd": 5, "reset_interval": HOSTILE})},
    guardrails={HOSTILE: Guardrail.model_validate({"id": HOSTILE, "name": HOSTILE})},
    faults=(HOSTILE,),
)

CASES = {
    "workspaces with figures": (
        WORKSPACES,
        WorkspaceRow(
            Workspace.model_validate(
                {**poisoned(workspace().raw), "default_guardrail_id": HOSTILE}
            ),
            FAULTY,
        ),
    ),
    "keys": (
        KEYS,
        KeyRow(
            ApiKey.model_validate(poisoned(key().raw)),
            Workspace.model_validate(poisoned(workspace().raw)),
        ),
    ),
    "workspaces": (WORKSPACES, WorkspaceRow(Workspace.model_validate(poisoned(workspace().raw)))),
    "models": (MODELS, Model.model_validate(poisoned(model().raw))),
    "providers": (PROVIDERS, Provider.model_validate(poisoned(provider().raw))),
    "endpoints": (
        ENDPOINTS,
        rows_of(model_endpoints(poisoned(endpoint_body())))[0],
    ),
    "members": (MEMBERS, MemberRow(POISONED_MEMBER, POISONED_PERSON, (), (HOSTILE,))),
    "people": (
        ORGANIZATION,
        PersonRow(
            POISONED_PERSON,
            (Belonging(Workspace.model_validate(poisoned(workspace().raw)), POISONED_MEMBER),),
        ),
    ),
    "null members": (MEMBERS, MemberRow(nulls(WorkspaceMember), nulls(OrganizationMember))),
    "null people": (ORGANIZATION, PersonRow(nulls(OrganizationMember), ())),
    "absent members": (MEMBERS, MemberRow(WorkspaceMember.model_validate({}))),
    "absent people": (ORGANIZATION, PersonRow(OrganizationMember.model_validate({}))),
    "null keys": (KEYS, KeyRow(nulls(ApiKey))),
    "null workspaces": (WORKSPACES, WorkspaceRow(nulls(Workspace))),
    "null models": (MODELS, nulls(Model)),
    "null providers": (PROVIDERS, nulls(Provider)),
    "null endpoints": (ENDPOINTS, EndpointRow(nulls(Endpoint), "x")),
    "absent keys": (KEYS, KeyRow(ApiKey.model_validate({}))),
    "absent workspaces": (WORKSPACES, WorkspaceRow(Workspace.model_validate({}))),
    "absent models": (MODELS, Model.model_validate({})),
    "absent providers": (PROVIDERS, Provider.model_validate({})),
    "absent endpoints": (ENDPOINTS, EndpointRow(Endpoint.model_validate({}), "x")),
    "wrong keys": (KEYS, KeyRow(ApiKey.model_validate({name: {} for name in ApiKey.model_fields}))),
    "wrong models": (MODELS, Model.model_validate({name: [1] for name in Model.model_fields})),
    "wrong endpoints": (
        ENDPOINTS,
        EndpointRow(Endpoint.model_validate(dict.fromkeys(Endpoint.model_fields, "x")), "x"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_but_printable_text_is_shown(case: str) -> None:
    spec, item = CASES[case]
    for where, text in every_text(spec, item, NOW):
        for line in text.split("\n"):
            bad = [char for char in line if unicodedata.category(char) in BAD_CATEGORIES]
            assert not bad, f"{where}: {bad!r} in {text!r}"


@pytest.mark.parametrize("case", CASES)
def test_columns_and_labels_stay_on_one_line(case: str) -> None:
    spec, item = CASES[case]
    for where, text in every_text(spec, item, NOW):
        if where.startswith("column") or where == "name":
            assert "\n" not in text, where


def test_the_samples_are_evil_indeed() -> None:
    spec, item = CASES["keys"]
    assert item.key.name == HOSTILE
    shown = dict(every_text(spec, item, NOW))
    assert "[bold]" in shown["name"], "markup must be shown, not interpreted or dropped"
