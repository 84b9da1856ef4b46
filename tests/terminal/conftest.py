"""Tests of processes: a home directory in which the demo was opened before."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from loaded_program import GWTUI
from pty_terminal import pty_terminal

_FOLDERS = {"XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "run"}


@pytest.fixture(scope="session")
def opened_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a demo that was opened once and closed after its past was recorded.

    It takes two seconds of processor time, so it is made once for all workers of a run.
    """
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "opened-demo"
    home.mkdir(mode=0o700, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = home / "done"
        if not complete.exists():
            _open_demo(home)
            complete.touch()
    return home / "data"


def _open_demo(home: Path) -> None:
    for folder in _FOLDERS.values():
        (home / folder).mkdir(mode=0o700)
    environment = {variable: str(home / folder) for variable, folder in _FOLDERS.items()}
    with pty_terminal(
        [*GWTUI, "--demo", "keys"], columns=120, rows=40, environment=environment
    ) as terminal:
        terminal.wait_for("Welcome to gwtui", 60)
        terminal.send("\r")
        terminal.wait_for("ALERTS", 60)
        terminal.settle()
        terminal.quit()


@pytest.fixture
def demo_home(private_home: Path, opened_demo: Path) -> Path:
    """A home directory for the test, in which the demo was opened before."""
    shutil.copytree(opened_demo, private_home / "data", dirs_exist_ok=True)
    return private_home
