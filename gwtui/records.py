"""``dataclass``, whose methods are written when they are first used.

The standard library writes the source of up to six methods for each data class and compiles it,
half a millisecond a class, whether anybody makes one or not: of what a start loads before its first
rows, a sixth of the time. Here a class gets a stand-in for each method, which writes the real one
when it is called and gives it its place. What a class is and does is the same.

It is for modules that are loaded before the first rows; elsewhere either will do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from inspect import get_annotations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """As ``dataclasses.dataclass``, with its options."""
        if cls is None:
            return lambda found: _deferred(found, options)
        return _deferred(cls, options)


__all__ = ("dataclass",)

_OPTIONS = frozenset({"frozen", "slots", "eq", "kw_only", "weakref_slot"})
"""Classes with others are left to the standard library, as are those that inherit fields."""


def _deferred(cls: type, options: dict[str, bool]) -> type:
    inherits = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
    takes_more = any("InitVar" in str(kind) for kind in get_annotations(cls).values())
    if inherits or takes_more or not _OPTIONS.issuperset(options):
        return dataclasses.dataclass(**options)(cls)
    frozen, compares = options.get("frozen", False), options.get("eq", True)
    written = cls.__dict__.keys() & {"__init__", "__repr__", "__eq__", "__hash__"}
    # Else the standard library makes a text of the signature, which loads and compiles much.
    cls.__doc__ = cls.__doc__ or f"{cls.__name__}, a data class."
    # What cannot wait are the fields and the slots.
    now = {name: given for name, given in options.items() if name not in {"frozen", "eq"}}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **now)(cls)
    known = made.__dataclass_params__  # a data class that inherits from this one asks it
    known.init, known.repr, known.eq, known.frozen = True, True, compares, frozen
    later = {"__init__", "__repr__"}
    if compares:
        later |= {"__eq__", "__hash__"} if frozen else {"__eq__"}
    for name in later - written:
        setattr(made, name, _stand_in(made, name))
    if compares and not frozen and "__hash__" not in written:
        made.__hash__ = None
    if frozen:
        made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
        if options.get("slots"):
            made.__getstate__, made.__setstate__ = _state, _restore
    return made  # type: ignore[no-any-return]


def _stand_in(cls: type, name: str) -> Callable[..., Any]:
    def method(self: Any, *values: Any, **named: Any) -> Any:
        real = _init_of(cls) if name == "__init__" else _standard(cls, name)
        real.__qualname__, real.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, real)
        return real(self, *values, **named)

    method.__name__, method.__module__ = name, cls.__module__
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _init_of(cls: Any) -> Callable[..., Any]:
    """``__init__``, in a third of the time of the standard library's.

    That one cannot write it for a frozen class without the methods that refuse to set a field.
    """
    frozen = cls.__dataclass_params__.frozen
    places: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    for one in dataclasses.fields(cls):
        name, value, usual = one.name, one.name, ""
        if one.default_factory is not MISSING:
            names[f"_make_{name}"], usual = one.default_factory, "=_missing"
            value = f"_make_{name}()" + (f" if {name} is _missing else {name}" if one.init else "")
        elif one.default is not MISSING:
            names[f"_usual_{name}"], usual = one.default, f"=_usual_{name}"
            value = name if one.init else f"_usual_{name}"
        if one.init:
            (by_name if one.kw_only else places).append(name + usual)
        elif not usual:
            continue
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    if by_name:
        by_name.insert(0, "*")
    head = f"def __init__({', '.join(['self', *places, *by_name])}):"
    exec("\n".join([head, *(lines or [" pass"])]), names)  # noqa: S102 - of names of fields
    method: Callable[..., Any] = names["__init__"]
    return method


def _standard(cls: Any, name: str) -> Callable[..., Any]:
    """A method as the standard library writes it, taken from a class of the same fields."""
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {one.name: one for one in fields}
    body["__annotations__"] = {one.name: one.type for one in fields}
    body |= {"__module__": cls.__module__, "__doc__": cls.__doc__}
    twin: Any = dataclasses.dataclass(
        init=False,
        repr=name == "__repr__",
        eq=name == "__eq__",
        unsafe_hash=name == "__hash__",
        match_args=False,
    )(type(cls.__name__, (), body))
    method: Callable[..., Any] = twin.__dict__[name]
    return method


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    """A frozen class has no field set; a plain class that inherits from it may have others."""
    if "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    """What a frozen class with slots is copied by: its fields cannot be set one by one."""
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
