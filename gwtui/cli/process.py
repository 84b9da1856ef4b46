"""The process as a whole: its log, crash reports, and memory that others cannot read."""

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
"""Of prctl(2)."""
_NO_CORE = 1
"""Bytes. The kernel takes this limit, other than 0, as a word to handlers of dumps as well."""


def prepare_process(words: Sequence[str]) -> None:
    """At the start of a process with this command line: before anything can know a secret."""
    no_core_dump()
    no_plugins()
    sys.excepthook = _died
    sys.unraisablehook = _could_not_be_raised
    if _SAYS_ONLY.isdisjoint(words):
        no_debugger()
        _open_log(words)


def no_core_dump() -> None:
    """A dump of the memory would hold the token and every key that was shown."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        size = 0 if most == 0 else _NO_CORE
        resource.setrlimit(resource.RLIMIT_CORE, (size, size))


def no_plugins() -> None:
    """Have pydantic load no plugin of another package: it would see every value that is read.

    To look for plugins alone takes a hundredth of a second.
    """
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def no_debugger() -> None:
    """Close the memory and the environment to the user's other processes, where that is possible.

    What this process starts is open again: that knows no secret.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - not needed to say the version

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def report_failure(error: BaseException) -> None:
    """Print a crash report on stderr, and keep it in a file."""
    from gwtui.local.crash_report import crash_report  # noqa: PLC0415 - seldom needed

    report = crash_report(error)
    print(report, end="", file=sys.stderr)
    keep_report(report)


def keep_report(report: str) -> None:
    """Write a crash report and print its path."""
    from gwtui.local.crash_report import write_crash_report  # noqa: PLC0415

    path = write_crash_report(_state(), report)
    narrate(f"this report is in {path}" if path else "this report could not be written down")


def tell_of_caught_errors() -> None:
    """Say that error boundaries caught something: it stands in the log alone."""
    from gwtui.local.caught_errors import caught_errors  # noqa: PLC0415 - not to say the version
    from gwtui.local.log import FILE_NAME  # noqa: PLC0415

    if len(caught_errors):
        log = _state() / FILE_NAME
        narrate(f"a part could not be shown or done because of an error in gwtui, see {log}")


def _open_log(words: Sequence[str]) -> None:
    from gwtui.local.log import open_log  # noqa: PLC0415

    open_log(_state(), _level(words))
    threading.excepthook = _thread_died


def _level(words: Sequence[str]) -> str:
    """The level that was asked for. A wrong one is refused where the command line is read."""
    level = DEFAULT_LOG_LEVEL
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, given, value = word.partition("=")
        if name == LOG_OPTION:
            level = value if given else following
    return level if level in LOG_LEVELS else DEFAULT_LOG_LEVEL


def _state() -> Path:
    return Paths.of_user().state


def _died(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    """In the place of the interpreter's own report, which quotes messages."""
    if isinstance(error, KeyboardInterrupt):
        return
    with contextlib.suppress(Exception):
        report_failure(error)


def _thread_died(arguments: threading.ExceptHookArgs) -> None:
    _note("a thread failed", arguments.exc_value)


def _could_not_be_raised(unraisable: sys.UnraisableHookArgs) -> None:
    _note("a failure could not be raised", unraisable.exc_value)


def _note(what: str, error: BaseException | None) -> None:
    """Into the log alone: a dashboard may be on the screen."""
    with contextlib.suppress(Exception):
        import logging  # noqa: PLC0415 - loaded by then, or nothing is logged

        info = None if error is None else (type(error), error, error.__traceback__)
        logging.getLogger("gwtui").error(what, exc_info=info)
