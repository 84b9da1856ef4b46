"""Which program wrote a line, and whether it still runs."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from pydantic import JsonValue

_START = 19
"""Place of the start time behind the name in /proc/PID/stat: proc(5)."""


def this_process() -> dict[str, JsonValue]:
    """What tells this program from every other one, on this host and elsewhere."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def may_run(process: Any) -> bool:
    """Whether the program that described itself so may still run; of other hosts nobody knows."""
    if not isinstance(process, dict):
        return False
    if process.get("host") != socket.gethostname():
        return True
    pid = process.get("pid")
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    # The number may have gone to another program since.
    return process.get("began") == _began(pid)


def _began(pid: int) -> str:
    """The start of a process in the life of the machine; "" where that is not told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return ""
    # The name, in brackets, may hold anything.
    fields = stat.rpartition(")")[2].split()
    return f"{boot}/{fields[_START]}" if len(fields) > _START else ""
