from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from declaration_reader import cell_of, notes_of, rows_of, section_of, sort_of, tables_of
from gwtui.contract.models import Endpoint
from gwtui.crud.resource import Scope
from gwtui.resources.models.endpoints import COLUMNS, ENDPOINTS
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.models import rows_of as endpoint_rows
from gwtui.watch.history.model import Curve, Point, Series, SeriesKey
from resource_samples import NOW, endpoint_body, model_endpoints, nulls, percentiles

HOUR = timedelta(hours=1)


def row(*, keyless: bool = False, **changes: object) -> EndpointRow:
    [found] = endpoint_rows(model_endpoints(endpoint_body(**changes)), keyless=keyless)
    return found


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("provider", "Northwind /fp8"),
        ("status", "healthy"),
        ("in", "$2.70"),
        ("out", "$13.50"),
        ("latency_p50", "412"),
        ("latency_p99", "15,000"),
        ("throughput_p50", "80.2"),
        ("throughput_p90", "55.5"),
        ("uptime_5m", "100%"),
        ("uptime_30m", ">99.99%"),
        ("uptime_1d", "99.5%"),
        ("discount", "10%"),
        ("quantization", "fp8"),
        ("tier", "standard"),
        ("tools", "yes, 1 native"),
        ("tag", "northwind/fp8"),
    ],
)
def test_each_column_of_a_full_endpoint(column: str, shown: str) -> None:
    assert cell_of(ENDPOINTS, column, row(), NOW).text == shown


def test_sort_values_are_numbers_in_the_unit_of_the_title() -> None:
    assert sort_of(ENDPOINTS, "in", row(), NOW) == Decimal("2.7")
    assert sort_of(ENDPOINTS, "latency_p50", row(), NOW) == Decimal("412.4")
    assert sort_of(ENDPOINTS, "discount", row(), NOW) == Decimal(10)


def test_what_is_recorded_says_its_unit_or_that_nobody_came() -> None:
    figure = Series(SeriesKey("endpoint", "m p", "latency_p50"), "", 60)
    quiet = Curve(figure, HOUR, (Point(NOW, "null"),))
    used = Curve(figure, HOUR, (Point(NOW, "value", Decimal(300), Decimal(1200), Decimal(500)),))
    past = {"uptime_last_5m": quiet, "latency_p50": used, "throughput_p50": used}
    told = section_of(ENDPOINTS, "Last 24 hours", replace(row(), past=past), NOW)
    assert [part.note for part in told] == [
        "no traffic",
        "300 to 1,200 ms",
        "300.0 to 1,200.0 tok/s",
    ]


def test_no_traffic_is_a_dash_with_a_reason() -> None:
    quiet = row(
        latency_last_30m=None,
        throughput_last_30m=None,
        perf_last_30m_by_workload=None,
        uptime_last_5m=None,
        uptime_last_30m=None,
        uptime_last_1d=None,
    )
    assert cell_of(ENDPOINTS, "latency_p50", quiet, NOW).text == "—"
    assert cell_of(ENDPOINTS, "uptime_1d", quiet, NOW).text == "—"
    assert cell_of(ENDPOINTS, "status", quiet, NOW).text == "no traffic"
    assert rows_of(ENDPOINTS, "Performance", quiet, NOW)["latency"].note == "no traffic"
    assert rows_of(ENDPOINTS, "Workloads", quiet, NOW)["workloads"].note == "no traffic"
    assert rows_of(ENDPOINTS, "Health", quiet, NOW)["uptime 1 day"].note == "no traffic"


def test_figures_that_need_a_key_are_called_hidden() -> None:
    keyless = row(keyless=True, throughput_last_30m=None, perf_last_30m_by_workload=None)
    assert cell_of(ENDPOINTS, "throughput_p50", keyless, NOW).text == "hidden"
    assert cell_of(ENDPOINTS, "latency_p50", keyless, NOW).text == "412"
    notes = rows_of(ENDPOINTS, "Performance", keyless, NOW)
    assert notes["throughput"].note == "hidden without an API key"
    assert rows_of(ENDPOINTS, "Workloads", keyless, NOW)["workloads"].note == (
        "hidden without an API key"
    )


def test_latency_without_throughput_is_another_kind_of_work() -> None:
    image = row(throughput_last_30m=None)
    assert rows_of(ENDPOINTS, "Performance", image, NOW)["throughput"].note == "no token throughput"


def test_a_missing_figure_says_missing_and_not_no_traffic() -> None:
    cut = row(latency_last_30m=...)
    assert rows_of(ENDPOINTS, "Performance", cut, NOW)["latency"].note == "missing"
    assert "latency_last_30m" in notes_of(ENDPOINTS, "Gaps", cut, NOW)


def test_percentiles_stand_in_one_table() -> None:
    [table] = tables_of(ENDPOINTS, "Performance", row(), NOW)
    assert table == [
        ("last 30 min", "p50", "p75", "p90", "p99"),
        ("latency ms", "412", "600", "1,200", "15,000"),
        ("throughput tok/s", "80.2", "70.0", "55.5", "20.0"),
    ]


def test_workloads_stand_in_one_table_with_the_meaning_of_latency() -> None:
    [table] = tables_of(ENDPOINTS, "Workloads", row(), NOW)
    assert table[1] == ("text_generation", "12,345", "412", "15,000", "80.0")
    assert table[2] == ("image_generation", "—", "9,000", "15,000", "—")
    note = rows_of(ENDPOINTS, "Workloads", row(), NOW)[""].value.text
    assert "image_generation" in note
    assert "full time" in note


