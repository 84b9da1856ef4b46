"""Exported metrics: base units, unknown values omitted, hostile names, both formats."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from pydantic import JsonValue

from gwtui.watch.history.model import (
    ACCOUNT,
    Observation,
    Subject,
)
from gwtui.watch.metrics import (
    METRICS,
    OF_FIGURE,
    SUBJECT_LABELS,
    ReadingsSnapshot,
    registry_of,
    text_of,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Labels = tuple[tuple[str, str], ...]


def observation(
    resource: str,
    values: Mapping[tuple[str, str], str | None],
    facts: Mapping[str, Mapping[str, JsonValue]] | None = None,
) -> Observation:
    """A reading: (identity, metric) -> value; identity -> facts."""
    figures: dict[Subject, dict[str, Decimal | None]] = {}
    for (identity, figure), value in values.items():
        number = None if value is None else Decimal(value)
        figures.setdefault(Subject(resource, identity), {})[figure] = number
    all_facts = {Subject(resource, name): dict(fields) for name, fields in (facts or {}).items()}
    return Observation(resource, NOW, 60, figures, all_facts)


def samples_of(*readings: Observation) -> dict[str, dict[Labels, float]]:
    """The samples of a scrape after these readings, by metric and labels."""
    picture = ReadingsSnapshot({reading.source: reading for reading in readings}, {})
    text = text_of(registry_of(lambda: picture), openmetrics=True).decode()
    results: dict[str, dict[Labels, float]] = {}
    for family in parse_openmetrics(text):
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            results.setdefault(sample.name, {})[labels] = sample.value
    return results


def test_figures_come_in_base_units() -> None:
    identity = "a/b prov||"
    reading = observation(
        "endpoint",
        {
            (identity, "uptime_last_5m"): "99.5",
            (identity, "latency_p90"): "1250",
            (identity, "throughput_p50"): "42.5",
            (identity, "price_prompt"): "0.00000125",
        },
        {identity: {"name": "Prov"}},
    )
    result = samples_of(reading)
    base = {"model": "a/b", "provider": "Prov", "endpoint": "prov||"}
    assert result["gwtui_endpoint_uptime_ratio"] == {labels(base, window="5m"): 0.995}
    assert result["gwtui_endpoint_latency_seconds"] == {labels(base, percentile="p90"): 1.25}
    assert result["gwtui_endpoint_throughput_tokens_per_second"] == {
        labels(base, percentile="p50"): 42.5
    }
    assert result["gwtui_endpoint_price_usd"] == {labels(base, price="prompt"): 0.00000125}


def labels(base: Mapping[str, str], **more: str) -> Labels:
    return tuple(sorted({**base, **more}.items()))


def test_unknown_is_absent_and_zero_is_zero() -> None:
    reading = observation(
        "credits",
        {(ACCOUNT, "balance"): None, (ACCOUNT, "total_usage"): "0"},
    )
    result = samples_of(reading)
    assert "gwtui_credits_balance_usd" not in result
    assert result["gwtui_credits_used_usd_total"] == {(): 0.0}


def test_keys_tell_whether_they_are_disabled_and_when_they_expire() -> None:
    reading = observation(
        "key",
        {},
        {
            "1": {"name": "ci", "disabled": True, "expires_at": "2026-11-22T12:00:00Z"},
            "2": {"name": "x", "disabled": False, "expires_at": None, "workspace_id": "w"},
        },
    )
    result = samples_of(reading)
    first = (("key", "1"), ("name", "ci"), ("workspace", ""))
    second = (("key", "2"), ("name", "x"), ("workspace", "w"))
    assert result["gwtui_key_disabled"] == {first: 1.0, second: 0.0}
    expires = (NOW + timedelta(days=1)).timestamp()
    assert result["gwtui_key_expires_timestamp_seconds"] == {first: expires}


HOSTILE = [
    'a"b\\c',
    "line\nbreak",
    "\x1b]52;c;QQ==\a",
    "\ud800 half",
    "\u202etxt",
    "{}=,",
    "x" * 999,
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("openmetrics", [True, False], ids=["openmetrics", "text"])
def test_hostile_names_stay_one_readable_label(name: str, openmetrics: bool) -> None:
    reading = observation("key", {("1", "usage"): "5"}, {"1": {"name": name}})
    picture = ReadingsSnapshot({"keys": reading}, {"keys": True})
    text = text_of(registry_of(lambda: picture), openmetrics=openmetrics).decode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    parse = parse_openmetrics if openmetrics else parse_text
    (sample,) = [
        sample
        for family in parse(text)
        for sample in family.samples
        if sample.name == "gwtui_key_used_usd_total"
    ]
    assert sample.value == 5
    assert sample.labels["name"]
    assert len(sample.labels["name"]) <= 200


def test_every_figure_is_exported_with_its_subject() -> None:
    for (resource, _), mapped in OF_FIGURE.items():
        labels = SUBJECT_LABELS[resource]
        assert mapped.metric.labels[: len(labels)] == labels
        assert len(mapped.metric.labels) == len(labels) + len(mapped.extra)


def test_a_reading_that_fails_is_down() -> None:
    picture = ReadingsSnapshot({}, {"keys": False, "credits": True}, skew=-3.5)
    text = text_of(registry_of(lambda: picture), openmetrics=False).decode()
    assert 'gwtui_reading_up{reading="keys"} 0.0' in text
    assert 'gwtui_reading_up{reading="credits"} 1.0' in text
    assert "gwtui_gateway_clock_skew_seconds -3.5" in text


# The documents ----------------------------------------------------------------------------------

_NAME = re.compile(r"\bgwtui_[a-z_]+\b")
_EXPORTED = {metric.sample for metric in METRICS}


def test_prometheus_rules_use_exported_metrics() -> None:
    rules = (DOCS / "prometheus" / "gwtui.rules.yml").read_text()
    metrics = set(_NAME.findall(rules))
    assert len(metrics) > 10
    assert metrics <= _EXPORTED


def test_the_grafana_dashboard_uses_exported_metrics() -> None:
    dashboard = json.loads((DOCS / "grafana" / "gwtui.json").read_text())
    metrics = set(_NAME.findall(json.dumps(dashboard)))
    assert len(metrics) > 10
    assert metrics <= _EXPORTED
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)


PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")


def promtool(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROMTOOL or "promtool", *words],
        cwd=DOCS / "prometheus",
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )


@needs_promtool
@pytest.mark.parametrize(
    "words",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "gwtui.rules.yml"),
    ],
    ids=" ".join,
)
def test_promtool_accepts_the_shipped_files(words: tuple[str, ...]) -> None:
    """The tests of the rules run with the page of the manual."""
    result = promtool(*words)
    assert result.returncode == 0, result.stdout + result.stderr


@needs_promtool
def test_every_rule_is_tested() -> None:
    rules = (DOCS / "prometheus" / "gwtui.rules.yml").read_text()
    tests = (DOCS / "prometheus" / "gwtui.rules.test.yml").read_text()
    alerts = set(re.findall(r"alert: (\w+)", rules))
    assert alerts == set(re.findall(r"alertname: (\w+)", tests))


@needs_promtool
def test_promtool_accepts_the_exposition() -> None:
    endpoint = "a/b p||"
    readings = {
        resource: observation(
            resource,
            {
                (ACCOUNT if resource == "credits" else endpoint, figure): "1"
                for of, figure in OF_FIGURE
                if of == resource
            },
            {endpoint: {"name": "n", "disabled": False, "expires_at": "2026-11-22T12:00:00Z"}},
        )
        for resource in SUBJECT_LABELS
    }
    picture = ReadingsSnapshot(readings, dict.fromkeys(readings, True), 0.5)
    text = text_of(registry_of(lambda: picture), openmetrics=False)
    result = promtool("check", "metrics", stdin=text)
    assert result.returncode == 0, result.stdout + result.stderr
    exposed = {line.split(b" ")[2].decode() for line in text.splitlines() if b"# TYPE" in line}
    assert exposed == _EXPORTED
