"""Another process that has a gateway's database open, as a backup or an inspection does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SCRIPT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute(sys.argv[2])
db.execute("SELECT count(*) FROM settings").fetchone()
print("in", flush=True)
sys.stdin.read()
db.execute("ROLLBACK")
db.close()
"""
_SERVER = """
import os, sys
from pathlib import Path
from gwtui.embedded.gateway import EmbeddedGateway
print("in", flush=True)
for line in sys.stdin:
    folder, path = line.rstrip("\\n").split("\\t")
    os.chdir(folder)
    gateway = EmbeddedGateway.open(Path(path), content="empty")
    print("in", flush=True)
    sys.stdin.readline()
    gateway.close()
    print("out", flush=True)
"""


@contextmanager
def reading(database: Path) -> Iterator[None]:
    """It reads one state of the database for as long as the context lasts."""
    with _running(_SCRIPT, str(database), "BEGIN"):
        yield


@contextmanager
def writing(database: Path) -> Iterator[None]:
    """It is about to write for as long as the context lasts, so that nobody else can."""
    with _running(_SCRIPT, str(database), "BEGIN IMMEDIATE"):
        yield


class ServerProcess:
    """It serves one database after the other: loading the server takes most of the time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @contextmanager
    def serving(self, database: Path) -> Iterator[int]:
        """It serves the database, called so from the working directory; gives its process id."""
        self._say(f"{Path.cwd()}\t{database}", "in")
        try:
            yield self._process.pid
        finally:
            self._say("", "out")

    def _say(self, line: str, answer: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == f"{answer}\n"


@contextmanager
def server_process() -> Iterator[ServerProcess]:
    """A process that serves what it is told to."""
    with _running(_SERVER) as process:
        yield ServerProcess(process)


@contextmanager
def _running(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "in\n"
        try:
            yield process
        finally:
            process.stdin.close()
            assert process.wait(timeout=30) == 0