def test_an_unknown_workload_is_shown_as_it_came() -> None:
    workload = {"latency": percentiles("1", "2", "3", "4"), "throughput": None, "request_count": 3}
    [table] = tables_of(
        ENDPOINTS, "Workloads", row(perf_last_30m_by_workload={"telepathy": workload}), NOW
    )
    assert table[1][0] == "telepathy"


def test_every_price_is_listed_with_its_unit_and_after_the_discount() -> None:
    [table] = tables_of(ENDPOINTS, "Prices", row(), NOW)
    assert table[0] == ("price", "list", "after 10% off", "per")
    assert ("prompt", "$3.00", "$2.70", "M tokens") in table
    assert ("request", "$0.01", "$0.009", "request") in table


def test_without_a_discount_there_is_one_price() -> None:
    plain = row(pricing={"prompt": "0", "completion": "0.000015", "discount": 0})
    [table] = tables_of(ENDPOINTS, "Prices", plain, NOW)
    assert table == [
        ("price", "USD", "per"),
        ("prompt", "free", "M tokens"),
        ("completion", "$15.00", "M tokens"),
    ]


def test_overrides_are_described_one_by_one_at_the_price_charged() -> None:
    large, night, rule = section_of(ENDPOINTS, "Overrides", row(), NOW)
    assert large.value.text == "prompts over 100,000 tokens"
    assert large.note == "prompt $5.40/M tokens"
    assert night.value.text == "22:00-06:00 UTC, Saturday"
    assert night.note == "prompt free/M tokens"
    assert "later one wins" in rule.value.text
    assert section_of(ENDPOINTS, "Overrides", row(pricing={"prompt": "0"}), NOW) == []


def test_an_override_that_holds_by_the_clock_is_marked() -> None:
    late = NOW.replace(hour=23)
    _, night, _ = section_of(ENDPOINTS, "Overrides", row(), late)
    assert night.value.text.endswith("(now)")
    assert night.value.tone == "accent"


def test_an_override_that_cannot_be_judged_is_named_as_left_out() -> None:
    odd = row(pricing={"prompt": "1", "overrides": [{"moon": "full"}, {"utc_start": "late"}]})
    first, second, _ = section_of(ENDPOINTS, "Overrides", odd, NOW)
    assert "left out, its condition moon is not known" in first.value.text
    assert "utc_start cannot be read" in second.value.text
    assert first.value.tone == "warn"


def test_a_price_that_depends_on_the_route_varies() -> None:
    routed = row(pricing={"prompt": "-1", "completion": "-1"})
    assert cell_of(ENDPOINTS, "in", routed, NOW).text == "varies"
    assert sort_of(ENDPOINTS, "in", routed, NOW) is None


def test_tools_parameters_and_limits_are_told() -> None:
    tools = rows_of(ENDPOINTS, "Tools", row(), NOW)
    assert tools["tool_choice"].value.text == "auto, function, none"
    assert tools["native tool"].value.text == "service:web_search"
    assert tools["native tool"].note == "as web_search_20260801"
    assert rows_of(ENDPOINTS, "Limits", row(), NOW)["output"].value.text == "8,192 tokens"
    assert rows_of(ENDPOINTS, "Limits", row(), NOW)["input"].value.text == "no limit of its own"
    assert rows_of(ENDPOINTS, "Parameters", row(), NOW)[""].value.text == "temperature, tools"


def test_unknown_values_are_shown_as_they_came() -> None:
    odd = row(quantization="fp3", service_tier="express", status=-42)
    assert cell_of(ENDPOINTS, "quantization", odd, NOW).text == "fp3"
    assert cell_of(ENDPOINTS, "tier", odd, NOW).text == "express"
    health = rows_of(ENDPOINTS, "Health", odd, NOW)["status code"]
    assert health.value.text == "-42"
    assert "does not say" in health.note


def test_all_null_shows_no_zero() -> None:
    empty = EndpointRow(nulls(Endpoint), "x")
    for column in COLUMNS:
        assert "0" not in column.cell(empty, NOW).text, column.id


def test_twins_get_identities_of_their_own() -> None:
    body = endpoint_body()
    rows = endpoint_rows(model_endpoints(body, body, endpoint_body(service_tier="flex")))
    assert len({found.identity for found in rows}) == 3


def test_the_gaps_of_parts_are_named_by_their_path() -> None:
    cut = row(latency_last_30m={"p50": 1, "p75": 2, "p90": 3})
    assert "latency_last_30m.p99" in notes_of(ENDPOINTS, "Gaps", cut, NOW)
    extra = row(pricing={"prompt": "0", "completion": "0", "video": "0.5"})
    assert "pricing.video" in notes_of(ENDPOINTS, "Unknown fields", extra, NOW)


def test_endpoints_are_always_those_of_a_model() -> None:
    with pytest.raises(ValueError, match="one model"):
        ENDPOINTS.feed(None, Scope())  # type: ignore[arg-type]


def test_the_essentials_fit_into_eighty_columns() -> None:
    essential = COLUMNS[:6]
    assert sum(column.width for column in essential) + 2 * len(essential) <= 80


def test_one_provider_that_serves_a_model_twice_is_told_apart_by_the_variant() -> None:
    assert row(tag="northwind/flex").title == "Northwind /flex"
    assert row(tag="northwind").title == "Northwind"
    assert row(tag=None).title == "Northwind"
    assert row(provider_name=None, name=None, tag="northwind/flex").title == "northwind/flex"
