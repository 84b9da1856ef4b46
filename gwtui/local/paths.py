"""The directories of this program, and directories that only their owner can use."""

from __future__ import annotations

import os
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path

APP = "gwtui"
_PRIVATE = 0o700
_OTHERS = 0o077


class PrivateDirectoryError(Exception):
    """A directory that must be private cannot be made so; the message says why."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The directories of one user. None needs to exist; ``ensure_private`` makes them."""

    config: Path
    """Profiles; written by the person."""
    data: Path
    """Databases that must not be lost."""
    state: Path
    """Ledger, audit log, drafts."""
    cache: Path
    """What can be fetched again."""
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


def ensure_private(directory: Path) -> Path:
    """Make a directory, parents included, that only its owner can enter; gives it back.

    A directory of ours that others may enter is closed to them. Raises PrivateDirectoryError when
    it belongs to someone else, lies in another user's directory (who could then exchange it), is
    not a directory, or cannot be made.
    """
    try:
        _make(directory)
        found = directory.stat()
        if not stat.S_ISDIR(found.st_mode):
            raise PrivateDirectoryError(f"{directory} is not a directory")
        if found.st_uid != os.geteuid():
            raise PrivateDirectoryError(f"{directory} belongs to another user")
        if directory.resolve().parent.stat().st_uid not in {os.geteuid(), 0}:
            raise PrivateDirectoryError(f"{directory} lies in another user's directory")
        if stat.S_IMODE(found.st_mode) & _OTHERS:
            directory.chmod(_PRIVATE)
    except OSError as error:
        raise PrivateDirectoryError(f"{directory}: {error.strerror or 'not usable'}") from error
    return directory


def _make(directory: Path) -> None:
    """``Path.mkdir`` gives new parents the default mode; here they are private too."""
    if directory.is_dir():
        return
    if directory.parent != directory:
        _make(directory.parent)
    directory.mkdir(mode=_PRIVATE, exist_ok=True)
