"""Unreachable objects are collected soon, seldom enough, and rather while nobody types."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from gwtui.ui.garbage import Garbage


@dataclass
class Collector:
    """Stands in for the interpreter's collector."""

    rounds: int = 0
    """Collections of the newest objects since the last one of more."""
    rounds_before: int = 0
    living: int = 400_000
    """Blocks of memory in use."""
    cost: float = 0.05
    now: float = 1_000.0
    computed: float = 0.0
    done: int = 0
    young: int = 0
    """Collections of what is new since the last one."""
    frozen: int = 0
    threshold: tuple[int, ...] = (700, 10, 10)

    def set_threshold(self, *counts: int) -> None:
        self.threshold = counts

    def collect(self, generation: int = 2) -> int:
        self.rounds_before += self.rounds
        self.rounds = 0
        if generation < 2:
            self.young += 1
        else:
            self.done += 1
            self.computed += self.cost
        return 0

    def get_stats(self) -> list[dict[str, int]]:
        return [{"collections": self.rounds_before + self.rounds}]

    def freeze(self) -> None:
        self.frozen += 1

    def unfreeze(self) -> None:
        self.frozen -= 1


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    stand_in = Collector()
    monkeypatch.setattr(gc, "collect", stand_in.collect)
    monkeypatch.setattr(gc, "freeze", stand_in.freeze)
    monkeypatch.setattr(gc, "unfreeze", stand_in.unfreeze)
    monkeypatch.setattr(gc, "set_threshold", stand_in.set_threshold)
    monkeypatch.setattr(gc, "get_threshold", lambda: stand_in.threshold)
    monkeypatch.setattr(gc, "get_objects", never_listed)
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: stand_in.living)
    monkeypatch.setattr(gc, "get_stats", stand_in.get_stats)
    return stand_in


def never_listed(_generation: int | None = None) -> list[object]:
    raise AssertionError("a tuple that another thread is building could not be finished")


def garbage_of(collector: Collector) -> Garbage:
    made = Garbage(lambda: collector.now, lambda: collector.computed)
    made.begin()
    made.touched()
    return made


def test_nothing_is_collected_before_it_begins(collector: Collector) -> None:
    collector.rounds = 100
    assert not Garbage(lambda: collector.now).tick()
    assert collector.done == 0


@pytest.mark.parametrize("first", [Garbage.settle, Garbage.tick])
def test_nothing_is_collected_while_a_session_loads(
    first: Callable[[Garbage], object], collector: Collector
) -> None:
    garbage = garbage_of(collector)
    assert collector.threshold[0] == 1_000_000
    first(garbage)
    assert collector.threshold[:2] == (10_000, 4), "what is new is looked at in small parts"


