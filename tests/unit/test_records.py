"""Data classes whose methods are written late are what those of the standard library are."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import InitVar, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from gwtui import records

T = TypeVar("T")
Decorator = Callable[..., Any]
BOTH = pytest.mark.parametrize(
    "dataclass", [records.dataclass, dataclasses.dataclass], ids=["late", "standard"]
)


@records.dataclass(frozen=True, slots=True)
class Kept:
    """By the name of the module, as pickle wants it."""

    a: int
    b: list[int] = field(default_factory=list)


def outcome(attempt: Callable[[], object]) -> object:
    """What comes of it, errors by kind and text."""
    try:
        return attempt()
    except Exception as error:
        return type(error).__name__, str(error)


def shapes(dataclass: Decorator) -> dict[str, Any]:
    @dataclass(frozen=True, slots=True)
    class Frozen:
        """Every kind of default."""

        kind: ClassVar[str] = "x"
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: int = field(default=4, init=False)
        e: int = field(default=5, compare=False)
        f: int = field(default=6, repr=False, kw_only=True)

    @dataclass(slots=True, weakref_slot=True)
    class Plain:
        """One that changes."""

        a: int
        c: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Generic[T]):
        """By name alone, checked."""

        b: str = "b"
        a: T

        def __post_init__(self) -> None:
            object.__setattr__(self, "b", self.b * 2)
            if self.a == 0:
                raise ValueError("zero")

    @dataclass(frozen=True)
    class Open:
        """Has room for what is remembered."""

        a: int = 1

        @cached_property
        def twice(self) -> int:
            """Computed once."""
            return self.a * 2

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        """Equal to itself alone."""

        a: int = 1

    @dataclass(slots=True)
    class Own:
        """With methods of its own."""

        a: int = 1

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 1

    @dataclass(frozen=True)
    class Below(Open):
        """Inherits fields."""

        z: int = 26

    class Loose(Open):
        """No data class itself."""

    @dataclass
    class Handed:
        """Takes what it does not keep."""

        a: InitVar[int]
        b: int = 0

        def __post_init__(self, a: int) -> None:
            self.b = a

    @dataclass(order=True)
    class Ordered:
        """Has an order."""

        a: int

    found = (Frozen, Plain, Named, Open, Same, Own, Below, Loose, Handed, Ordered)
    return {one.__name__: one for one in found}


def told(dataclass: Decorator) -> dict[str, object]:
    """Everything that anybody can ask of these classes."""
    frozen, plain, named, opened, same, own, below, loose, handed, ordered = shapes(
        dataclass
    ).values()
    one, other = frozen(1, c=[2], f=9), frozen(1, "b", [2])
    changed = plain(1)
    changed.a = 7
    free = loose(3)
    free.more = 1
    return {
        "shown": repr((one, other, changed, named(a=1), own(), below(1), handed(3), ordered(2))),
        "equal": (one == other, one == copy.copy(one), plain(1) == plain(1), same() == same()),
        "less": (ordered(1) < ordered(2), one == 1, one != 1),
        "not shared": frozen(1).c is frozen(1).c,
        "hashes": [outcome(lambda made=made: hash(made)) == 1 for made in (own(), opened())],
        "alike": hash(opened(2)) == hash(opened(2)),
        "no hash": outcome(lambda: hash(plain(1))),
        "frozen": outcome(lambda: setattr(one, "a", 2)),
        "frozen below": outcome(lambda: setattr(below(), "z", 2)),
        "frozen loose": outcome(lambda: setattr(free, "a", 2)),
        "loose": free.more,
        "kept": outcome(lambda: delattr(one, "a")),
        "no room": outcome(lambda: setattr(changed, "zzz", 2)),
        "missing": outcome(frozen),
        "too many": outcome(lambda: plain(1, 2, 3)),
        "by name": outcome(lambda: named(1)),
        "unknown": outcome(lambda: opened(x=1)),
        "checked": outcome(lambda: named(a=0)),
        "remembered": opened(4).twice,
        "replaced": repr(dataclasses.replace(one, b="z")),
        "dict": dataclasses.asdict(one),
        "deep": repr(copy.deepcopy(one)),
        "fields": [(f.name, f.type, f.kw_only, f.init) for f in dataclasses.fields(frozen)],
        "params": repr(frozen.__dataclass_params__),
        "matched": (frozen.__match_args__, frozen.__slots__),
        "class value": frozen.kind,
    }


def test_it_is_what_the_standard_library_makes() -> None:
    late, standard = told(records.dataclass), told(dataclasses.dataclass)
    for name in ("shown", "replaced", "deep"):
        late[name] = str(late[name]).replace("shapes.<locals>.", "")
        standard[name] = str(standard[name]).replace("shapes.<locals>.", "")
    assert late == standard


def test_its_signature_is_known_once_it_was_made() -> None:
    late, standard = (shapes(one)["Frozen"] for one in (records.dataclass, dataclasses.dataclass))
    late(1)
    assert list(inspect.signature(late).parameters) == list(inspect.signature(standard).parameters)


def test_it_is_pickled_and_comes_back() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, [2]))) == Kept(1, [2])  # noqa: S301 - just made


def test_nothing_is_compiled_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(
        dataclasses, "_create_fn", lambda name, *_rest, **_more: compiled.append(name)
    )

    @records.dataclass(frozen=True, slots=True)
    class Unused:
        """Loaded, and never made."""

        a: int

    assert dataclasses.fields(Unused)
    assert compiled == []


def test_many_threads_may_make_the_first_one() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Shared:
        """Made by all at once."""

        a: int

    start = threading.Barrier(8)
    made: list[Shared] = []

    def make() -> None:
        start.wait()
        made.append(Shared(1))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [Shared(1)] * 8
