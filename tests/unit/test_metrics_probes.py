"""Probes as metrics: from what is recorded, while it is fresh, with what they cost today."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from gwtui.watch.history.model import Observation, Sample, Series, SeriesKey, Subject
from gwtui.watch.metrics.exposition import registry_of, text_of
from gwtui.watch.metrics.readings import ReadingsSnapshot, with_probes
from gwtui.watch.probes import spending
from history_kit import START, desk

EMPTY = ReadingsSnapshot({}, {})
ENDPOINT = Subject("endpoint", "a/b northwind/fp8||")
MOST = Decimal("0.01")


def probe(at: float, ok: int, ttft: int | None) -> Observation:
    values = {"probe_ok": Decimal(ok), "probe_ttft": None if ttft is None else Decimal(ttft)}
    samples = tuple(
        Sample(Series(SeriesKey(*ENDPOINT, figure), "", 600), value)
        for figure, value in values.items()
    )
    return Observation("probe:x", START + timedelta(minutes=at), 600, samples)


def exposed(path: Path, minutes: float) -> dict[str, float]:
    now = START + timedelta(minutes=minutes)
    text = text_of(registry_of(lambda: with_probes(EMPTY, path, now)), openmetrics=False).decode()
    lines = [line.rpartition(" ") for line in text.splitlines() if "probe" in line[:20]]
    return {name: float(value) for name, _, value in lines if not name.startswith("#")}


def test_probes_are_exposed_while_they_are_fresh(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite3"
    assert with_probes(EMPTY, path, START) == EMPTY, "nothing is recorded"
    with desk(path) as room:
        facts = {ENDPOINT: {"name": "Northwind"}}
        room.writer.observe(Observation("endpoints:a/b", START, 60, (), facts))
        assert exposed(path, 1) == {}, "never probed"
        room.writer.observe(probe(1, 1, 420))
        assert spending.begin(room.writer, START.date(), MOST, Decimal(1))
        spending.end(room.connection, START.date(), MOST, Decimal("0.000123"))
        labels = '{endpoint="northwind/fp8||",model="a/b",provider="Northwind"}'
        found = exposed(path, 10)
        assert found[f"gwtui_endpoint_probe_ok{labels}"] == 1
        assert found[f"gwtui_endpoint_probe_ttft_seconds{labels}"] == 0.42
        assert found["gwtui_probes_spent_today_usd"] == 0.000123
        room.writer.observe(probe(11, 0, None))
        found = exposed(path, 12)
        assert found[f"gwtui_endpoint_probe_ok{labels}"] == 0
        assert f"gwtui_endpoint_probe_ttft_seconds{labels}" not in found, "unknown is absent"
        assert f"gwtui_endpoint_probe_ok{labels}" not in exposed(path, 11 + 31)
