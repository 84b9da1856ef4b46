"""Models, workspaces and providers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from declaration_reader import cell_of, rows_of, sort_of, tables_of
from gwtui.contract.models import Model, Provider
from gwtui.contract.workspaces import Workspace
from gwtui.resources.models.resource import MODELS, PROVIDERS
from gwtui.resources.workspaces.resource import WORKSPACES
from gwtui.watch.feeds.workspaces import WorkspaceRow
from resource_samples import NOW, model, nulls, provider, workspace


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("name", "Aurora: Glass 2"),
        ("id", "aurora/glass-2"),
        ("modality", "text+image → text"),
        ("context", "131k"),
        ("in", "$3.00"),
        ("out", "$15.00"),
        ("parameters", "2"),
        ("withdrawn", "in 10 days"),
    ],
)
def test_each_column_of_a_full_model(column: str, shown: str) -> None:
    assert cell_of(MODELS, column, model(), NOW).text == shown


def test_a_model_that_is_withdrawn_soon_warns() -> None:
    assert cell_of(MODELS, "withdrawn", model(), NOW).tone == "warn"
    assert cell_of(MODELS, "withdrawn", model(expiration_date=None), NOW).text == "—"
    assert cell_of(MODELS, "withdrawn", model(expiration_date="some day"), NOW).text == "some day"
    assert sort_of(MODELS, "withdrawn", model(expiration_date="some day"), NOW) is None


def test_a_discount_is_taken_off_the_listed_price() -> None:
    cheap = model(pricing={"prompt": "0.000003", "completion": "0", "discount": Decimal("0.5")})
    assert cell_of(MODELS, "in", cheap, NOW).text == "$1.50"
    assert sort_of(MODELS, "in", cheap, NOW) == Decimal("1.5")
    assert cell_of(MODELS, "out", cheap, NOW).text == "$0.00"


def test_a_creation_moment_outside_the_calendar_is_unknown() -> None:
    assert cell_of(MODELS, "created", model(created=10**18), NOW).text == "—"


def test_unknown_modalities_are_shown_as_they_came() -> None:
    odd = model(
        architecture={
            "modality": None,
            "input_modalities": ["smell"],
            "output_modalities": ["dreams"],
        }
    )
    assert cell_of(MODELS, "modality", odd, NOW).text == "smell → dreams"


def test_the_detail_keeps_the_lines_of_a_description() -> None:
    description = rows_of(MODELS, "Description", model(), NOW)[""].value.text
    assert description.splitlines() == ["A calm model.", "With two lines."]


def test_models_open_their_endpoints() -> None:
    assert MODELS.opens == "endpoints"
    assert MODELS.identity(model()) == "aurora/glass-2"


def test_facets_of_models() -> None:
    assert MODELS.facets["author"](model(), NOW) == "aurora"
    assert "image" in MODELS.facets["input"](model(), NOW)
    assert "tools" in MODELS.facets["parameter"](model(), NOW)
    assert MODELS.facets["input"](nulls(Model), NOW) == ""


def test_prices_of_a_model_stand_in_a_table() -> None:
    [table] = tables_of(MODELS, "Prices", model(), NOW)
    assert table[1] == ("prompt", "$3.00", "M tokens")


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("name", "Production"),
        ("slug", "production"),
        ("logging", "on, 0.01%"),
        ("sort", "throughput"),
        ("text_model", "aurora/glass-2"),
        ("broadcast", "yes"),
        ("creator", "user_1"),
    ],
)
def test_each_column_of_a_full_workspace(column: str, shown: str) -> None:
    assert cell_of(WORKSPACES, column, WorkspaceRow(workspace()), NOW).text == shown


def test_null_settings_of_a_workspace_are_not_set() -> None:
    bare = WorkspaceRow(
        workspace(default_text_model=None, is_observability_io_logging_enabled=False)
    )
    assert cell_of(WORKSPACES, "text_model", bare, NOW).text == "not set"
    assert cell_of(WORKSPACES, "logging", bare, NOW).text == "off"
    assert (
        rows_of(WORKSPACES, "Logging", WorkspaceRow(workspace()), NOW)["logged keys"].value.text
        == "all keys"
    )
    some = WorkspaceRow(workspace(io_logging_api_key_ids=[3, 14]))
    assert rows_of(WORKSPACES, "Logging", some, NOW)["logged keys"].value.text == "3, 14"


def test_the_smallest_sampling_rate_does_not_read_as_nothing() -> None:
    row = rows_of(WORKSPACES, "Logging", WorkspaceRow(workspace()), NOW)["sampling"]
    assert row.value.text == "0.01% of requests"
    assert row.note == "1 in 10k"


def test_a_workspace_without_answers_is_unknown_throughout() -> None:
    empty = WorkspaceRow(Workspace.model_validate({}))
    assert cell_of(WORKSPACES, "text_model", empty, NOW).text == "—"
    assert cell_of(WORKSPACES, "logging", empty, NOW).text == "—"
    assert rows_of(WORKSPACES, "Logging", empty, NOW)["logged keys"].value.text == "—"


def test_providers_say_what_they_do_not_give() -> None:
    assert cell_of(PROVIDERS, "headquarters", provider(), NOW).text == "NO"
    assert cell_of(PROVIDERS, "datacenters", provider(), NOW).text == "NO, SE"
    assert cell_of(PROVIDERS, "status_page", provider(), NOW).text == "none given"
    assert cell_of(PROVIDERS, "status_page", Provider.model_validate({}), NOW).text == "—"
    assert rows_of(PROVIDERS, "Links", provider(), NOW)["privacy policy"].value.text == (
        "https://northwind.example/privacy"
    )


def test_a_model_priced_by_the_image_is_not_called_free() -> None:
    painter = model(pricing={"prompt": "0", "completion": "0", "image_output": "0.04"})
    for column in ("in", "out"):
        assert cell_of(MODELS, column, painter, NOW).text == "other"
        assert sort_of(MODELS, column, painter, NOW) is None, "it is not the cheapest per token"
    assert cell_of(MODELS, "other", painter, NOW).text == "$0.04/image"
    free = model(pricing={"prompt": "0", "completion": "0", "image_output": "0"})
    assert (cell_of(MODELS, "in", free, NOW).text, sort_of(MODELS, "in", free, NOW)) == ("free", 0)
    assert cell_of(MODELS, "other", model(), NOW).text == "—"


def test_what_else_is_known_of_a_model() -> None:
    full = model(
        per_request_limits={"prompt_tokens": 8000, "completion_tokens": None},
        reasoning={
            "mandatory": False,
            "default_enabled": True,
            "default_effort": "medium",
            "supported_efforts": ["low", "medium"],
        },
        supported_voices=["alto", "bass"],
        default_parameters={"temperature": Decimal("0.7"), "top_p": None},
        hugging_face_id="aurora/Glass-2",
        alias_target={"name": "Glass 3", "slug": "aurora/glass-3"},
        benchmarks={"intelligence": Decimal("61.5")},
    )
    assert set(full.gaps) <= {"links"}
    shown = {label: row.value.text for label, row in rows_of(MODELS, "Traits", full, NOW).items()}
    assert shown == {
        "one request": "8,000 prompt tokens",
        "reasoning": "on unless switched off",
        "efforts": "low, medium",
        "voices": "alto, bass",
        "defaults": "temperature 0.7",
        "weights": "aurora/Glass-2",
        "alias of": "aurora/glass-3",
        "benchmarks": '{"intelligence": "61.5"}',
    }
    bare = model(default_parameters=None)
    assert rows_of(MODELS, "Traits", bare, NOW)["defaults"].value.text == "none"
    thinking = model(reasoning={"mandatory": True})
    assert rows_of(MODELS, "Traits", thinking, NOW)["reasoning"].value.text == "always"
