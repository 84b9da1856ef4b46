"""Requested shutdown: once, in the event loop, and by force after a timeout."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from gwtui.ui.terminal import shutdown
from gwtui.ui.terminal.shutdown import Shutdown


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """The steps of a forced end, in order."""
    steps: list[object] = []
    monkeypatch.setattr(shutdown, "PATIENCE", 0.05)
    monkeypatch.setattr(os, "_exit", steps.append)
    yield steps
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)


async def test_repeated_signals_request_shutdown_once(ended: list[object]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    statuses: list[int] = []
    end = Shutdown(statuses.append, lambda: ended.append("given back"))
    end.watch(terminal=False)
    try:
        assert end.status is None
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        await asyncio.sleep(0.2)
    finally:
        end.unwatch()
    assert statuses == [143]
    assert end.status == 143
    assert ended == ["given back", 143], "the process is forced to exit"
    assert signal.getsignal(signal.SIGTERM) is before


async def test_a_terminal_that_cannot_be_restored_does_not_block_exit(
    ended: list[object],
) -> None:
    def broken() -> None:
        raise OSError("no terminal")

    end = Shutdown(lambda _: None, broken)
    end.watch(terminal=False)
    end.request_exit(129)
    end.unwatch()
    await asyncio.sleep(0.2)
    assert ended == [129]


async def test_known_outcomes_are_recorded_before_the_end(
    ended: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "_LAST_WORDS", 0.05)
    stalled = threading.Event()

    def write_down() -> None:
        ended.append("written down")
        stalled.wait(5)

    end = Shutdown(lambda _: None, lambda: ended.append("given back"), write_down)
    end.watch(terminal=False)
    end.request_exit(143)
    end.unwatch()
    await asyncio.sleep(0.3)
    stalled.set()
    assert ended == ["written down", "given back", 143]


async def test_requests_outside_the_watch_are_ignored(ended: list[object]) -> None:
    statuses: list[int] = []
    end = Shutdown(statuses.append, lambda: None)
    end.request_exit(143)
    end.watch(terminal=False)
    end.unwatch()
    end.request_exit(143)
    await asyncio.sleep(0.1)
    end.finish()
    assert (statuses, end.status, ended) == ([], None, [])


def test_finish_exits_only_after_a_request(ended: list[object]) -> None:
    end = Shutdown(lambda _: None, lambda: None)
    end.finish()
    assert ended == []
    end.status = 129
    end.finish()
    assert ended == [129]


async def test_an_expected_exit_is_forced_unless_cancelled(ended: list[object]) -> None:
    statuses: list[int] = []
    end = Shutdown(statuses.append, lambda: ended.append("given back"))
    end.watch(terminal=False)
    end.set_deadline(0.05)
    end.clear_deadline()
    await asyncio.sleep(0.2)
    assert (statuses, ended) == ([], []), "the key was handled in time"
    end.set_deadline(5)
    end.set_deadline(0.05)
    await asyncio.sleep(0.3)
    assert statuses == [0]
    assert ended == ["given back", 0], "exit is forced if something cannot be closed"
    end.unwatch()


async def test_unwatch_cancels_an_expected_exit(ended: list[object]) -> None:
    end = Shutdown(ended.append, lambda: None)
    end.watch(terminal=False)
    end.set_deadline(0.05)
    end.unwatch()
    await asyncio.sleep(0.2)
    assert ended == []
