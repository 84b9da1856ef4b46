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
import sys
from pathlib import Path
from gwtui.embedded.gateway import EmbeddedGateway
gateway = EmbeddedGateway.open(Path(sys.argv[1]), content="empty")
print("in", flush=True)
sys.stdin.read()
gateway.close()
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


@contextmanager
def serving(database: Path) -> Iterator[int]:
    """It serves the database; gives its process id."""
    with _running(_SERVER, str(database)) as process:
        yield process.pid


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
