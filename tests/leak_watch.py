"""Watches every test run: no log record and no file may contain a whole key.

Keys in tests have the format of real keys, and the kits' own token is known here. The run fails if
a key is found in a log of any process, in the files that tests leave, or in the pictures, whichever
tests ran.
"""

from __future__ import annotations

import fnmatch
import logging
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

SECRET = re.compile(
    rb"v1-(?:(?:(?<=gw-v1-)|(?<=gw-mgmt-v1-)|(?<=sk-or-v1-))[0-9a-f]{64}(?![0-9a-f])"
    rb"|(?<=gw-v1-)SENTINEL-0123456789abcdef)"
)
"""A key of any dialect, or the token of ``service_kit``.

It begins with what stands in each of them, which is found a hundred times as fast.
"""
PATTERNS = ("*.token", "copied-*.txt", "key", "*.py")
"""Files that may contain a key: saved or copied on request, written by a test, test sources."""
PICTURES = ("tests/snapshots/__snapshots__", "screenshots")
_PATTERNS = re.compile("|".join(map(fnmatch.translate, PATTERNS)))
_OUTPUT = "leaks"

_leaks: list[str] = []


class _Listener(logging.Handler):
    """Receives every log record."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except Exception:
            return
        if SECRET.search(message.encode("utf-8", "replace")):
            _leaks.append(f"log record of {record.name}: {os.environ.get('PYTEST_CURRENT_TEST')}")


def begin(config: pytest.Config) -> None:
    logging.getLogger().addHandler(_Listener())


def end(session: pytest.Session) -> None:
    """Report what was found; the first process also searches the files and fails the run."""
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = list(_leaks)
        return
    factory: Any = getattr(config, "_tmp_path_factory", None)
    folders = [getattr(factory, "_basetemp", None), *map(config.rootpath.joinpath, PICTURES)]
    _leaks.extend(f"file {path}" for folder in folders for path in holding(folder))
    if _leaks:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def collect(node: Any) -> None:
    """Add what another process found."""
    _leaks.extend(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


def tell(reporter: Any) -> None:
    if _leaks:
        reporter.section("keys where none may be", red=True)
        for leak in _leaks:
            reporter.line(leak)


def holding(folder: Path | None) -> Iterator[Path]:
    """Files below a directory that contain a whole key but should not."""
    for path in folder.rglob("*") if folder is not None else ():
        if path.is_file() and not path.is_symlink() and _PATTERNS.match(path.name) is None:
            with suppress(PermissionError):
                if SECRET.search(path.read_bytes()):
                    yield path
