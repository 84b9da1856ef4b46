"""Tries regular expressions on a sample, in a process that is killed when its time is over.

A pattern can take for ever, and matching holds the interpreter's lock: a thread could not be
stopped and would hold up the screen.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gwtui.local import pattern_sandbox_child

SAMPLE_LIMIT = 2_000
"""Characters of a sample that are tried."""
TIME_LIMIT = 1.0
"""Seconds for all patterns together, once the process is there."""
_START_LIMIT = 5.0
_CHILD = Path(pattern_sandbox_child.__file__)
_LONGEST_LINE = 1 << 20

Spans = tuple[tuple[int, int], ...]
"""Start and end of every match."""


async def try_patterns(
    patterns: Sequence[str], sample: str, *, seconds: float = TIME_LIMIT
) -> tuple[Spans | None, ...]:
    """Where each pattern matches the sample; None for what did not finish in time or compile.

    Patterns after one that took too long are not tried, and are missing from the answer. Raises
    OSError (TimeoutError is one) when no process can be started. Safe to cancel.
    """
    # Isolated: neither the environment nor the working folder can put other code in its way.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(_CHILD)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        limit=_LONGEST_LINE,
    )
    try:
        return await _answers(process, patterns, sample[:SAMPLE_LIMIT], seconds)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        # Reads to the end, so that the pipes close with the process.
        await asyncio.shield(process.communicate())


async def _answers(
    process: Process, patterns: Sequence[str], sample: str, seconds: float
) -> tuple[Spans | None, ...]:
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - asked for
    process.stdin.write(json.dumps({"patterns": list(patterns), "sample": sample}).encode())
    process.stdin.close()
    found: list[Spans | None] = []
    async with asyncio.timeout(_START_LIMIT):
        await process.stdout.readline()
    try:
        async with asyncio.timeout(seconds):
            while len(found) < len(patterns):
                line = await process.stdout.readline()
                if not line:
                    break
                found.append(_spans(line))
    except TimeoutError:
        found.append(None)
    return tuple(found)


def _spans(line: bytes) -> Spans | None:
    spans = json.loads(line)
    return None if spans is None else tuple((int(start), int(end)) for start, end in spans)
