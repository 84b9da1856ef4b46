"""Fixtures of every test: a private home, a still terminal, and nothing that waits."""

from __future__ import annotations

import compileall
import gc
import itertools
import os
import re
import signal
import ssl
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest
import textual.app
import textual.constants
import textual.pilot
import textual.screen
from hypothesis import HealthCheck, settings
from textual._compositor import Compositor
from textual.app import App
from textual.content import Content
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

import gwtui.ui.screens.list_parts
import leak_watch
from board_kit import Filled, filled_once
from gwtui.domain import known_secrets
from gwtui.local.caught_errors import caught_errors
from gwtui.local.first_steps import FIRST_STEPS_FILE as FIRST_STEPS
from gwtui.ui.screens.startup import StartupScreen
from harness import Harness
from idle import wait_after_key, wait_for_idle, wait_for_screen
from in_process_requests import short_ways

ROOT = Path(__file__).parents[1]

settings.register_profile(
    "gwtui",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("gwtui")

# Loading modules makes no garbage, so collections would only take time.
gc.disable()

# Otherwise workers, and the programs that tests start, would compile every module again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def pytest_configure(config: pytest.Config) -> None:
    """Watch the logs for keys; handle signals even if the parent process ignores them."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    leak_watch.begin(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Install an interrupt handler, which a test of signals may have removed.

    Python's own handler is replaced for each step of an asynchronous test by a bound method of its
    task; printing that handler formats the whole task.
    """
    signal.signal(signal.SIGINT, _interrupt)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if tests left a key in a file or a log."""
    leak_watch.end(session)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile the program and the kits once instead of in each worker."""
    compileall.compile_dir(ROOT / "gwtui", quiet=2, workers=0)
    compileall.compile_dir(ROOT / "tests", maxlevels=0, quiet=2)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the keys that a worker of pytest-xdist found."""
    leak_watch.collect(node)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    leak_watch.tell(terminalreporter)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Use the beginning of a long text as the id; pytest numbers duplicates."""
    if isinstance(val, str | bytes) and len(val) > 50:
        return ascii(val[:40]).strip("b'\"") + "..."
    return None


def pytest_collection_finish() -> None:
    """Exclude the loaded modules from garbage collection: they stay for the whole run."""
    gc.freeze()
    gc.set_threshold(1_000_000)
    gc.enable()


@pytest.fixture(autouse=True)
def nothing_is_caught() -> Iterator[None]:
    """Fail a test in which an error boundary caught an error, unless the test clears it."""
    caught_errors.clear()
    yield
    parts = sorted(part for part, _origin in caught_errors._places)
    caught_errors.clear()
    assert parts == []


_numbers = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A directory per test; pytest's own fixture lists all the others to find a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    folder.mkdir(mode=0o700)
    return folder


_FOLDERS = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "run",
}


