"""What the dashboard keeps between runs: that the first steps were seen, and the paths gone to.

Each is a file of its own in the state directory. What a person chose is in the preferences.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from pathlib import Path

from gwtui.domain.known_secrets import may_be_secret
from gwtui.local import private_file
from gwtui.local.private_file import (
    LineFile,
    PrivateDirectoryError,
    ensure_private,
    parsed,
    parsed_line,
)

FIRST_STEPS_FILE = "first-steps"
PATHS_FILE = "paths.jsonl"
MOST_PATHS = 200
"""Paths that are kept."""
_LONGEST = 200
"""Characters of a path that is kept."""
_LARGE = 24 * 1024
"""Bytes from which the file is cut to what is kept."""
_PATH_KEY = "path"

_log = logging.getLogger(__name__)


class DashboardState:
    """What is kept in the state directory; None keeps nothing beyond this run."""

    def __init__(self, directory: Path | None) -> None:
        self.paths = PathHistory(None if directory is None else directory / PATHS_FILE)
        self.first_steps = FirstSteps(None if directory is None else directory / FIRST_STEPS_FILE)


class FirstSteps:
    """Whether the first steps were seen; ``file`` None counts as seen.

    Where the file cannot be written, they are offered again at the next start.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file

    @property
    def seen(self) -> bool:
        """Whether they are not to be offered by themselves."""
        return self._file is None or self._file.exists()

    def keep(self) -> None:
        """Offer them no more."""
        if self._file is None or self.seen:
            return
        try:
            ensure_private(self._file.parent)
            self._file.touch(mode=0o600)
        except (OSError, PrivateDirectoryError) as error:
            _log.warning("that the first steps were seen is not kept: %s", error)


class PathHistory:
    """Paths as a person typed them, each once; what could hold a secret is never among them.

    ``file`` None keeps them for this run only. A file that cannot be read or written is passed
    over: going somewhere never fails for it.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._paths: dict[str, None] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """What was typed, the newest last."""
        return tuple(self._known())

    def add(self, path: str) -> None:
        """Remember a path, as the newest."""
        if not _fit_to_keep(path):
            return
        known = self._known()
        known.pop(path, None)
        known[path] = None
        while len(known) > MOST_PATHS:
            del known[next(iter(known))]
        if self._file is not None:
            self._write(self._file, path)

    def _known(self) -> dict[str, None]:
        if self._paths is None:
            self._paths = {}
            for path in self._stored():
                self._paths.pop(path, None)
                self._paths[path] = None
        return self._paths

    def _write(self, file: Path, path: str) -> None:
        lines = LineFile(file)
        try:
            lines.append({_PATH_KEY: path})
            lines.keep(_newest, over=_LARGE)
        except OSError as error:
            _log.warning("the paths that were gone to are not kept: %s", error.strerror)

    def _stored(self) -> list[str]:
        content = b""
        if self._file is not None:
            with contextlib.suppress(OSError):
                content = private_file.read(self._file)
        found = [line.get(_PATH_KEY) for line in parsed(content)]
        return [path for path in found if isinstance(path, str) and _fit_to_keep(path)][
            -MOST_PATHS:
        ]


def _fit_to_keep(path: str) -> bool:
    whole = 0 < len(path) <= _LONGEST and path.isprintable()
    return whole and not may_be_secret(path)


def _newest(lines: Iterable[bytes]) -> list[bytes]:
    """The last line of each path, as many as are kept."""
    kept: dict[str, bytes] = {}
    for line in lines:
        path = (parsed_line(line) or {}).get(_PATH_KEY)
        if isinstance(path, str):
            kept.pop(path, None)
            kept[path] = line
    return list(kept.values())[-MOST_PATHS:]
