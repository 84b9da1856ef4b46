"""New keys that only a stored token still opens: it must not go while they wait to be stored."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from pathlib import Path

from gwtui.cli.output import data_on_stdout
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.known_secrets import Secret
from gwtui.domain.safe_text import safe_text
from gwtui.local.profiles import Profile
from gwtui.local.sealed_keys import DIRECTORY, SealedKeys

_DISCARD = "--discard-new-keys"


class NewKeysWaitError(Exception):
    """Values of new keys would be lost; the message names the keys and the way out."""


def add_discard_option(parser: argparse.ArgumentParser) -> None:
    """The word of a person that such values may be lost."""
    parser.add_argument(
        _DISCARD, action="store_true", help="even where a new key waits that only it opens"
    )


def refuse_to_lock_out(former: Secret | None, profile: Profile, state: Path) -> None:
    """Raise NewKeysWaitError where values are sealed under the token that is about to go."""
    if former is None:
        return
    sealed = SealedKeys(state / DIRECTORY, profile.base_url, former, SYSTEM_CLOCK.now)
    names = [key.name or key.label.key_hash for key in sealed.find().keys]
    if names:
        raise NewKeysWaitError(
            f"only the present key of profile {profile.name} opens what waits for you to store it "
            f"(new: {', '.join(names)}): run gwtui --profile {profile.name} first, "
            f"or give {_DISCARD}"
        )


_LONGEST = 4096


def print_value(value: Secret) -> None:
    """It has left this program when this returns, for a disk where it goes to a file.

    Raises OutputLostError.
    """
    text = value.get_secret_value()
    with data_on_stdout():
        # On a terminal the value of a hostile gateway could do more than be read.
        print(safe_text(text, _LONGEST) if sys.stdout.isatty() else text, flush=True)
        _sync()


def _sync() -> None:
    """Raises OSError where a file did not reach its disk."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # not a file of the system
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)
