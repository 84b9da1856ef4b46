"""The private log file of this program.

It never contains a secret. Values of other types than numbers, dates, paths and text are replaced
by their type. Errors are logged with their type and traceback, without their message. Records of
other libraries are logged without their text, which may contain anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import stat
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from gwtui.domain.known_secrets import without_secrets
from gwtui.domain.safe_text import safe_line
from gwtui.local.crash_report import traceback_lines
from gwtui.local.private_file import PrivateDirectoryError, ensure_private

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