@pytest.fixture(autouse=True)
def private_environment(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Path:
    """No test reads or writes the developer's own files, keyring or environment.

    Returns the home directory, inside ``tmp_path`` if the test uses it. It is created on the first
    write.
    """
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
        home = folder / "home"
    else:
        home = tmp_path_factory.getbasetemp() / f"home{next(_numbers)}"
    monkeypatch.setenv("HOME", str(home))
    for variable, folder in _FOLDERS.items():
        monkeypatch.setenv(variable, str(home / folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    for variable in ("GWTUI_TOKEN", "GWTUI_PROFILE", "GWTUI_BASE_URL", "TMUX", "SSH_CONNECTION"):
        monkeypatch.delenv(variable, raising=False)
    return home


@pytest.fixture
def private_home(private_environment: Path) -> Path:
    for folder in ("", *_FOLDERS.values()):
        (private_environment / folder).mkdir(mode=0o700)
    # Skips the first steps; their own tests remove the file.
    state = private_environment / "state" / "gwtui"
    state.mkdir(mode=0o700)
    (state / FIRST_STEPS).touch(mode=0o600)
    return private_environment


@pytest.fixture
def demo(private_home: Path) -> Iterator[Harness]:
    """A simulated gateway whose clock stands still."""
    harness = Harness()
    yield harness
    harness.close()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A read-only history, filled once per run."""
    return filled_once(tmp_path_factory)


@pytest.fixture
def data(filled: Filled, tmp_path: Path) -> Path:
    """A copy of that history for an application that continues to record."""
    return filled.copy_to(tmp_path / "data")


@pytest.fixture(autouse=True)
def still_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing blinks, animates or follows the developer's terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setattr(textual.constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(App.__dict__["theme"], "_default", "textual-dark")
    for widget in (Input, TextArea):
        monkeypatch.setattr(widget.__dict__["cursor_blink"], "_default", False)


@pytest.fixture
def own_objects_only() -> None:
    """Make ``gc.get_objects`` omit the objects of earlier tests, thousands in a full run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def own_secrets_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget secrets of earlier tests: a short one would match unrelated text."""
    monkeypatch.setattr(known_secrets, "_known", WeakValueDictionary())


@pytest.fixture(autouse=True, scope="session")
def style_sheets_parsed_once() -> Iterator[None]:
    """Let applications share parsed style sheets; each would parse them again otherwise."""
    parse = Stylesheet._parse_rules
    parsed: dict[Any, list[RuleSet]] = {}

    def parse_once(sheet: Stylesheet, *arguments: Any, **options: Any) -> list[RuleSet]:
        key = (tuple(sheet._variables.items()), arguments, tuple(options.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *arguments, **options)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def trust_roots_loaded_once() -> Iterator[None]:
    """Let clients share the default certificates of httpx; no test changes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True, scope="session")
def gateways_of_this_process() -> Iterator[None]:
    """Send requests to gateways of this process without a socket."""
    with short_ways():
        yield


@pytest.fixture(autouse=True, scope="session")
def no_text_is_markup() -> Iterator[None]:
    """Give widgets Content only: Textual would parse plain text as markup with actions."""

    def refuse(text: str, **_variables: object) -> Content:
        assert not text, f"parsed as markup: {text!r}"
        return Content("")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Content, "from_markup", refuse)
        yield


@pytest.fixture(autouse=True, scope="session")
def quick_frames() -> Iterator[None]:
    """Remove the delays for frames, for resting on a row, and for idle applications."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textual.screen, "UPDATE_PERIOD", 1 / 200)
        patch.setattr(gwtui.ui.screens.list_parts, "_REST", 0.03)
        patch.setattr(textual.app, "wait_for_idle", wait_after_key)
        patch.setattr(textual.pilot, "wait_for_idle", wait_for_idle)
        patch.setattr(Pilot, "_wait_for_screen", wait_for_screen)
        yield


def paint(screen: Screen[Any]) -> None:
    """Paint every widget of a screen, to find those that cannot be painted.

    Every app starts with the same opening screen, which the snapshots cover.
    """
    if screen._compositor.size and not isinstance(screen, StartupScreen):
        # Every widget by itself: Textual combines their lines only for a visible screen.
        for _region, _clip, _lines in screen._compositor._get_renders():
            pass
        screen.refresh()  # a dialog has no lines of the screen beneath


@pytest.fixture(autouse=True)
def frames_for_who_looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, paint a screen only when the test looks at it, leaves it or ends.

    Painting frames that nobody sees takes a fifth of such a test. Tests of frames use
    ``every_frame``.
    """
    if "every_frame" in request.fixturenames:
        return
    render, suspend, shut_down = (
        Compositor.render_update,
        Screen._on_screen_suspend,
        App._shutdown,
    )

    def render_if_looked_at(compositor: Compositor, full: bool = False, **options: Any) -> Any:
        if full:
            return render(compositor, full, **options)
        compositor._dirty_regions.clear()
        return None

    def paint_and_suspend(screen: Screen[Any]) -> None:
        paint(screen)
        suspend(screen)

    async def paint_and_shut_down(app: App[Any]) -> None:
        if app._exception is None and app._dom_ready and app._screen_stacks[app._current_mode]:
            paint(app.screen)
        await shut_down(app)

    monkeypatch.setattr(Compositor, "render_update", render_if_looked_at)
    monkeypatch.setattr(Screen, "_on_screen_suspend", paint_and_suspend)
    monkeypatch.setattr(App, "_shutdown", paint_and_shut_down)


@pytest.fixture
def every_frame() -> None: ...
