"""The value of a new key on stdout, alone."""

from __future__ import annotations

import os
import stat
import sys

from pydantic import SecretStr

from gwtui.cli.output import data_on_stdout
from gwtui.domain.safe_text import safe_text

_LONGEST = 4096


def print_value(value: SecretStr) -> None:
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
