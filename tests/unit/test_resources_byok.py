"""Credentials in routing order; null, empty and unknown restrictions differ."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.contract.byok import CreateByokRequest
from gwtui.contract.models import Provider
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import PlanContext
from gwtui.resources.byok import CREDENTIALS, provider_warning
from gwtui.watch.feeds.byok import ByokRow, ranked
from resource_samples import byok_credential

SPACE = Workspace.model_validate({"id": "w1", "name": "Default", "slug": "default"})


def row(name: str, **fields: Any) -> ByokRow:
    return ByokRow(byok_credential(name, **{"workspace_id": "w1", **fields}), SPACE)


def in_order(*rows: ByokRow) -> list[tuple[str, int | None]]:
    result = sorted(ranked(rows), key=lambda item: item.order)
    return [(item.credential.name or "", item.place) for item in result]


def test_fallbacks_come_last_and_disabled_ones_are_not_tried() -> None:
    assert in_order(
        row("late", sort_order=7),
        row("fallback", is_fallback=True, sort_order=0),
        row("off", disabled=True, sort_order=1),
        row("first", sort_order=2),
    ) == [("off", None), ("first", 1), ("late", 2), ("fallback", 3)]


def test_each_provider_and_workspace_has_an_order_of_its_own() -> None:
    rows = (
        row("b", provider="mistral", sort_order=1),
        row("a", provider="mistral", sort_order=0),
        row("elsewhere", provider="mistral", sort_order=0, workspace_id="w2"),
        row("z", provider="anthropic", sort_order=4),
    )
    places = dict(in_order(*rows))
    assert places == {"z": 1, "a": 1, "b": 2, "elsewhere": 1}
    assert in_order(*rows)[0] == ("z", 1)


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
    warning = provider_warning(provider, PROVIDERS)
    assert warning.endswith(said)
    assert bool(warning) is not listed
    request = CreateByokRequest(provider="openai", key=SecretStr("sk-provider"))
    expected = (warning,) if warning else ()
    context = PlanContext(datetime(2026, 11, 21, tzinfo=UTC))
    assert CREDENTIALS.plan_create(request, context, warning).warnings == expected


def test_an_empty_list_tells_nothing() -> None:
    assert provider_warning("openai", PROVIDERS[2:]) == provider_warning("openai", ()) == ""
