"""Credentials in the order in which they are tried; null, empty and unknown restrictions differ."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from declaration_reader import cell_of, every_text, rows_of
from gwtui.contract.byok import ByokCredential
from gwtui.contract.workspaces import Workspace
from gwtui.resources.byok import BYOK
from gwtui.watch.feeds.byok import ByokRow, ranked

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
SPACE = Workspace.model_validate({"id": "w1", "name": "Default", "slug": "default"})


def row(name: str, **fields: Any) -> ByokRow:
    wire = {
        "id": f"id-{name}",
        "name": name,
        "label": "sk-...1234",
        "provider": "openai",
        "disabled": False,
        "is_fallback": False,
        "sort_order": 0,
        "allowed_models": None,
        "allowed_user_ids": None,
        "allowed_api_key_hashes": None,
        "workspace_id": "w1",
        "created_at": "2026-11-01T00:00:00Z",
        **fields,
    }
    credential = ByokCredential.model_validate({k: v for k, v in wire.items() if v is not ...})
    return ByokRow(credential, SPACE)


def in_order(*rows: ByokRow) -> list[tuple[str, int | None]]:
    found = sorted(ranked(rows), key=lambda one: one.order)
    return [(one.credential.name or "", one.place) for one in found]


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


@pytest.mark.parametrize(
    ("value", "shown", "summary", "state"),
    [
        (None, "no restriction", "none", "enabled"),
        ([], "none at all", "no model at all", "blocked"),
        (["acme/m1"], "acme/m1", "1 model", "enabled"),
        (["acme/m1", "acme/m2"], "acme/m1 and acme/m2", "2 models", "enabled"),
        (..., "—", "—", "enabled"),
    ],
)
def test_no_restriction_is_not_an_empty_one(
    value: Any, shown: str, summary: str, state: str
) -> None:
    one = row("a", allowed_models=value)
    assert rows_of(BYOK, "May be used only for", one, NOW)["models"].value.text == shown
    assert cell_of(BYOK, "only", one, NOW).text == summary
    assert cell_of(BYOK, "state", one, NOW).text == state


def test_names_stand_for_what_restrictions_list_by_identifier() -> None:
    key = "ab" * 32
    one = row("a", allowed_api_key_hashes=[key], allowed_user_ids=["u1"])
    assert rows_of(BYOK, "May be used only for", one, NOW)["keys"].value.text.startswith("ab")
    assert BYOK.completion is not None
    named = BYOK.completion.complete(one, {key: "ci", "u1": "Ada"})
    rows = rows_of(BYOK, "May be used only for", named, NOW)
    assert rows["keys"].value.text == "ci"
    assert rows["members"].value.text == "Ada"


def test_what_is_missing_is_unknown_and_nothing_raises() -> None:
    bare = ByokRow(ByokCredential.model_validate({"id": "x"}))
    assert cell_of(BYOK, "state", bare, NOW).text == "—"
    assert cell_of(BYOK, "order", bare, NOW).text == "—"
    assert cell_of(BYOK, "role", bare, NOW).text == "—"
    assert list(every_text(BYOK, ranked([bare])[0], NOW))
