"""``gwtui export metrics`` as a process: on stdout, for node_exporter, scraped by a Prometheus."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from gwtui.cli import exits
from loaded_program import run, start

EXPORT = ("export", "metrics", "--demo")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "prometheus"
PROMETHEUS = shutil.which("prometheus")
PATIENCE = 40.0


def get(url: str, accept: str = "*/*") -> tuple[str, str]:
    """The body of a page and its content type."""
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310 - loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=5) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


@contextmanager
def exporter() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running exporter and its address."""
    process = start(
        *EXPORT,
        "--listen",
        "127.0.0.1:0",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        url = ""
        while not url:
            line = process.stderr.readline()
            assert line, "the exporter ended"
            url = line.partition("serving ")[2].strip()
        yield process, url
    finally:
        process.kill()
        process.communicate(timeout=10)


def test_a_file_for_the_node_exporter_is_whole_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "gwtui.prom"
    done = run(*EXPORT, "--textfile", path, "--once")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "gwtui_build_info" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [one.name for one in tmp_path.glob("*.prom*")] == ["gwtui.prom"]


def test_scrapes_get_the_format_they_ask_for_and_sigterm_ends_it() -> None:
    with exporter() as (process, url):
        taken = run(*EXPORT, "--listen", urllib.parse.urlsplit(url).netloc)
        assert taken.returncode == exits.IN_USE
        assert "cannot listen" in taken.stderr
        plain, plain_type = get(url)
        metrics, metrics_type = get(url, "application/openmetrics-text; version=1.0.0")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert "text/plain" in plain_type
    assert 'gwtui_reading_up{reading="credits"} 1.0' in plain
    assert "openmetrics" in metrics_type
    names = {family.name for family in parse_openmetrics(metrics)}
    assert {"gwtui_credits_balance_usd", "gwtui_endpoint_uptime_ratio"} <= names


@pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed")
def test_a_real_prometheus_scrapes_it_with_the_shipped_configuration(tmp_path: Path) -> None:
    with exporter() as (_, url), prometheus(tmp_path, urllib.parse.urlsplit(url).netloc) as api:
        end = time.monotonic() + PATIENCE
        while not (found := query(api, "gwtui_credits_balance_usd")):
            assert time.monotonic() < end, "nothing was scraped"
            time.sleep(0.2)
        assert float(found[0]["value"][1]) > 0
        assert query(api, 'gwtui_reading_up{reading="credits"} == 1')
        assert query(api, "count(gwtui_endpoint_latency_seconds)")
        rules = json.loads(get(f"{api}/rules")[0])["data"]["groups"][0]["rules"]
        assert len(rules) > 10
        assert {rule["health"] for rule in rules} <= {"ok", "unknown"}


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """A Prometheus with the shipped configuration, faster and on a free port; its API's address."""
    config = (DOCS / "prometheus.yml").read_text()
    for told, meant in (("60s", "1s"), ("127.0.0.1:9750", target)):
        assert told in config
        config = config.replace(told, meant)
    (folder / "prometheus.yml").write_text(config)
    shutil.copy(DOCS / "gwtui.rules.yml", folder)
    with socket.create_server(("127.0.0.2", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            PROMETHEUS or "prometheus",
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.2:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GOMAXPROCS": "1"},
    )
    api = f"http://127.0.0.2:{port}/api/v1"
    try:
        yield api
    finally:
        process.kill()
        process.wait(10)


def query(api: str, expression: str) -> list[dict[str, list[str]]]:
    """The samples that a query gives now; none while Prometheus starts."""
    try:
        body, _ = get(f"{api}/query?{urllib.parse.urlencode({'query': expression})}")
    except OSError:
        return []
    found: list[dict[str, list[str]]] = json.loads(body)["data"]["result"]
    return found
