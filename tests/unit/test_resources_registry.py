"""The registry of resources, and what its lists open and compute."""

from __future__ import annotations

import re

import pytest
from textual.screen import Screen

from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.resources.actions import FRAME_ACTIONS, by_id, for_scope
from gwtui.resources.entries import ENTRIES, RegistryEntry
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.registry import COMMAND_RESOURCES as HEADLESS
from gwtui.resources.registry import RESOURCES, SCREENS, SPECS, TABS, TITLES
from gwtui.watch.feeds.models import rows_of as endpoint_rows
from resource_samples import endpoint_body, model_endpoints


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_entry_leads_to_its_declaration(entry: RegistryEntry) -> None:
    if entry.screen:
        screen = SCREENS[entry.id]
        assert isinstance(screen, type)
        assert issubclass(screen, Screen)
    if not entry.declaration:
        return
    spec = SPECS[entry.id]
    assert isinstance(spec, ResourceSpec)
    assert spec.id == entry.id
    assert entry.screen or spec.title == entry.title
    assert spec.opens is None or spec.opens in TITLES


@pytest.mark.parametrize("resource", HEADLESS.values(), ids=lambda resource: resource.id)
def test_titles_are_words_not_identifiers(resource: RegistryEntry) -> None:
    spec = SPECS[resource.id]
    titles = [spec.title, spec.singular, *(item.title for item in (*spec.columns, *spec.sections))]
    assert [title for title in titles if re.search(r"[a-z][A-Z]|_", title)] == []


def test_the_mappings_agree() -> None:
    assert {*RESOURCES, *SCREENS} == set(TITLES)
    assert {*SPECS, *SCREENS} == {entry.id for entry in ENTRIES}
    assert set(TABS) <= set(TITLES)
    assert "kyes" not in RESOURCES
    with pytest.raises(KeyError):
        RESOURCES["kyes"]


def test_actions_stand_under_their_own_scope() -> None:
    tables = {**FRAME_ACTIONS, **{entry.id: entry.actions for entry in ENTRIES}}
    for scope, declared in tables.items():
        assert {action.scope for action in declared} <= {scope}
        assert for_scope(scope) == declared
        assert all(by_id(action.id) is action for action in declared)
        with pytest.raises(KeyError):
            by_id(f"{scope}.no-such-verb")


def test_duplicate_endpoints_get_distinct_ids() -> None:
    body = endpoint_body()
    rows = endpoint_rows(model_endpoints(body, body, endpoint_body(service_tier="flex")))
    assert len({item.identity for item in rows}) == 3


def test_endpoints_are_always_those_of_a_model() -> None:
    with pytest.raises(ValueError, match="one model"):
        ENDPOINTS.feed(None, Scope())  # type: ignore[arg-type]
