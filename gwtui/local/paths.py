"""The directories of this program."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

APP = "gwtui"


class Paths(NamedTuple):
    """The directories of a user. They may not exist yet; ``ensure_private`` creates them."""

    config: Path
    """Profiles and other files that the user edits."""
    data: Path
    """The recorded history and saved tokens."""
    state: Path
    """The audit log, the log file and crash reports."""
    cache: Path
    """Data that can be read again."""
    runtime: Path
    """Sockets; emptied when the machine restarts."""

    @classmethod
    def of_user(cls) -> Paths:
        """The directories according to the platform and the XDG variables."""
        from platformdirs import PlatformDirs  # noqa: PLC0415 - not needed for the first paint

        places = PlatformDirs(APP, appauthor=False)
        with warnings.catch_warnings():
            # An unusable XDG_RUNTIME_DIR is ignored; a warning would appear on the screen.
            warnings.simplefilter("ignore")
            runtime = places.user_runtime_path
        return cls(
            config=places.user_config_path,
            data=places.user_data_path,
            state=places.user_state_path,
            cache=places.user_cache_path,
            runtime=runtime,
        )
