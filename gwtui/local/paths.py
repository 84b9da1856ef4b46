"""The directories of this program."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

APP = "gwtui"


class Paths(NamedTuple):
    """The directories of one user. None needs to exist; ``ensure_private`` makes them."""

    config: Path
    """Profiles; written by the person."""
    data: Path
    """Databases that must not be lost."""
    state: Path
    """Ledger, audit log, drafts."""
    cache: Path
    """Data that can be fetched again."""
    runtime: Path
    """Sockets; empty after a restart of the machine."""

    @classmethod
    def of_user(cls) -> Paths:
        """The platform's own places; the XDG variables are obeyed where they are customary."""
        from platformdirs import PlatformDirs  # noqa: PLC0415 - not needed for the first paint

        places = PlatformDirs(APP, appauthor=False)
        with warnings.catch_warnings():
            # An unusable XDG_RUNTIME_DIR is passed over; a warning would land on the screen.
            warnings.simplefilter("ignore")
            runtime = places.user_runtime_path
        return cls(
            config=places.user_config_path,
            data=places.user_data_path,
            state=places.user_state_path,
            cache=places.user_cache_path,
            runtime=runtime,
        )
