"""A real Prometheus server, if one is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Prometheus is not installed",
)


@contextmanager
def running_prometheus(folder: Path) -> Iterator[str]:
    """Run Prometheus on the ``prometheus.yml`` and ``tsdb`` of a directory; yields its URL.

    It picks its own port and logs it. A port chosen here could be taken by the server of another
    test, which would then get the requests meant for Prometheus.
    """
    log = folder / "prometheus.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [
                "prometheus",
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=tsdb",
                "--web.listen-address=127.0.0.1:0",
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "GOMAXPROCS": "1"},
        )
    end = time.monotonic() + 40
    try:
        while not (url := _ready_url(log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait(10)


def _ready_url(log: str) -> str:
    address = re.search(r'msg="Listening on" address=(\S+)', log)
    ready = "Server is ready to receive web requests" in log
    return f"http://{address[1]}" if address and ready else ""
