"""Remembers, by a file in the state directory, that the first steps were offered."""

from __future__ import annotations

import logging
from pathlib import Path

from gwtui.local.private_file import ensure_private

FIRST_STEPS_FILE = "first-steps"

_log = logging.getLogger(__name__)


class FirstSteps:
    """Whether to offer the first steps, a short introduction, at the start of the dashboard.

    Without a ``file``, they are never offered. If the file cannot be written, they are offered
    again at the next start.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file

    @property
    def is_dismissed(self) -> bool:
        """True once the first steps were offered, and always without a file."""
        return self._file is None or self._file.exists()

    def dismiss(self) -> None:
        """Do not offer the first steps again. Never raises."""
        if self._file is None or self.is_dismissed:
            return
        try:
            ensure_private(self._file.parent)
            self._file.touch(mode=0o600)
        except OSError as error:
            _log.warning("cannot record that the first steps were offered: %s", error)
