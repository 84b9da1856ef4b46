"""Process setup: log, crash reports, and memory protection."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from gwtui.cli.output import narrate
from gwtui.local.paths import Paths

LOG_OPTION = "--log-level"
LOG_LEVELS = ("off", "error", "warning", "info", "debug")
DEFAULT_LOG_LEVEL = "info"
_SAYS_ONLY = frozenset({"-h", "--help", "--version"})
_PR_SET_DUMPABLE = 4
"""The option PR_SET_DUMPABLE of prctl(2)."""
_NO_CORE = 1
"""Core size limit in bytes. Unlike 0, the kernel also applies 1 to core dump handlers."""


def prepare_process(words: Sequence[str]) -> None:
    """Protect the process and open its log; call it before anything can hold a secret."""
    disable_core_dumps()
    disable_plugins()
    sys.excepthook = _died
    sys.unraisablehook = _could_not_be_raised
    if _SAYS_ONLY.isdisjoint(words):
        deny_debuggers()
        _open_log(words)


def disable_core_dumps() -> None:
    """Disable core dumps, which would contain the token and displayed keys."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        size = 0 if most == 0 else _NO_CORE
        resource.setrlimit(resource.RLIMIT_CORE, (size, size))


def disable_plugins() -> None:
    """Prevent pydantic from loading plugins of other packages, which would see every value."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def deny_debuggers() -> None:
    """Hide memory and environment from other processes of the user, on Linux only.

    Child processes are readable again, but hold no secret.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - not needed to say the version

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def report_failure(error: BaseException) -> None:
    """Print a crash report on stderr and save it to a file."""
    from gwtui.local.log import crash_report  # noqa: PLC0415 - seldom needed

    report = crash_report(error)
    print(report, end="", file=sys.stderr)
    save_report(report)


def save_report(report: str) -> None:
    """Save a crash report and print its path."""
    from gwtui.local.log import write_crash_report  # noqa: PLC0415

    path = write_crash_report(_state(), report)
    narrate(f"saved this report to {path}" if path else "this report could not be saved")


def report_caught_errors() -> None:
    """Print where the log is if an error boundary caught an error."""
    from gwtui.local.caught_errors import caught_errors  # noqa: PLC0415 - not to say the version
    from gwtui.local.log import FILE_NAME  # noqa: PLC0415

    if len(caught_errors):
        log = _state() / FILE_NAME
        narrate(f"an error in gwtui affected part of this run; see {log}")


def _open_log(words: Sequence[str]) -> None:
    from gwtui.local.log import open_log  # noqa: PLC0415

    open_log(_state(), _level(words))
    threading.excepthook = _thread_died


def _level(words: Sequence[str]) -> str:
    # The parser reports an invalid level later.
    level = DEFAULT_LOG_LEVEL
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, given, value = word.partition("=")
        if name == LOG_OPTION:
            level = value if given else following
    return level if level in LOG_LEVELS else DEFAULT_LOG_LEVEL


def _state() -> Path:
    return Paths.of_user().state


def _died(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    # Replaces the interpreter's traceback, which would quote messages.
    if isinstance(error, KeyboardInterrupt):
        return
    with contextlib.suppress(Exception):
        report_failure(error)


def _thread_died(arguments: threading.ExceptHookArgs) -> None:
    _note("a thread failed", arguments.exc_value)


def _could_not_be_raised(unraisable: sys.UnraisableHookArgs) -> None:
    _note("a failure could not be raised", unraisable.exc_value)


def _note(what: str, error: BaseException | None) -> None:
    # Only log the error: the dashboard may be on the screen.
    with contextlib.suppress(Exception):
        import logging  # noqa: PLC0415 - loaded by then, or nothing is logged

        info = None if error is None else (type(error), error, error.__traceback__)
        logging.getLogger("gwtui").error(what, exc_info=info)
