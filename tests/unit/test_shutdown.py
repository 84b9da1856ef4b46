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
    done: list[object] = []
    monkeypatch.setattr(shutdown, "PATIENCE", 0.05)
    monkeypatch.setattr(os, "_exit", done.append)
    yield done
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)


async def test_a_signal_is_a_demand_that_is_made_once(ended: list[object]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    left: list[int] = []
    it = Shutdown(left.append, lambda: ended.append("given back"))
    it.watch(terminal=False)
    try:
        assert it.status is None
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        await asyncio.sleep(0.2)
    finally:
        it.unwatch()
    assert left == [143]
    assert it.status == 143
    assert ended == ["given back", 143], "the process was still there"
    assert signal.getsignal(signal.SIGTERM) is before


async def test_a_terminal_that_cannot_be_given_back_ends_it_all_the_same(
    ended: list[object],
) -> None:
    def broken() -> None:
        raise OSError("no terminal")

    it = Shutdown(lambda _: None, broken)
    it.watch(terminal=False)
    it.demand(129)
    it.unwatch()
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

    it = Shutdown(lambda _: None, lambda: ended.append("given back"), write_down)
    it.watch(terminal=False)
    it.demand(143)
    it.unwatch()
    await asyncio.sleep(0.3)
    stalled.set()
    assert ended == ["written down", "given back", 143]


async def test_nothing_is_demanded_after_the_watch(ended: list[object]) -> None:
    left: list[int] = []
    it = Shutdown(left.append, lambda: None)
    it.demand(143)
    it.watch(terminal=False)
    it.unwatch()
    it.demand(143)
    await asyncio.sleep(0.1)
    it.finish()
    assert (left, it.status, ended) == ([], None, [])


def test_the_very_end_is_quick_only_when_it_was_demanded(ended: list[object]) -> None:
    it = Shutdown(lambda _: None, lambda: None)
    it.finish()
    assert ended == []
    it.status = 129
    it.finish()
    assert ended == [129]


async def test_an_expected_end_is_demanded_unless_it_is_taken_back(ended: list[object]) -> None:
    left: list[int] = []
    it = Shutdown(left.append, lambda: ended.append("given back"))
    it.watch(terminal=False)
    it.expect_end(0.05)
    it.expect_nothing()
    await asyncio.sleep(0.2)
    assert (left, ended) == ([], []), "the key was handled"
    it.expect_end(5)
    it.expect_end(0.05)
    await asyncio.sleep(0.3)
    assert left == [0]
    assert ended == ["given back", 0], "something could not be closed"
    it.unwatch()


async def test_no_end_is_expected_once_everything_is_closed(ended: list[object]) -> None:
    it = Shutdown(ended.append, lambda: None)
    it.watch(terminal=False)
    it.expect_end(0.05)
    it.unwatch()
    await asyncio.sleep(0.2)
    assert ended == []
