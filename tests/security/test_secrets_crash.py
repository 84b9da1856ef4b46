"""Internal errors are reported by place, never with values.

Real processes fail with the token in their local variables, arguments, messages, notes and rich
representation.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from sentinels import files, leaks, marked, processes

from gwtui.local.log import KEPT_REPORTS, write_crash_report
from pty_terminal import pty_terminal

TOKEN = marked("token")
CRASH = re.compile(r"crash-\d{8}T\d{6}Z-[0-9a-f]{8}\.txt")

LEAKY = """
import asyncio, faulthandler, logging, os, sys, threading, warnings
from gwtui.cli.main import main

class LeakyError(Exception):
    def __init__(self, token):
        super().__init__(token)
        self.add_note(token)
        self.token = token
    def __rich__(self):
        return self.token
    def __str__(self):
        return self.token
    __repr__ = __str__

class Dropped:
    def __init__(self, token):
        self.token = token
    def __repr__(self):
        return self.token
    def __del__(self):
        fail(self.token)

def fail(token):
    shown = f"Authorization: Bearer {token}"
    try:
        {}[shown]
    except KeyError as error:
        raise LeakyError(token) from ExceptionGroup(shown, [ValueError(shown), error])

async def fail_later(token):
    await asyncio.sleep(0)
    fail(token)

def token_of(app):
    return app.connection.token.get_secret_value()
"""

BEFORE_PAINT = """
import gwtui.ui.app
gwtui.ui.app.GwtuiApp.__init__ = lambda self, *a, **k: fail(os.environ["KNOWN"])
"""

IN_A_COMMAND = """
import gwtui.cli.whoami

def ask(connection):
    token = connection.token.get_secret_value()
    thread = threading.Thread(target=fail, args=(token,), name=token)
    thread.start()
    thread.join()
    Dropped(token)
    assert not faulthandler.is_enabled()
    faulthandler.dump_traceback()
    fail(token)

gwtui.cli.whoami.read_current_key = ask
"""

WHILE_IT_RUNS = """
from gwtui.ui.app import GwtuiApp

def begin(app):
    token = os.environ["KNOWN"]
    asyncio.create_task(fail_later(token), name=token)
    asyncio.get_running_loop().call_soon(fail, token)
    threading.Thread(target=fail, args=(token,), name=token).start()
    Dropped(token)
    warnings.warn(token)
    print(token)
    print(token, file=sys.stderr)
    logging.getLogger("gwtui.test").error("%s", token)
    logging.getLogger("elsewhere").error(token)
    app.log(token)
    app.run_worker(fail_later(token))
    app.set_timer(0.3, lambda: app.call_later(fail_later, token))
    app.set_timer(0.3, lambda: app.call_later(fail_later, token))

async def end(app):
    fail(os.environ["KNOWN"])

GwtuiApp._second = lambda app: begin(app) if not hasattr(app, "begun") else None
GwtuiApp.on_unmount = end
before = begin
def begin(app):
    app.begun = True
    before(app)
