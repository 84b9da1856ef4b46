"""Metrics from a real Prometheus equal those of the file; an unreachable one is reported."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from fake_clock import FakeClock
from gwtui.client.prometheus import PrometheusClient, PrometheusError, PrometheusServer
from gwtui.local.tokens import TokenError
from gwtui.ui.screens.board_panels import BoardView, board_past
from gwtui.watch.feeds.doctor import history_line
from gwtui.watch.history import archive
from gwtui.watch.history.archive import ask
from gwtui.watch.history.model import HistoryUnusableError, SeriesKey, Subject
from gwtui.watch.history.reader import BALANCE, TOTAL_USAGE, HistoryReader, credits_state
from gwtui.watch.history.recorder import open_recording
from gwtui.watch.hub import FeedHub
from history_kit import open_history
from prometheus_kit import needs_prometheus, running_prometheus
from recorded_gateway_kit import MODEL, Inline, World

BEGIN = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=8)
UNREAD = range(200, 230)
"""Minutes without readings."""
QUIET = range(100, 130)
"""Minutes without traffic at the endpoint."""
ENDPOINT = Subject("endpoint", "lab/model northwind||fp8")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
KEYS = (BALANCE, TOTAL_USAGE, UPTIME)


async def no_token() -> None:
    return None


def server(url: str, match: str = "") -> PrometheusClient:
    return PrometheusClient(PrometheusServer(url, match, no_token), None)


def readings() -> Iterator[tuple[datetime, dict[SeriesKey, Decimal | None]]]:
    """A reading a minute for six hours."""
    for minute in range(360):
        if minute not in UNREAD:
            used = Decimal(minute * minute) / 1000
            uptime = None if minute in QUIET else Decimal(99 - minute % 7)
            moment = BEGIN + timedelta(minutes=minute)
            yield moment, {BALANCE: 500 - used, TOTAL_USAGE: used, UPTIME: uptime}


def exposition() -> str:
    """The same as OpenMetrics with timestamps, for two gateways."""
    labels = 'model="lab/model",provider="Northwind",endpoint="northwind||fp8",window="5m"'
    names = {
        "gwtui_credits_balance_usd": lambda row: row[BALANCE],
        "gwtui_endpoint_uptime_ratio": lambda row: row[UPTIME] and row[UPTIME] / 100,
        "gwtui_reading_up": lambda _: 1,
        "gwtui_reading_timestamp_seconds": lambda _: None,
        "gwtui_credits_used_usd_total": lambda row: row[TOTAL_USAGE],
    }
    lines = []
    for name, value_of in names.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines.append(f"# TYPE {name.removesuffix('_total')} {kind}")
        label_sets = {
            "gwtui_endpoint_uptime_ratio": [labels],
            "gwtui_reading_up": ['reading="credits"', 'reading="endpoints:lab/model"'],
            "gwtui_reading_timestamp_seconds": ['reading="credits"'],
        }.get(name, [""])
        for job, factor in (("gwtui", 1), ("other", 7)):
            for item in label_sets:
                for moment, figures in readings():
                    second = int(moment.timestamp())
                    value = second if "timestamp" in name else value_of(figures)
                    if value is not None:
                        series = ",".join(filter(None, (item, f'job="{job}"')))
                        lines.append(f"{name}{{{series}}} {value * factor} {second}")
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusClient]:
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "past").write_text(exposition())
    (folder / "prometheus.yml").write_text("scrape_configs: []\n")
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "past", "tsdb"],
        check=True,
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    with running_prometheus(folder) as url, closing(server(url, 'job="gwtui"')) as client:
        yield client


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryReader]:
    with open_history(tmp_path_factory.mktemp("file") / "h.sqlite3") as history:
        for moment, figures in readings():
            history.see(moment, {key: figures[key] for key in (BALANCE, TOTAL_USAGE)})
            history.see(moment, {UPTIME: figures[UPTIME]}, source="endpoints:lab/model")
        yield history.reader


@needs_prometheus
@pytest.mark.parametrize("width", [900, 3600])
def test_curves_are_those_of_the_file(
    prometheus: PrometheusClient, file: HistoryReader, tmp_path: Path, width: int
) -> None:
    until = BEGIN + timedelta(hours=6)

    def states(reader: HistoryReader, key: SeriesKey) -> list[Any]:
        curve = reader.points(key, BEGIN, until, resolution=width)
        assert curve is not None
        return [(point.at, point.state) for point in curve.points]

    def values(reader: HistoryReader) -> list[Any]:
        curve = reader.points(TOTAL_USAGE, BEGIN, until, resolution=width)
        assert curve is not None
        return [(point.low, point.last) for point in curve.points if point.state == "value"]

    for key in KEYS:
        result = ask(tmp_path / "none", lambda reader, key=key: states(reader, key), prometheus)
        assert result == states(file, key), key
    assert ask(tmp_path / "none", values, prometheus) == values(file)


@needs_prometheus
def test_prometheus_answers_moment_span_and_runway(
    prometheus: PrometheusClient, file: HistoryReader, tmp_path: Path
) -> None:
    def questions(reader: HistoryReader) -> None:
        quiet = BEGIN + timedelta(minutes=115)
        assert reader.value_at(BALANCE, quiet).value == file.value_at(BALANCE, quiet).value
        assert reader.value_at(UPTIME, quiet).state == "gap"
        well = BEGIN + timedelta(minutes=20)
        assert reader.value_at(UPTIME, well).value == file.value_at(UPTIME, well).value
        assert reader.value_at(UPTIME._replace(figure="latency_p50"), well).state == "null"
        assert reader.facts_at(well) == {ENDPOINT: {"name": "Northwind"}}
        assert reader.span() == (BEGIN, BEGIN + timedelta(minutes=359))
        now = BEGIN + timedelta(hours=6)
        burns = [credits_state(item, now).rates[0] for item in (reader, file)]
        assert burns[0] is not None
        assert burns[1] is not None
        assert abs(burns[0].usd_per_hour - burns[1].usd_per_hour) < 1

    ask(tmp_path / "none", questions, prometheus)


def test_an_unreachable_prometheus_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite3"
    with open_history(path) as history:
        history.connection.execute("INSERT INTO watched_models VALUES ('lab/model', 0)")
        history.see(BEGIN, {BALANCE: 5})
    view = BoardView(BEGIN)
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # without listening, so connections are refused
        with closing(server(f"http://127.0.0.1:{unheard.getsockname()[1]}")) as client:
            past = ask(path, lambda reader: board_past(view, "lab/model northwind", reader), client)
            with pytest.raises(HistoryUnusableError):
                ask(path, lambda reader: reader.value_at(BALANCE, BEGIN), client)
    assert past.recording.models == ("lab/model",)
    assert (past.credits, past.changes.changes, past.curves) == (None, (), {})
    assert past.problem.startswith("Prometheus at 127.0.0.1:")
    assert "cannot be reached" in past.problem


async def test_without_a_token_of_prometheus_the_file_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "ThreadPoolExecutor", Inline)

    async def lost_token() -> None:
        raise TokenError("pass exited with status 2")

    time, world = FakeClock(), World()
    where = PrometheusServer("https://prometheus.example", "", lost_token)
    client = world.client()
    client.connection.history = where
    hub = FeedHub(client, time.clock)
    async with open_recording(hub, tmp_path / "h.sqlite3") as recording:
        await time.settle()
        await time.advance(5)
        assert recording.status.written_at is not None, recording.status.error
        assert await recording.archive.read(lambda reader: reader.watched_models()) == (MODEL,)
        with pytest.raises(HistoryUnusableError, match="pass exited with status 2"):
            await recording.archive.read(lambda reader: reader.value_at(BALANCE, time.now()))
    await hub.close()
    line = await history_line(client.connection)
    assert (line.verdict, line.found) == ("error", "pass exited with status 2")


def test_a_token_is_not_sent_in_clear_to_another_machine() -> None:
    where = PrometheusServer("http://prometheus.example", "", no_token)
    with pytest.raises(PrometheusError, match="plain http") as refused:
        PrometheusClient(where, SecretStr("s3cret-s3cret"))
    assert "s3cret" not in str(refused.value)
