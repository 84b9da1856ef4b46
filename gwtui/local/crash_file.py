"""Reports of the program's own failures, each in a private file beside the log."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
from datetime import UTC, datetime
from pathlib import Path

from gwtui import __version__
from gwtui.local.paths import PrivateDirectoryError, ensure_private

KEPT = 10
"""Reports; the oldest go."""
_PATTERN = "crash-*.txt"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def keep_report(state: Path, report: str, now: datetime | None = None) -> Path | None:
    """Write a report below the state directory; the file, None where that was not possible."""
    moment = now or datetime.now(UTC)
    path = state / f"crash-{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}.txt"
    try:
        descriptor = os.open(ensure_private(state) / path.name, _FLAGS, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{_circumstances(moment)}\n\n{report}")
    except (OSError, PrivateDirectoryError):
        return None
    with contextlib.suppress(OSError):
        for old in sorted(state.glob(_PATTERN))[:-KEPT]:
            old.unlink()
    return path


def _circumstances(moment: datetime) -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"gwtui {__version__}, {python}, {platform.system()}, {moment:%Y-%m-%d %H:%M:%S} UTC"