"""

RUN = """
sys.argv = ["gwtui", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.fixture
def environment() -> dict[str, str]:
    """A gateway that does not exist, with the marked token. KNOWN is the test's own copy."""
    return {
        "GWTUI_BASE_URL": "http://127.0.0.1:9/api/v1",
        "GWTUI_TOKEN": TOKEN.value,
        "KNOWN": TOKEN.value,
        "PYTHONASYNCIODEBUG": "1",
    }


def of_program(*parts: str) -> list[str]:
    return [sys.executable, "-c", "".join((LEAKY, *parts, RUN))]


def reports(home: Path) -> list[Path]:
    return sorted((home / "state" / "gwtui").glob("crash-*.txt"))


def is_private(path: Path) -> bool:
    return path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_crashing_command_reports_the_place_without_values(
    private_home: Path, environment: dict[str, str]
) -> None:
    process = subprocess.run(
        [*of_program(IN_A_COMMAND), "whoami"],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    text = process.stderr.decode()
    assert process.returncode == 1
    for word in ("LeakyError", "ExceptionGroup", "ValueError", "KeyError", "in fail"):
        assert word in text
    (report,) = reports(private_home)
    assert str(report) in text
    assert CRASH.fullmatch(report.name)
    assert is_private(report)
    assert "LeakyError" in report.read_text()
    log = report.with_name("gwtui.log")
    assert is_private(log)
    assert "a thread failed" in log.read_text()
    assert "a failure could not be raised" in log.read_text()
    sinks = {"stdout": process.stdout, "stderr": process.stderr, **files(private_home)}
    assert leaks(sinks, [TOKEN]) == []


def test_a_crash_before_the_first_paint_leaks_no_secret(
    private_home: Path, environment: dict[str, str]
) -> None:
    with pty_terminal([*of_program(BEFORE_PAINT), "keys"], environment=environment) as terminal:
        assert terminal.wait_exit(30) == 1
        assert terminal.left_over_modes() == []
        (report,) = reports(private_home)
        assert report.name in "".join(terminal.screen.display).replace(" ", "")
        sinks = {"terminal": bytes(terminal.raw), **files(private_home)}
        assert leaks(sinks, [TOKEN]) == []


def test_crashes_during_a_session_and_at_its_end_leak_no_secret(
    private_home: Path, environment: dict[str, str]
) -> None:
    with pty_terminal([*of_program(WHILE_IT_RUNS), "keys"], environment=environment) as terminal:
        terminal.wait_for("127.0.0.1:9", 60)
        limits = Path(f"/proc/{terminal.process.pid}/limits").read_text()
        assert terminal.wait_exit(30) == 1
        assert terminal.left_over_modes() == []
        while_it_ran, at_the_end = sorted(reports(private_home), key=lambda item: item.read_text())
        for report in (while_it_ran, at_the_end):
            assert str(report).encode() in terminal.raw
        sinks = {"terminal": bytes(terminal.raw), "screen": terminal.text, **files(private_home)}
    assert leaks(sinks, [TOKEN]) == []
    (core,) = (line.split()[4:6] for line in limits.splitlines() if "core file" in line)
    assert {int(size) for size in core} <= {0, 1}
    assert {"fail_later", "end"} <= {
        name
        for report in (while_it_ran, at_the_end)
        for name in re.findall(r" in (\w+)", report.read_text())
    }
    log = at_the_end.with_name("gwtui.log").read_text()
    for message in (
        "Task exception was never retrieved",
        "Exception in callback",
        "a thread failed",
        "a failure could not be raised",
        "worker failed",
        "connected to 127.0.0.1:9, key from environment",
        "exit status 1",
    ):
        assert message in log, log


def test_the_token_is_removed_from_the_environment(
    private_home: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """Neither the process nor its children expose it once it was read."""
    del environment["KNOWN"]
    environment |= {"TEXTUAL_LOG": str(tmp_path / "textual.log"), "TEXTUAL": "debug"}
    with pty_terminal(
        [sys.executable, "-m", "gwtui"], environment=environment, fresh_process=True
    ) as terminal:
        terminal.wait_for("127.0.0.1:9", 60)
        sinks = processes(terminal.process.pid)
        environ = sinks.get(f"environ of {terminal.process.pid}")
        # Only root can read it.
        assert environ is None if os.geteuid() else environ and environ.count(b"GWTUI_") == 2
        terminal.quit()
        sinks |= {"terminal": bytes(terminal.raw), **files(private_home)}
    assert leaks(sinks, [TOKEN]) == []
    assert not (tmp_path / "textual.log").exists()


def test_core_dumps_are_disabled(tmp_path: Path) -> None:
    """Even if the limits of the shell allow them, also for the children."""
    program = (
        "import os, subprocess, sys; from gwtui.cli.process import prepare_process;"
        "prepare_process(['--version']);"
        "subprocess.run([sys.executable, '-c', 'import os; os.abort()'], cwd='.');"
        "os.abort()"
    )
    hard_limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard_limit, hard_limit)),
    )
    assert process.returncode == -6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
def test_process_memory_is_not_readable_by_the_same_user() -> None:
    """Debuggers included: the kernel requires root."""
    query = "import ctypes, sys; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    program = (
        "import subprocess, sys; from gwtui.cli.process import prepare_process;"
        "prepare_process(['keys']);"
        f"{query}; sys.stdout.flush(); subprocess.run([sys.executable, '-c', {query!r}])"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, text=True, check=True
    )
    assert process.stdout.split() == ["0", "1"]


def test_only_the_newest_crash_reports_are_kept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    reports_written = [
        write_crash_report(state, f"report {number}") for number in range(KEPT_REPORTS + 3)
    ]
    remaining = sorted(state.iterdir())
    assert len(remaining) == KEPT_REPORTS
    assert reports_written[-1] is not None
    assert set(remaining) <= set(reports_written)
    assert all(is_private(path) for path in remaining)
    state.chmod(0o500)
    if os.geteuid():
        assert write_crash_report(state, "no room") is None
    assert write_crash_report(Path("/dev/null/state"), "no room") is None
