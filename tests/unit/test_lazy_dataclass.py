"""A dataclass behaves as one of the standard library, and compiles only what is called."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, Generic, TypeVar

import pytest

from gwtui.lazy_dataclass import dataclass

T = TypeVar("T")
Decorator = Callable[..., Any]
BOTH = pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass])

OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True, "eq": False},
    {"slots": True, "eq": False},
    {"slots": True, "unsafe_hash": True},
    {"slots": True, "weakref_slot": True},
    {"frozen": True, "kw_only": True},
]


def family(decorator: Decorator, options: dict[str, bool]) -> tuple[type[Any], type[Any]]:
    """A class with every kind of field, and one that inherits from it."""

    @decorator(**options)
    class Plain:
        name: str
        hidden: str = field(repr=False, compare=False, default="h")
        count: int = 3
        items: list[int] = field(default_factory=list, hash=False)
        total: int = field(init=False, default=7)
        made: list[str] = field(init=False, default_factory=lambda: ["made"], hash=False)
        late: int = field(kw_only=True, default=1)

        def __post_init__(self) -> None:
            object.__setattr__(self, "count", self.count + 1)

    @decorator(**options)
    class Child(Plain):
        name: str = "child"
        set_name: str = "a field that is called so"

    return Plain, Child


def outcome(act: Callable[[], Any]) -> Any:
    """What it gives, or the kind of error and, where it is told to somebody, its words."""
    try:
        return act()
    except FrozenInstanceError as error:
        return type(error), str(error)
    except (TypeError, AttributeError) as error:
        return type(error)


def behaviour(kind: type[Any]) -> list[Any]:
    """Everything that can be seen of a class with ``family``'s fields."""

    def one(**changes: Any) -> Any:
        return kind(**{"name": "n", **changes})

    def set_count(value: Any) -> Any:
        value.count = 9
        return value.count

    def delete(value: Any) -> None:
        del value.count

    acts: list[Callable[[], Any]] = [
        lambda: repr(one()),
        lambda: repr(one(items=[1], late=5, hidden="x")),
        lambda: repr(kind("n", "x", 4, [2])),
        lambda: repr(kind("n", "x", 4, [2], 8)),
        lambda: repr(kind()),
        lambda: one(unknown=1),
        lambda: one(total=1),
        lambda: one() == one(),
        lambda: one() == one(hidden="other"),
        lambda: one() == one(count=8),
        lambda: one() == one(late=8),
        lambda: one() == "n",
        lambda: one().items is one().items,
        lambda: hash(one()) == hash(one(items=[1], hidden="x")),
        lambda: hash(one()) == hash(one(count=8)),
        lambda: set_count(one()),
        lambda: delete(one()),
        lambda: repr(dataclasses.replace(one(), count=5)),
        lambda: dataclasses.asdict(one(items=[1])),
        lambda: [(each.name, each.kw_only, each.repr) for each in dataclasses.fields(kind)],
        lambda: kind.__match_args__,
        lambda: getattr(kind, "__slots__", None),
        lambda: repr(copy.deepcopy(one(count=5))),
        lambda: one().made,
    ]
    return [outcome(act) for act in acts]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_kind_behaves_as_the_standard_one(options: dict[str, bool]) -> None:
    ours = family(dataclass, options)
    theirs = family(dataclasses.dataclass, options)
    for own, other in zip(ours, theirs, strict=True):
        # Twice: methods that were made meanwhile do the same.
        found = [behaviour(own), behaviour(own), behaviour(other)]
        text = [str(one).replace("family.<locals>.", "") for one in found]
        assert text[0] == text[1] == text[2]
    assert outcome(lambda: ours[0](name="n") == ours[1](name="n")) is False


@BOTH
def test_what_a_class_writes_itself_stays(decorator: Decorator) -> None:
    @decorator(frozen=True, slots=True)
    class Own:
        one: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), Own(1) == 3, hash(Own(1))) == ("own", True, 5)


def test_one_kind_of_thing_is_generic_and_matched() -> None:
    @dataclass(frozen=True, slots=True)
    class Box(Generic[T]):
        content: T

    # Python's own frozen ones with slots cannot be called with a type in brackets.
    match Box[int](4):
        case Box(content):
            assert content == 4
    assert Box(4) == Box[int](4)


@dataclass(frozen=True, slots=True)
class Sent:
    """One that can be found by its name, as pickling asks."""

    number: int
    words: tuple[str, ...] = ()


def test_a_frozen_one_is_pickled() -> None:
    sent = Sent(1, ("a",))
    assert pickle.loads(pickle.dumps(sent)) == sent  # noqa: S301 - made here
    assert copy.copy(sent) == sent


def test_methods_are_made_when_they_are_called() -> None:
    @dataclass(frozen=True, slots=True)
    class Seldom:
        one: int

    before = vars(Seldom)["__init__"], vars(Seldom)["__repr__"], vars(Seldom)["__hash__"]
    seldom = Seldom(1)
    assert vars(Seldom)["__init__"] is not before[0]
    assert (vars(Seldom)["__repr__"], vars(Seldom)["__hash__"]) == before[1:]
    assert repr(seldom).endswith("Seldom(one=1)")
    made = vars(Seldom)["__repr__"]
    assert made is not before[1]
    repr(seldom)
    assert vars(Seldom)["__repr__"] is made
