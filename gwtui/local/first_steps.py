"""Whether the person has seen the first steps: an empty file in the state directory."""

from __future__ import annotations

import logging
from pathlib import Path

from gwtui.local.paths import PrivateDirectoryError, ensure_private

FILE_NAME = "first-steps"

_log = logging.getLogger(__name__)


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
