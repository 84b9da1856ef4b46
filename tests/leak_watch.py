"""Watches every run of the tests: no log record and no file may hold a whole key.

Whatever makes keys in the tests gives them the form of real ones, and the kits' own token is known
here. The run fails when one of them is found where it does not belong, whichever tests ran: in what
any process of the run logged, in what the tests left on the disk, in the pictures.
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

WHOLE = re.compile(
    rb"v1-(?:(?:(?<=gw-v1-)|(?<=gw-mgmt-v1-)|(?<=sk-or-v1-))[0-9a-f]{64}(?![0-9a-f])"
    rb"|(?<=gw-v1-)SENTINEL-0123456789abcdef)"
)
"""A key of any dialect, or the token of ``service_kit``.

It begins with what stands in each of them, which is found a hundred times as fast.
"""
WANTED = ("*.token", "copied-*.txt", "key", "*.py")
"""Files whose purpose is to hold one: saved or copied on demand, written by a test, its source."""
PICTURES = ("tests/snapshots/__snapshots__", "screenshots")
_WANTED = re.compile("|".join(map(fnmatch.translate, WANTED)))
_OUTPUT = "leaks"

_found: list[str] = []


class _Listener(logging.Handler):
    """Hears every record, whoever says it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            said = record.getMessage()
        except Exception:
            return
        if WHOLE.search(said.encode("utf-8", "replace")):
            _found.append(f"log record of {record.name}: {os.environ.get('PYTEST_CURRENT_TEST')}")


def begin(config: pytest.Config) -> None:
    """Start to listen."""
    logging.getLogger().addHandler(_Listener())


def end(session: pytest.Session) -> None:
    """Hand over what was heard; in the first process, look through the files and fail the run."""
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = list(_found)
        return
    factory: Any = getattr(config, "_tmp_path_factory", None)
    folders = [getattr(factory, "_basetemp", None), *map(config.rootpath.joinpath, PICTURES)]
    _found.extend(f"file {path}" for folder in folders for path in holding(folder))
    if _found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def collect(node: Any) -> None:
    """Take over what another process found."""
    _found.extend(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


def tell(reporter: Any) -> None:
    """Name what was found."""
    if _found:
        reporter.section("keys where none may be", red=True)
        for leak in _found:
            reporter.line(leak)


def holding(folder: Path | None) -> Iterator[Path]:
    """The files below a folder that hold a whole key and are not there to hold one."""
    for path in folder.rglob("*") if folder is not None else ():
        if path.is_file() and not path.is_symlink() and _WANTED.match(path.name) is None:
            with suppress(PermissionError):
                if WHOLE.search(path.read_bytes()):
                    yield path
