"""Secrets in the environment: taken out of it, for children inherit it and others can read it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import MutableMapping

TOKEN_VARIABLE = "GWTUI_TOKEN"  # noqa: S105 - the variable's name


def take_token(environ: MutableMapping[str, str]) -> str:
    """What GWTUI_TOKEN says, empty when it is not set; from here on it is not.

    The copy that the system shows of this process's first environment is overwritten, too, where
    that can be done. That of the process that started this one is out of reach.
    """
    if environ is os.environ:
        _overwrite(TOKEN_VARIABLE)
    return environ.pop(TOKEN_VARIABLE, "").strip()


def _overwrite(name: str) -> None:
    if name not in os.environ:
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - only where there is something to overwrite

        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        address = library.getenv(name.encode())
        if address:
            ctypes.memset(address, 0, len(os.environb[name.encode()]))