def test_what_a_session_has_loaded_is_not_looked_at_again(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def collect(generation: int = 2) -> int:
        seen.append(collector.frozen)
        return generation

    monkeypatch.setattr(gc, "collect", collect)
    Garbage(lambda: collector.now).settle()
    assert (seen, collector.frozen) == ([], 0), "it has not begun"
    garbage = garbage_of(collector)
    garbage.settle()
    assert (seen, collector.frozen) == ([1], 2), "what was loaded before is spared already"
    garbage.settle()
    assert (seen, collector.frozen) == ([1, 1], 2), "what is left of another session is not"


def test_a_few_new_objects_wait_for_a_rest_many_do_not(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.rounds = 1
    assert not garbage.tick()
    collector.now += 2
    assert garbage.tick()
    garbage.touched()
    collector.rounds = 3
    collector.now += 10
    garbage.touched()
    assert garbage.tick()


def test_what_was_closed_meanwhile_is_collected_while_somebody_types(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.rounds = 1
    assert not garbage.tick(dialog=True)
    assert collector.young == 0, "an open one would be old before it is closed"
    assert not garbage.tick()
    assert (collector.young, collector.done) == (1, 0)
    assert not garbage.tick()
    assert collector.young == 1, "nothing is new"
    collector.rounds = 2
    assert garbage.tick(), "together they are many"


def test_without_new_objects_there_is_nothing_to_do(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.now += 3_600
    assert not garbage.tick()


def test_memory_is_not_counted_where_nothing_is_new(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    garbage = garbage_of(collector)
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: pytest.fail("it takes a while"))
    for _ in range(100):
        collector.now += 1
        assert not garbage.tick()


def test_what_takes_long_is_done_seldom(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.cost = 0.1
    for _ in range(60):
        collector.rounds = 50
        collector.now += 1
        garbage.tick()
    assert 10 <= collector.done <= 20
    assert collector.computed <= 60 * 0.04


def test_the_rows_of_a_large_account_are_not_looked_at(collector: Collector) -> None:
    garbage = garbage_of(collector)
    begun = collector.frozen

    def tick(*, living: int, dialog: bool = False) -> None:
        collector.now += 25
        collector.rounds, collector.living = 50, living
        garbage.touched()
        assert garbage.tick(dialog=dialog)

    collector.cost = 1.0
    tick(living=600_000)
    assert (collector.done, collector.frozen) == (1, begun), "a busy machine makes none large"
    collector.cost = 0.01
    tick(living=1_400_000, dialog=True)
    assert (collector.done, collector.young) == (1, 1), "too many are new to look at all"
    assert collector.frozen == begun, "the objects of an open dialog will be garbage"
    tick(living=1_400_000)
    assert (collector.done, collector.young, collector.frozen) == (1, 2, begun + 1)
    tick(living=1_460_000)
    assert (collector.done, collector.frozen) == (2, begun + 1), "what came since is looked at"
    collector.cost = 0.03
    tick(living=1_520_000)
    assert (collector.done, collector.frozen) == (3, begun + 2), "before it takes too long"
    collector.now += 120
    assert not garbage.tick()
    collector.now += 600
    assert garbage.tick(), "nobody is there: what was spared is looked at, too"
    assert collector.done == 4
    assert collector.frozen == begun + 2, "and spared again: the account is as large as before"


@pytest.mark.parametrize("busy", [1, 2])
def test_no_garbage_is_spared_where_memory_grows_slowly(busy: int, collector: Collector) -> None:
    garbage = garbage_of(collector)
    begun = collector.frozen
    collector.cost = 0.03 * busy
    for step, living in enumerate(range(500_000, 850_000, 25_000), 1):
        collector.now += 40
        collector.rounds, collector.living = 50, living
        garbage.touched()
        assert garbage.tick()
        assert (collector.done, collector.young) == (step, 0), "everything is looked at"
    assert collector.frozen == begun, "screens grow like this, and leave rings behind"


def test_rows_that_replace_others_are_spared_once_they_take_too_long(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.rounds, collector.living, collector.cost = 50, 1_400_000, 0.01
    assert garbage.tick(), "the rows of a large account"
    begun, looks = collector.frozen, collector.done
    for cost, spared in ((0.03, 0), (0.04, 1)):
        collector.cost = cost
        collector.now, collector.rounds = collector.now + 40, 50
        garbage.touched()
        assert garbage.tick()
        assert collector.frozen == begun + spared
    assert collector.done == looks + 2, "each time after a look at all of them"


def test_a_flood_of_rows_is_not_waited_for(collector: Collector) -> None:
    garbage = garbage_of(collector)
    collector.rounds, collector.living, collector.cost = 50, 700_000, 0.2
    for step in range(4):
        collector.living += 100_000
        collector.rounds, collector.now = 10, collector.now + 1
        garbage.touched()
        assert garbage.tick()
        assert (collector.done, collector.young) == (0, step + 1), "in small parts, each at once"


def test_a_large_account_that_was_left_is_collected_once_nobody_is_there(
    collector: Collector,
) -> None:
    garbage = garbage_of(collector)
    garbage.settle()
    done, young = collector.done, collector.young
    collector.living = 1_400_000
    garbage.settle()
    assert (collector.done, collector.young) == (done, young + 1)
    collector.now += 601
    assert garbage.tick()
    assert collector.done == done + 1


def test_the_rows_of_the_next_account_are_not_looked_at_either(collector: Collector) -> None:
    garbage = garbage_of(collector)
    garbage.settle()
    collector.living = 1_000_000
    garbage.settle()
    collector.now, collector.rounds, collector.living = collector.now + 40, 50, 700_000
    garbage.touched()
    assert garbage.tick(), "the rows of the first account are freed by and by"
    looks = collector.done
    collector.now, collector.rounds, collector.living = collector.now + 40, 50, 900_000
    garbage.touched()
    assert garbage.tick()
    assert collector.done == looks, "too many are new to look at all"
