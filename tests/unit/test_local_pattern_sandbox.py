"""Patterns tried in a process of their own: no pattern can hold up whoever asks."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gwtui.contract.content_filters import pattern_problem
from gwtui.local import pattern_sandbox_child
from gwtui.local.pattern_sandbox import SAMPLE_LIMIT, try_patterns

SLOW = r"\w*\w*\w*\w*\w*\w*x"
"""No nested repeat, so the contract allows it; on a long word it takes for ever all the same."""


async def test_matches_come_back_in_order() -> None:
    assert await try_patterns(["b+", "(", "x*"], "abba") == (
        ((1, 3),),
        None,
        ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4)),
    )


async def test_a_slow_pattern_is_ended_and_named() -> None:
    assert pattern_problem(SLOW) is None
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    begun = time.monotonic()
    found = await try_patterns(["a", SLOW, "b"], "a" * SAMPLE_LIMIT, seconds=0.3)
    took = time.monotonic() - begun
    ticking.cancel()
    assert found[0] is not None
    assert found[1:] == (None,), "the one that took too long is the last of the answer"
    assert took < 10, "a few seconds to start a process on a busy machine, never for ever"
    assert ticks > 5, "everything else went on meanwhile"


async def test_a_cancelled_trial_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def starting(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        begun.append(await start(*command, **options))
        return begun[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", starting)
    trial = asyncio.create_task(try_patterns([SLOW], "a" * SAMPLE_LIMIT, seconds=60))
    while not begun:  # noqa: ASYNC110 - the other task tells nobody
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    (process,) = begun
    assert process.returncode == -signal.SIGKILL


async def test_only_the_beginning_of_a_long_sample_is_tried() -> None:
    (found,) = await try_patterns(["b"], "a" * SAMPLE_LIMIT + "b")
    assert found == ()


async def test_a_lone_surrogate_is_a_character_like_others() -> None:
    (found,) = await try_patterns(["\ud800"], "a\ud800")
    assert found == ((1, 2),)


async def test_no_process_is_an_os_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(OSError, match="nowhere"):
        await try_patterns(["a"], "a")


def test_the_process_needs_nothing_but_python() -> None:
    text = Path(pattern_sandbox_child.__file__).read_text()
    assert "gwtui" not in text
