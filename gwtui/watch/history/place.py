"""Where the history of a gateway lies."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NAME = 40
_DIGEST = 12


def history_path(data: Path, label: str, base_url: str) -> Path:
    """The file of a profile (or host) at a gateway, below the data directory."""
    readable = _UNFIT.sub("-", label)[:_NAME].strip(".-") or "gateway"
    digest = hashlib.sha256(f"{label}\n{base_url}".encode()).hexdigest()[:_DIGEST]
    return data / "history" / f"{readable}-{digest}.sqlite3"


def erase_history(path: Path) -> None:
    """Forget all that was recorded in a file that nobody has open. Raises OSError."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
