"""Work on large answers and long lists: in a thread, so that keys are answered meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")

# Up to these amounts the work takes at most a few hundredths of a second, and stays in the loop.
LARGE_BODY = 256 * 1024
"""Bytes of an answer that is parsed."""
LARGE_LIST = 2_000
"""Rows that are made of models that were read."""


async def run_by_size(work: Callable[[], R], size: int, limit: int) -> R:
    """Return ``work()``, which runs in a thread where ``size`` is above ``limit``.

    For less, a thread costs more than it saves. ``work`` must only read what nobody changes.
    """
    return await asyncio.to_thread(work) if size > limit else work()
