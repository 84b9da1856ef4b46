"""State of the dashboard between runs: whether the first steps were shown, and visited paths.

Each has its own file in the state directory. Preferences are stored elsewhere.
"""

from __future__ import annotations

import logging
from pathlib import Path

from gwtui.domain.known_secrets import may_be_secret
from gwtui.local.private_file import ensure_private, replace_file

FIRST_STEPS_FILE = "first-steps"
PATHS_FILE = "paths.txt"
MOST_PATHS = 200
"""The maximum number of stored paths."""
_LONGEST = 200
"""The maximum length of a stored path."""

_log = logging.getLogger(__name__)


class DashboardState:
    """The state files in a directory; without a directory, nothing is stored."""

    def __init__(self, directory: Path | None) -> None:
        self.paths = PathHistory(None if directory is None else directory / PATHS_FILE)
        self.first_steps = FirstSteps(None if directory is None else directory / FIRST_STEPS_FILE)


class FirstSteps:
    """Whether the first steps were shown; without a file, they never are.

    If the file cannot be written, they are shown again at the next start.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file

    @property
    def is_dismissed(self) -> bool:
        """Whether the first steps must not be shown again."""
        return self._file is None or self._file.exists()

    def keep(self) -> None:
        """Record that the first steps were shown."""
        if self._file is None or self.is_dismissed:
            return
        try:
            ensure_private(self._file.parent)
            self._file.touch(mode=0o600)
        except OSError as error:
            _log.warning("that the first steps were seen is not kept: %s", error)


class PathHistory:
    """The paths that a person has typed, without duplicates and possible secrets.

    Without a file, they are kept for this run only. Failures to read or write the file are ignored.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._paths: tuple[str, ...] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The visited paths, newest last."""
        if self._paths is None:
            self._paths = self._stored()
        return self._paths

    def add(self, path: str) -> None:
        """Store a path as the newest one."""
        if not _fit_to_keep(path):
            return
        known = dict.fromkeys((*self.paths, *self._stored()))  # another dashboard may add some
        known.pop(path, None)
        self._paths = (*known, path)[-MOST_PATHS:]
        if self._file is None:
            return
        try:
            ensure_private(self._file.parent)
            replace_file(self._file, "".join(f"{one}\n" for one in self._paths).encode())
        except OSError as error:
            _log.warning("the paths that were gone to are not kept: %s", error)

    def _stored(self) -> tuple[str, ...]:
        try:
            text = "" if self._file is None else self._file.read_text()
        except (OSError, ValueError):
            return ()
        return tuple(filter(_fit_to_keep, text.split("\n")))[-MOST_PATHS:]


def _fit_to_keep(path: str) -> bool:
    whole = 0 < len(path) <= _LONGEST and path.isprintable()
    return whole and not may_be_secret(path)
