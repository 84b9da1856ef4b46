"""The program with its event loop watched: what held it up, in processor time.

    python tests/watched_program.py REPORT WORDS...

runs ``gwtui WORDS`` and writes a line of JSON to REPORT for every step of the loop that computed
for ``LEAST`` seconds or longer: ``at`` on the monotonic clock, ``took``, and ``where`` it was each
time that somebody looked. What another program takes of the machine is not counted.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from asyncio import events
from pathlib import Path
from types import FrameType
from typing import Any

from gwtui.cli.main import main

LEAST = 0.02
_LOOK = 0.01
"""Seconds of computing between two looks at the stack."""
_LINES = 8

_seen: list[str] = []


def watch(report: Path) -> None:
    """Watch every event loop of this process from now on."""
    signal.signal(signal.SIGPROF, _look)
    signal.setitimer(signal.ITIMER_PROF, _LOOK, _LOOK)
    handle: Any = events.Handle
    run = handle._run
    file = report.open("a", encoding="utf-8")

    def watched(self: Any) -> None:
        _seen.clear()
        begun = time.thread_time()
        run(self)
        took = time.thread_time() - begun
        if took >= LEAST:
            found = {"at": time.monotonic(), "took": took, "where": list(_seen)}
            print(json.dumps(found), file=file, flush=True)

    handle._run = watched


def _look(_number: int, frame: FrameType | None) -> None:
    lines: list[str] = []
    while frame is not None and len(lines) < _LINES:
        code = frame.f_code
        lines.append(f"{Path(code.co_filename).name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    _seen.append(" < ".join(lines))


def run_watched(report: Path, words: list[str]) -> int:
    """The program's exit code."""
    watch(report)
    try:
        return main(words)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    raise SystemExit(run_watched(Path(sys.argv[1]), sys.argv[2:]))
