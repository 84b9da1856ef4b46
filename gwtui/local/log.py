"""The private log file and the crash reports of this program.

They never contain a secret. Values of other types than numbers, dates, paths and text are replaced
by their type. Errors are recorded with their type and traceback, without messages and values, which
may contain a token or a request body. Records of other libraries are logged without their text,
which may contain anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import stat
import traceback
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any

from gwtui import __version__
from gwtui.domain.known_secrets import without_secrets
from gwtui.domain.safe_text import safe_line
from gwtui.local.private_file import PrivateDirectoryError, create, ensure_private

FILE_NAME = "gwtui.log"
"""The name of the file in the state directory."""
FULL = 512 * 1024
"""The size in bytes from which the file is renamed."""
KEPT = 3
"""The number of renamed files to keep."""

_OURS = "gwtui"
_PRIVATE = 0o600
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LONGEST = 2000
_LONGEST_VALUE = 300
_PLAIN = (int, float, Decimal, date, Path)
_KNOWN_WORDS = (
    "Task exception was never retrieved",
    "Future exception was never retrieved",
    "Task was destroyed but it is pending!",
    "Exception in callback",
    "Exception in ASGI application",
)
"""Beginnings of records of other libraries that are safe to log."""


class LogFile(logging.Handler):
    """Appends records to a file that several processes share, and that is opened for each record.

    The file is created with the first record. Never raises: a record that cannot be written is
    lost.
    """

    def __init__(self, path: Path, *, full: int = FULL, kept: int = KEPT) -> None:
        super().__init__()
        self.path = path
        self._full = full
        self._kept = kept
        self._is_private = False

    def emit(self, record: logging.LogRecord) -> None:
        """Add one record."""
        with contextlib.suppress(Exception):
            data = (line_of(record) + "\n").encode("utf-8", "backslashreplace")
            descriptor = self._open()
            try:
                os.write(descriptor, data)
                if os.fstat(descriptor).st_size > self._full:
                    self._set_aside(descriptor)
            finally:
                os.close(descriptor)

    def _open(self) -> int:
        if not self._is_private:
            ensure_private(self.path.parent)
            self._is_private = True
        descriptor = os.open(self.path, _FLAGS, _PRIVATE)
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            os.close(descriptor)
            raise PrivateDirectoryError(f"{self.path} is not a file of this user")
        if stat.S_IMODE(facts.st_mode) != _PRIVATE:
            os.fchmod(descriptor, _PRIVATE)
        return descriptor

    def _set_aside(self, descriptor: int) -> None:
        # gwtui.log.1 is the newest of the renamed files.
        # If another process has renamed the files meanwhile, nothing is left to do.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), self.path.lstat()):
            return
        for number in range(self._kept, 0, -1):
            before = self._aside(number - 1) if number > 1 else self.path
            with contextlib.suppress(FileNotFoundError):
                before.rename(self._aside(number))

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def open_log(state: Path, level: str) -> LogFile | None:
    """Log to a file in the state directory, and never to stdout or stderr.

    ``level`` is the lower-case name of a level of the standard library. With "off", nothing is
    logged and None is returned.
    """
    root, ours = logging.getLogger(), logging.getLogger(_OURS)
    logging.raiseExceptions = False
    if level == "off":
        root.addHandler(logging.NullHandler())
        ours.setLevel(logging.CRITICAL)
        return None
    handler = LogFile(state / FILE_NAME)
    root.addHandler(handler)
    # Other libraries log warnings and errors only: at lower levels they log every request.
    ours.setLevel(level.upper())
    return handler


def line_of(record: logging.LogRecord) -> str:
    """A record as text without secrets. Never raises."""
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    head = f"{moment.removesuffix('+00:00')}Z {record.levelname} [{record.process}] {record.name}"
    lines = [safe_line(f"{head}: {_message(record)}", _LONGEST)]
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        lines += [f"    {line}" for line in traceback_lines(error) if line]
    return "\n".join(lines)


def _message(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] != _OURS:
        begins = (words for words in _KNOWN_WORDS if str(record.msg).startswith(words))
        return f"{next(begins, 'said something')} ({record.module}:{record.lineno})"
    try:
        text = record.msg if isinstance(record.msg, str) else _value(record.msg)
        return without_secrets(text % _values(record.args) if record.args else text)
    except Exception as error:
        return f"said what cannot be written ({record.module}:{record.lineno}, {_kind(error)})"


def _values(arguments: Any) -> Any:
    if isinstance(arguments, tuple):
        return tuple(map(_value, arguments))
    return {name: _value(value) for name, value in arguments.items()}


def _value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        # Secrets are removed before the text is cut, because half a secret is not recognized.
        return safe_line(without_secrets(value), _LONGEST_VALUE)
    if isinstance(value, _PLAIN):
        return safe_line(str(value), _LONGEST_VALUE)
    if isinstance(value, OSError):
        return f"{_kind(value)}: {value.strerror}"
    if isinstance(value, Exception) and type(value).__module__.partition(".")[0] == _OURS:
        return safe_line(without_secrets(f"{_kind(value)}: {value}"), _LONGEST_VALUE)
    return f"<{_kind(value)}>"


def _kind(value: object) -> str:
    return type(value).__qualname__


# Crash reports ------------------------------------------------------------------------------------

KEPT_REPORTS = 10
"""The number of reports to keep; older ones are deleted."""
_PATTERN = "crash-*.txt"
_ROOT = Path(__file__).resolve().parent.parent.parent
_FRAMES = 60
"""The maximum number of frames per error, half from each end: a recursion has thousands."""
_ERRORS = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}(?:\.[A-Za-z_][A-Za-z0-9_]{0,40}){0,8}")


def crash_report(error: BaseException) -> str:
    """The report of an error as text: its type and traceback, and those of its causes.

    Local variables, messages and notes are left out.
    """
    return (
        "\n".join(
            ["gwtui stopped because of an error in the program.", "", *traceback_lines(error)]
        )
        + "\n"
    )


def traceback_lines(error: BaseException) -> list[str]:
    """The types and tracebacks of an error and its causes, as lines of text."""
    lines: list[str] = []
    for number, (link, relation) in enumerate(_linked(error)):
        lines += ["", relation] if number else []
        if number == _ERRORS:
            return [*lines, "..."]
        lines += [_title(link), *_frames(link.__traceback__)]
    return lines


def _title(error: BaseException) -> str:
    # Names that are missing or cannot be imported are safe to show.
    kind = type(error).__qualname__
    if isinstance(error, ImportError | NameError) and _NAME.fullmatch(error.name or ""):
        return f"{kind} ({error.name})"
    return kind


def _linked(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    visited: set[int] = set()
    waiting: list[tuple[BaseException | None, str]] = [(error, "")]
    while waiting:
        link, relation = waiting.pop()
        if link is None or id(link) in visited:
            continue
        visited.add(id(link))
        yield link, relation
        hidden = link.__suppress_context__ and link.__cause__ is None
        behind = link.__cause__ or (None if hidden else link.__context__)
        waiting.append((behind, "raised while handling"))
        if isinstance(link, BaseExceptionGroup):
            waiting += [(part, "which holds") for part in reversed(link.exceptions)]


def _frames(trace: TracebackType | None) -> list[str]:
    lines = [
        f"  {_place(frame.f_code.co_filename)}:{number} in {frame.f_code.co_name}"
        for frame, number in traceback.walk_tb(trace)
    ]
    if len(lines) > _FRAMES:
        half = _FRAMES // 2
        lines[half:-half] = [f"  ... {len(lines) - _FRAMES} more"]
    return lines


def _place(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_ROOT):
        return str(path.relative_to(_ROOT))
    parts = path.parts
    return "/".join(
        parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts[-2:]
    )


def write_crash_report(state: Path, report: str, now: datetime | None = None) -> Path | None:
    """Write a report to the state directory; returns its path, None if that failed."""
    import secrets  # noqa: PLC0415 - only for a crash

    moment = now or datetime.now(UTC)
    path = state / f"crash-{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}.txt"
    try:
        text = f"{_circumstances(moment)}\n\n{report}"
        create(ensure_private(state) / path.name, text.encode("utf-8", "backslashreplace"))
    except OSError:
        return None
    with contextlib.suppress(OSError):
        for old in sorted(state.glob(_PATTERN))[:-KEPT_REPORTS]:
            old.unlink()
    return path


def _circumstances(moment: datetime) -> str:
    import platform  # noqa: PLC0415 - only for a crash

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"gwtui {__version__}, {python}, {platform.system()}, {moment:%Y-%m-%d %H:%M:%S} UTC"
