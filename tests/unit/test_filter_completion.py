from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.crud.filter_fields import filter_values
from gwtui.crud.resource import filter_headings, filter_kinds
from gwtui.domain.cell_values import ValueKind
from gwtui.domain.filter_completion import suggestions
from gwtui.domain.filters import parse
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.registry import RESOURCES
from table_kit import COLUMNS, SampleRow

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
FIELDS: dict[str, ValueKind] = {
    "name": "text",
    "latency_p50": "number",
    "usage": "number",
    "usage_byok": "number",
    "created": "moment",
    "state": "text",
    "disabled": "flag",
    "left": "number",
    "all_time": "number",
}


def values(name: str) -> list[str]:
    return {"state": ["active", "near limit", 'say "x"', "(odd)"]}.get(name, [])


def offered(text: str) -> list[str]:
    result = suggestions(text, FIELDS, values)
    return [result.apply(text, place) for place in range(len(result.offered))]


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("sta", ["state:"]),
        ("-sta", ["-state:"]),
        ("(x or sta", ["(x or state:"]),
        ("router sta", ["router state:"]),
        ("all", ["all_time"]),
        ("all-t", ["all_time"]),
        ("disabled", ["disabled:", "disabled!="]),
        ("state:n", ['state:"near limit"', "state:none"]),
        ('state:"near', ['state:"near limit"']),
        ("state = act", ["state = active"]),
        ("state:foo", ["state:active", 'state:"near limit"', 'state:"(odd)"', "state:none"]),
        ("state!=limit", ['state!="near limit"']),
        ("state:od", ['state:"(odd)"']),
        ("disabled:", ["disabled:yes", "disabled:no", "disabled:none"]),
        ("disabled:y", ["disabled:yes"]),
        ("-(sta", ["-(state:"]),
        ('"two words" sta', ['"two words" state:']),
        ("created:to", ["created:today", "created:tomorrow"]),
        ("created >= y", ["created >= yesterday"]),
        ("left>", []),
        ("state~a", []),
        ("nothing:a", []),
        ('"two sta', []),
        ("zzz", []),
    ],
)
def test_completions_of_the_end_of_a_filter(text: str, completed: list[str]) -> None:
    assert offered(text)[: len(completed) or None] == completed


def test_a_column_offers_its_operators_and_longer_names() -> None:
    assert offered("left")[:2] == ["left>", "left<"]
    assert offered("usage")[-1] == "usage_byok"


def test_an_empty_text_offers_every_name() -> None:
    assert offered("")[:3] == ["name:", "latency_p50", "usage"]
    assert len(offered("x ")) == len(FIELDS)


@given(st.text() | st.text('ab "():=<>-~stateleft', max_size=20))
def test_no_text_raises_and_what_is_offered_goes_on_from_it(text: str) -> None:
    result = suggestions(text, FIELDS, values)
    assert 0 <= result.start <= len(text)
    for place in range(len(result.offered)):
        completed = result.apply(text, place)
        assert completed.startswith(text[: result.start])


def test_values_are_those_of_the_rows_the_most_frequent_first() -> None:
    rows = [SampleRow(str(place), f"row {place % 2}", state="active") for place in range(3)]
    rows.append(SampleRow("3", "bad\x1b[1m", state="—"))

    def values(name: str) -> list[str]:
        return filter_values(name, COLUMNS, {}, rows, NOW + timedelta(days=1))

    assert values("name") == ["row 0", "row 1"]
    assert values("state") == ["active"]
    assert values("used") == []
    assert values("absent") == []


def test_a_facet_of_many_words_gives_each_of_them() -> None:
    facets = {"parameter": lambda row, _now: "tools seed " * 9, "kind": lambda row, _now: "a b"}
    assert filter_values("parameter", COLUMNS, facets, [SampleRow("1", "x")], NOW) == [
        "seed",
        "tools",
    ]
    assert filter_values("kind", COLUMNS, facets, [SampleRow("1", "x")], NOW) == ["a b"]


@pytest.mark.parametrize("resource", sorted(RESOURCES))
def test_every_column_of_every_list_goes_by_name_and_by_heading(resource: str) -> None:
    spec = RESOURCES[resource]
    kinds = filter_kinds(spec.columns, spec.facets)
    headings = filter_headings(spec.columns, spec.facets)
    for heading, column in headings.items():
        query = parse(f"{heading.replace('_', '-')}:none", kinds, headings)
        assert (query.unknown, query.columns) == ((), {column})


def test_the_headings_that_people_see_are_names() -> None:
    keys = filter_headings(KEYS.columns, KEYS.facets)
    assert keys["all_time"] == "all"
    endpoints = filter_headings(ENDPOINTS.columns, ENDPOINTS.facets)
    assert endpoints["p50_ms"] == "latency_p50"
