"""The key in use, generations, ZDR: unknown figures read as unknown, hostile ones as plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from declaration_reader import cell_of, every_text, notes_of, rows_of
from gwtui.contract.byok import ByokCredential
from gwtui.contract.current_key import CurrentKey
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.usage import ActivityRow, Generation
from gwtui.crud.resource import DetailRow, Section
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.safe_text import in_sentence
from gwtui.resources import activity
from gwtui.resources import generations as generation
from gwtui.resources.activity import account_usage
from gwtui.resources.byok import BYOK
from gwtui.resources.keys import current as current_key
from gwtui.resources.models import zdr
from gwtui.resources.models.zdr import ZDR
from gwtui.watch.feeds.activity import Activity
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.models import ZdrRow
from resource_samples import HOSTILE, nulls

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
BAD = {"Cc", "Cs", "Cf", "Zl", "Zp"}


def texts(sections: Sequence[Section[Any]], item: Any) -> Iterator[str]:
    for section in sections:
        for part in section.content(item, NOW):
            if isinstance(part, DetailRow):
                yield from (part.label, part.value.text, part.note)
            else:
                yield from (cell.text for row in part.rows for cell in row)


def row_of(sections: Sequence[Section[Any]], title: str, label: str, item: Any) -> DetailRow:
    section = next(one for one in sections if one.title == title)
    return next(
        part
        for part in section.content(item, NOW)
        if isinstance(part, DetailRow) and part.label == label
    )


def poisoned(model: type[Any]) -> dict[str, Any]:
    return {
        name: [HOSTILE] if "list" in str(field.annotation) else HOSTILE
        for name, field in model.model_fields.items()
    }


BUDGET = dict.fromkeys(("scope", "reset_interval", "budget_id"), HOSTILE)
TRY = dict.fromkeys(("provider_name", "model_permaslug", "status"), HOSTILE)
OBJECTS = {
    "key": (
        current_key.SECTIONS,
        CurrentKey.model_validate(
            {**poisoned(CurrentKey), "effective_budget": BUDGET, "budgets": [BUDGET]}
        ),
    ),
    "generation": (
        generation.SECTIONS,
        Generation.model_validate({**poisoned(Generation), "provider_responses": [TRY]}),
    ),
    "no key": (current_key.SECTIONS, CurrentKey.model_validate({})),
    "no generation": (generation.SECTIONS, Generation.model_validate({})),
    "null key": (current_key.SECTIONS, nulls(CurrentKey)),
    "null generation": (generation.SECTIONS, nulls(Generation)),
    "odd generation": (
        generation.SECTIONS,
        Generation.model_validate(
            {"provider_responses": [{"latency": True, "status": [], "is_byok": "x"}, {}]}
        ),
    ),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_an_object_is_shown_as_printable_text(case: str) -> None:
    sections, item = OBJECTS[case]
    shown = list(texts(sections, item))
    assert shown
    for text in shown:
        found = {unicodedata.category(char) for char in text.replace("\n", "")}
        assert not found & BAD, text


ROWS = {
    "credential": (
        BYOK,
        ByokRow(ByokCredential.model_validate(poisoned(ByokCredential)), names={HOSTILE: "safe"}),
    ),
    "null credential": (BYOK, ByokRow(nulls(ByokCredential))),
    "zdr": (
        ZDR,
        ZdrRow(
            Model.model_validate({"id": HOSTILE, "name": HOSTILE}),
            (Endpoint.model_validate({"provider_name": HOSTILE, "tag": HOSTILE}),),
            (Endpoint.model_validate({"provider_name": HOSTILE}),),
        ),
    ),
    "null zdr": (ZDR, ZdrRow(nulls(Model), (nulls(Endpoint),), (nulls(Endpoint),))),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_row_is_shown_as_printable_text(case: str) -> None:
    spec, item = ROWS[case]
    for where, text in every_text(spec, item, NOW):
        if not where.startswith("column"):
            text = text.replace("\n", "")  # noqa: PLW2901
        assert not {unicodedata.category(char) for char in text} & BAD, where


def test_ranked_activity_is_printable() -> None:
    rows = [ActivityRow.model_validate({"model": HOSTILE, "date": "2026-11-20", "usage": 1})]
    uses = account_usage(Activity(tuple(rows)))
    (one,) = activity.ranked(uses, rows, ("model",), "spend")
    assert not {unicodedata.category(char) for char in one.name} & BAD


# The key in use -----------------------------------------------------------------------------


def test_an_exhausted_budget_says_what_happens() -> None:
    layer = {
        "scope": "workspace",
        "limit_usd": 10,
        "spend_usd": 12,
        "remaining_usd": -2,
        "reset_interval": "daily",
        "resets_at": "2026-11-22T00:00:00Z",
        "include_byok": False,
    }
    key = CurrentKey.model_validate({"effective_budget": layer, "budgets": [layer]})
    left = row_of(current_key.SECTIONS, "Effective budget", "left", key)
    assert (left.value.text, left.value.tone) == ("-$2.00", "bad")
    assert "refused" in left.note
    text = " ".join(texts(current_key.SECTIONS, key))
    assert "2026-11-22 00:00 UTC" in text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"is_management_key": True}, "reading and changing"),
        ({"is_management_key": False}, "needs a management key"),
        ({}, "did not say"),
    ],
)
def test_what_the_key_offers(answer: dict[str, Any], words: str) -> None:
    key = CurrentKey.model_validate(answer)
    assert words in row_of(current_key.SECTIONS, "Rights", "this offers", key).value.text


def test_no_budget_differs_from_one_that_is_not_said() -> None:
    none = CurrentKey.model_validate({"effective_budget": None, "budgets": []})
    assert "no budget binds" in " ".join(texts(current_key.SECTIONS, none))
    unsaid = CurrentKey.model_validate({})
    assert row_of(current_key.SECTIONS, "Effective budget", "budget", unsaid).value.text == "—"


# Generations --------------------------------------------------------------------------------


def test_times_costs_and_tries_of_a_generation() -> None:
    one = Generation.model_validate(
        {
            "latency": 320,
            "generation_time": 2500,
            "native_tokens_completion": 500,
            "total_cost": 0.00042,
            "service_tier": None,
            "provider_responses": [
                {"status": 500, "provider_name": "A", "latency": 90},
                {"status": 200, "provider_name": "B", "latency": 2500, "is_byok": True},
            ],
        }
    )
    rows = {row.label: row for row in _rows(one)}
    assert rows["first token"].value.text == "320 ms"
    assert rows["generation"].value.text == "2.50 s"
    assert rows["speed"].value.text == "200.0 tokens/s"
    assert rows["cost"].value.text == "$0.00042"
    assert rows["service tier"].value.text == "standard"
    assert rows["router"].value.text == "—"
    tries = next(one for one in generation.SECTIONS if one.title == "Every try")
    (table,) = tries.content(one, NOW)
    assert not isinstance(table, DetailRow)
    assert [row[1].tone for row in table.rows] == ["bad", "good"]


def _rows(one: Generation) -> list[DetailRow]:
    return [
        part
        for section in generation.SECTIONS
        for part in section.content(one, NOW)
        if isinstance(part, DetailRow)
    ]


def test_every_field_of_a_generation_is_shown() -> None:
    """Each field given alone changes what is shown."""
    empty = list(texts(generation.SECTIONS[:-2], Generation.model_validate({})))
    for name, field in Generation.model_fields.items():
        kind = str(field.annotation)
        value: Any = "text"
        if "bool" in kind:
            value = True
        elif "int" in kind or "Decimal" in kind:
            value = 7
        elif "datetime" in kind:
            value = "2026-11-20T00:00:00Z"
        elif "list" in kind:
            value = [{"status": 200}]
        one = Generation.model_validate({name: value})
        assert list(texts(generation.SECTIONS[:-2], one)) != empty, name


# Zero data retention ------------------------------------------------------------------------


def endpoint(provider: str, uptime: float | None = 100) -> Endpoint:
    return Endpoint.model_validate(
        {
            "model_id": "acme/m1",
            "provider_name": provider,
            "tag": provider.lower(),
            "uptime_last_5m": uptime,
            "uptime_last_30m": uptime,
            "uptime_last_1d": uptime,
            "status": 0,
        }
    )


MODEL = Model.model_validate({"id": "acme/m1", "canonical_slug": "acme/m1", "name": "M1"})


@pytest.mark.parametrize(
    ("kept", "every", "word", "count"),
    [
        ([], None, "loses all", "0"),
        ([], ["A", "B"], "loses all", "0 of 2"),
        (["A"], ["A", "B"], "remains", "1 of 2"),
        (["A", "B"], ["A", "B"], "keeps all", "2 of 2"),
        (["A"], None, "remains", "1"),
    ],
)
def test_what_remains_of_a_model(
    kept: list[str], every: list[str] | None, word: str, count: str
) -> None:
    row = ZdrRow(MODEL, tuple(map(endpoint, kept)))
    if every is not None:
        view = CatalogView((ModelWithEndpoints(MODEL, tuple(map(endpoint, every))),), {})
        row = zdr.complete(row, view)
        assert set(notes_of(ZDR, "Endpoints that are lost", row, NOW)) == {
            f"✗ {name}" for name in every if name not in kept
        }
    assert cell_of(ZDR, "state", row, NOW).text == word
    assert cell_of(ZDR, "remaining", row, NOW).text == count


def test_remaining_but_not_working_is_a_warning() -> None:
    row = ZdrRow(MODEL, (endpoint("A", 10),))
    assert cell_of(ZDR, "state", row, NOW) == zdr.state_cell(row)
    assert zdr.state_cell(row).text == "none healthy"
    assert rows_of(ZDR, "Model", row, NOW)["under ZDR"].note


def test_titles_keep_their_abbreviations_in_a_sentence() -> None:
    assert in_sentence("Models under ZDR") == "models under ZDR"
    assert in_sentence("This key") == "this key"
