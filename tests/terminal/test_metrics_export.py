"""``gwtui export metrics`` as a process: on stdout, for node_exporter, scraped by Prometheus."""

from __future__ import annotations

import json
import shutil
import signal
import stat
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from gwtui.cli import exits
from loaded_program import run, start
from prometheus_kit import needs_prometheus, running_prometheus

EXPORT = ("export", "metrics", "--demo")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "prometheus"
PATIENCE = 40.0


def get(url: str, accept: str = "*/*") -> tuple[str, str]:
    """Return the body of a page and its content type."""
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310 - loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=5) as response:
        return response.read().decode(), response.headers["Content-Type"]


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


def test_the_textfile_is_complete_and_world_readable(tmp_path: Path) -> None:
    path = tmp_path / "gwtui.prom"
    process = run(*EXPORT, "--textfile", path, "--once")
    assert (process.returncode, process.stdout) == (0, ""), process.stderr
    assert "gwtui_build_info" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [item.name for item in tmp_path.glob("*.prom*")] == ["gwtui.prom"]


def test_the_exporter_negotiates_the_format_and_ends_on_sigterm() -> None:
    with exporter() as (process, url):
        second = run(*EXPORT, "--listen", urllib.parse.urlsplit(url).netloc)
        assert second.returncode == exits.IN_USE
        assert "cannot listen" in second.stderr
        plain, plain_type = get(url)
        metrics, metrics_type = get(url, "application/openmetrics-text; version=1.0.0")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert "text/plain" in plain_type
    assert 'gwtui_reading_up{reading="credits"} 1.0' in plain
    assert "openmetrics" in metrics_type
    names = {family.name for family in parse_openmetrics(metrics)}
    assert {"gwtui_credits_balance_usd", "gwtui_endpoint_uptime_ratio"} <= names


@needs_prometheus
def test_prometheus_scrapes_with_the_shipped_configuration(tmp_path: Path) -> None:
    shutil.copy(DOCS / "gwtui.rules.yml", tmp_path)
    config = (DOCS / "prometheus.yml").read_text()
    with exporter() as (_, url):
        for shipped, tested in (
            ("60s", "1s"),
            ("127.0.0.1:9750", urllib.parse.urlsplit(url).netloc),
        ):
            assert shipped in config
            config = config.replace(shipped, tested)
        (tmp_path / "prometheus.yml").write_text(config)
        with running_prometheus(tmp_path) as server:
            api, deadline = f"{server}/api/v1", time.monotonic() + PATIENCE
            while not (balance := query(api, "gwtui_credits_balance_usd")):
                assert time.monotonic() < deadline, "nothing was scraped"
                time.sleep(0.2)
            assert float(balance[0]["value"][1]) > 0
            assert query(api, 'gwtui_reading_up{reading="credits"} == 1')
            assert query(api, "count(gwtui_endpoint_latency_seconds)")
            rules = json.loads(get(f"{api}/rules")[0])["data"]["groups"][0]["rules"]
    assert len(rules) > 10
    assert {rule["health"] for rule in rules} <= {"ok", "unknown"}


def query(api: str, expression: str) -> list[dict[str, list[str]]]:
    """Return the current samples of a query."""
    body, _ = get(f"{api}/query?{urllib.parse.urlencode({'query': expression})}")
    return list(json.loads(body)["data"]["result"])
